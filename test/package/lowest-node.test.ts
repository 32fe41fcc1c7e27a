import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { cacheDir, installOnce } from '../compatibility/cache.ts'
import { runOrThrow } from '../compatibility/child-process.ts'
import { freePorts } from '../compatibility/free-port.ts'

const root = resolve(import.meta.dirname, '../..')
/** What `engines` of the packages promises. */
const lowest = '22.15.0'

/** No types, no `await using`: what that Node itself can run. */
const program = `
import { createClient } from 'millrace'
import { startBroker } from 'millrace/testing'

const broker = await startBroker({ topics: { orders: 1 } })
const client = createClient({ bootstrapServers: broker.bootstrapServers })
for (const compression of ['none', 'gzip', 'snappy', 'lz4', 'zstd']) {
  const producer = client.producer({ compression })
  await producer.send({ topic: 'orders', key: 'o1', value: compression })
  await producer.close()
}
const consumer = client.consumer({ groupId: 'billing', offsetReset: 'earliest' })
consumer.subscribe(['orders'])
const values = []
while (values.length < 5) {
  for (const batch of await consumer.poll()) for (const record of batch) values.push(record.value.toString())
}
await consumer.close()
await client.close()
await broker.close()
console.log(process.version, values.join(' '))
`

let project: string
let node: string
before(async () => {
  node = await nodeOf(lowest)
  project = await mkdtemp(join(tmpdir(), 'millrace-lowest-'))
  await runOrThrow(process.execPath, [join(root, 'scripts/pack.ts'), join(project, 'packed')])
  const [tarball] = (await readdir(join(project, 'packed'))).filter(name => name.startsWith('millrace-0'))
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  await writeFile(join(project, 'program.mjs'), program)
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', `./packed/${tarball}`]
  await runOrThrow('npm', install, { cwd: project })
})
after(() => rm(project, { recursive: true, force: true }))

/** The package of npm that has this very Node, for this machine. */
async function nodeOf(version: string): Promise<string> {
  const name = `node-linux-${process.arch}`
  const dir = await installOnce(join(cacheDir(), `${name}-${version}`), async dir => {
    await runOrThrow('npm', ['install', '--no-audit', '--no-fund', '--prefix', dir, `${name}@${version}`])
  })
  const path = join(dir, 'node_modules', name, 'bin', 'node')
  assert.ok(existsSync(path), path)
  assert.equal((await runOrThrow(path, ['--version'])).trim(), `v${version}`)
  return path
}

test('the package promises the Node that is tried here', async () => {
  const manifest = JSON.parse(await readFile(join(project, 'node_modules/millrace/package.json'), 'utf8'))
  assert.equal(`${manifest.engines.node}.0`, `>=${lowest}`)
})

test('a broker and a client in one process work on the lowest Node, and nothing is on stderr', async () => {
  const child = spawn(node, ['program.mjs'], { cwd: project, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = [read(child.stdout), read(child.stderr)]
  await once(child, 'close')
  assert.deepEqual([stdout(), stderr()], [`v${lowest} none gzip snappy lz4 zstd\n`, ''])
})

test('the command starts, serves and stops on the lowest Node', async () => {
  const [port] = await freePorts(1)
  const settings = [`listeners=PLAINTEXT://127.0.0.1:${port}`, 'millrace.admin.listener=']
  const broker = command('start', ...settings.flatMap(setting => ['-o', setting]))
  try {
    await outputUntil(broker, 'Ctrl-C stops it')
    const at = ['-b', `127.0.0.1:${port}`]
    const produced = command('produce', 'orders', ...at)
    produced.stdin!.end('one\ntwo\n')
    assert.deepEqual(await once(produced, 'exit'), [0, null])
    for (const args of [[], ['--group', 'billing']]) {
      const consumed = command('consume', 'orders', '--from-beginning', '--exit', ...args, ...at)
      const stdout = read(consumed.stdout!)
      await once(consumed, 'close')
      assert.equal(stdout(), 'one\ntwo\n')
    }
    broker.kill('SIGTERM')
    assert.deepEqual(await once(broker, 'exit'), [0, null])
  } finally {
    broker.kill('SIGKILL')
  }
})

function command(...args: readonly string[]): ChildProcess {
  return spawn(node, [join(project, 'node_modules/.bin/millrace'), ...args], { cwd: project })
}

function read(stream: NodeJS.ReadableStream): () => string {
  let text = ''
  stream.setEncoding('utf8').on('data', chunk => {
    text += chunk
  })
  return () => text
}

async function outputUntil(child: ChildProcess, text: string): Promise<void> {
  let output = ''
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false })) {
    output += chunk
    if (output.includes(text)) return
  }
  assert.fail(`the process ended: ${output}`)
}
