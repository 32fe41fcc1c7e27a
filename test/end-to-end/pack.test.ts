import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { checkedOutRevision } from '../../src/io/node/checked-out-revision.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')

const program = `
import { type Client, createClient, type ProducerRecord } from 'millrace'
import { createClient as alone } from '@millrace/client'
import { startBroker } from 'millrace/testing'

const broker = await startBroker({ topics: { orders: 1 } })
const client: Client = createClient({ bootstrapServers: broker.bootstrapServers })
const records: ProducerRecord[] = [{ topic: 'orders', key: 'o1', value: 'paid' }]
for (const compression of ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const) {
  const producer = client.producer({ compression })
  await producer.sendMany(records)
  await producer.close()
}
await client.close()

const reading = alone({ bootstrapServers: broker.bootstrapServers })
const consumer = reading.consumer({ offsetReset: 'earliest' })
consumer.assign([{ topic: 'orders', partition: 0, offset: 'earliest' }])
const values: (string | undefined)[] = []
while (values.length < 5) {
  for (const batch of await consumer.poll()) for (const record of batch) values.push(record.value?.toString())
}
await consumer.close()
await reading.close()
await broker.close()
console.log(values.join(' '))
`

const compilerOptions = { strict: true, module: 'nodenext', target: 'es2024', noEmit: true, types: ['node'] }

let project: string
before(async () => {
  project = await mkdtemp(join(tmpdir(), 'millrace-project-'))
  await run(process.execPath, [join(root, 'scripts/pack.ts'), join(project, 'packed')])
  const tarballs = (await readdir(join(project, 'packed'))).map(name => `./packed/${name}`)
  assert.equal(tarballs.length, 2)
  const { devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  await writeFile(join(project, 'program.ts'), program)
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
  const types = `@types/node@${devDependencies['@types/node']}`
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...tarballs, types], { cwd: project })
})
after(() => rm(project, { recursive: true, force: true }))

test('a program that uses the packages type-checks and runs, and nothing is on stderr', async () => {
  await run(join(root, 'node_modules/.bin/tsc'), ['--project', project], { cwd: project })
  const { stdout, stderr } = await run(process.execPath, ['program.ts'], { cwd: project })
  assert.deepEqual({ stdout, stderr }, { stdout: 'paid paid paid paid paid\n', stderr: '' })
})

test('npx millrace start runs a broker until it is told to stop', async () => {
  const [port, controllerPort] = [await freePort(), await freePort()]
  const settings = [
    `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    `controller.quorum.bootstrap.servers=127.0.0.1:${controllerPort}`,
    'millrace.admin.listener=',
  ]
  const flags = settings.flatMap(setting => ['-o', setting])
  const broker = spawn('npx', ['--no', 'millrace', 'start', ...flags], { cwd: project })
  try {
    const banner = await outputUntil(broker, 'Ctrl-C stops it')
    assert.match(banner, /Millrace.* is ready.*^ {2}npx millrace topic create orders --partitions 3 -b /ms)
    const at = ['-b', `127.0.0.1:${port}`]
    await run('npx', ['--no', 'millrace', 'topic', 'create', 'orders', ...at], { cwd: project })
    const { stdout } = await run('npx', ['--no', 'millrace', 'topic', 'list', '--json', ...at], { cwd: project })
    assert.deepEqual(
      JSON.parse(stdout).map((topic: { name: string }) => topic.name),
      ['orders'],
    )
  } finally {
    broker.kill('SIGTERM')
    // Open until npx and the broker have gone, both.
    await once(broker.stdout.resume(), 'end')
  }
})

test('the thread of compaction is found where the package is installed', async () => {
  const thread = join(project, 'node_modules/millrace/dist/io/node/compaction-thread.js')
  const text = `
    const { CompactionThread } = await import(${JSON.stringify(pathToFileURL(thread).href)})
    const batches = Buffer.allocUnsafeSlow(100).fill(0)
    console.log(await new CompactionThread().run({ type: 'indexKeys', map: new SharedArrayBuffer(100), batches }))`
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', text])
  assert.match(stdout, /type: 'failed',\s+reason: 'AssertionFailure: a map has been made with room/)
  assert.equal(stderr, '')
})

test('the packages hold what is published, and no Node', async () => {
  const manifest = JSON.parse(await readFile(join(project, 'node_modules/millrace/package.json'), 'utf8'))
  assert.equal(manifest.private, undefined)
  // Not of sources that were changed since.
  assert.equal(manifest.gitHead ?? checkedOutRevision(root), checkedOutRevision(root))
  assert.equal(manifest.engines.node, '>=22.15')
  assert.deepEqual(
    [...Object.keys(manifest.dependencies), ...Object.keys(manifest.optionalDependencies ?? {})].filter(name =>
      name.startsWith('node-linux'),
    ),
    [],
  )
  for (const name of ['millrace', '@millrace/client']) {
    const files = await readdir(join(project, 'node_modules', name), { recursive: true })
    for (const needed of ['LICENSE', 'README.md', 'dist/client/index.js', 'dist/client/index.d.ts'])
      assert.ok(files.includes(needed), `${name} lacks ${needed}`)
    assert.deepEqual(
      files.filter(file => /\.test\.|(?<!\.d)\.ts$/.test(file)),
      [],
    )
  }
  const client = JSON.parse(await readFile(join(project, 'node_modules/@millrace/client/package.json'), 'utf8'))
  assert.deepEqual(Object.keys(client.dependencies), ['@node-rs/crc32', 'lz4-napi', 'snappy'])
})

async function outputUntil(child: ChildProcess, text: string): Promise<string> {
  let output = ''
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false })) {
    output += chunk
    if (output.includes(text)) return output
  }
  assert.fail(`the process ended: ${output}`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
