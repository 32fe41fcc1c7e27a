import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, mkdirSync, openSync, writeSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { Patience } from '../compatibility/patience.ts'

const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts')
const patienceMs = 30_000

interface Started {
  readonly directory: string
  readonly child: ChildProcess
  readonly port: number
}

interface StopOptions {
  readonly settings?: readonly string[]
  /** A descriptor in the place of the pipes that are read. */
  readonly output?: number
}

/** Starts the command, lets `meanwhile` happen, and stops it. */
async function stopped(meanwhile: (started: Started) => Promise<unknown>, { settings = [], output }: StopOptions = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-stop-'))
  const port = await freePort()
  const all = [
    `log.dirs=${directory}`,
    `listeners=PLAINTEXT://127.0.0.1:${port}`,
    'millrace.admin.listener=',
    ...settings,
  ]
  const child = spawn(process.execPath, [main, 'start', ...all.flatMap(setting => ['--override', setting])], {
    stdio: ['ignore', output ?? 'pipe', output ?? 'pipe'],
  })
  try {
    const stderr = child.stderr === null ? '' : text(child.stderr).catch(() => '')
    child.stdout?.resume()
    await untilServed(port)
    await meanwhile({ directory, child, port })
    child.kill('SIGTERM')
    const [code] = await once(child, 'exit')
    return { code, stderr: await stderr, files: await readdir(directory).catch((): string[] => []) }
  } finally {
    child.kill('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  }
}

/** Resolves when the broker answers; nothing but its port says so to those who cannot read its words. */
async function untilServed(port: number): Promise<void> {
  const apiVersions = Buffer.from('0000000c00120000000000010002' + '6161', 'hex')
  using patience = new Patience(patienceMs)
  while (!patience.isOver) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(apiVersions)
    const isServed = await new Promise(resolve => {
      socket.once('data', () => resolve(true)).once('close', () => resolve(false))
    })
    socket.destroy()
    if (isServed) return
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  throw new Error('the broker does not start')
}

/** Has the broker say something, since it tells who sends it nonsense, and then answer. */
async function goesOn({ port }: Started): Promise<void> {
  for (let lines = 0; lines < 3; lines++) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write('GET / HTTP/1.1\r\n\r\n')
    await once(socket, 'close')
  }
  await untilServed(port)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

test('a broker that could put all in order exits with 0', async () => {
  const { code, stderr } = await stopped(async () => {})
  assert.deepEqual([code, stderr.includes('put in order')], [0, false])
})

for (const format of ['text', 'json']) {
  test(`a broker whose words (${format}) nobody reads any more goes on, and stops in good order`, async () => {
    const meanwhile = (started: Started) => {
      started.child.stdout?.destroy()
      started.child.stderr?.destroy()
      return goesOn(started)
    }
    const { code, files } = await stopped(meanwhile, { settings: [`millrace.log.format=${format}`] })
    assert.deepEqual([code, files.includes('.kafka_cleanshutdown')], [0, true])
  })
}

for (const format of ['text', 'json']) {
  test(`a broker whose words (${format}) nobody reads, so that the pipe is full, goes on, and stops in good order`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'millrace-pipe-'))
    const path = join(directory, 'pipe')
    execFileSync('mkfifo', [path])
    const full = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
    const output = openSync(path, constants.O_WRONLY)
    try {
      assert.throws(() => {
        for (;;) writeSync(full, 'x')
      }, /EAGAIN/)
      const options = { output, settings: [`millrace.log.format=${format}`] }
      const { code, files } = await stopped(goesOn, options)
      assert.deepEqual([code, files.includes('.kafka_cleanshutdown')], [0, true])
    } finally {
      closeSync(output)
      closeSync(full)
      await rm(directory, { recursive: true })
    }
  })
}

test('a broker whose words a full disk does not take goes on, and stops in good order', async () => {
  const output = openSync('/dev/full', 'w')
  const { code, files } = await stopped(goesOn, { output })
  closeSync(output)
  assert.deepEqual([code, files.includes('.kafka_cleanshutdown')], [0, true])
})

test('a broker whose files are gone when it stops says so and exits with 1', async () => {
  const { code, stderr } = await stopped(({ directory }) => rm(directory, { recursive: true }))
  assert.equal(code, 1)
  assert.match(stderr, /not all could be put in order: /)
})

for (const name of ['millrace-log-ends', '.kafka_cleanshutdown', '__cluster_metadata-0/millrace-offsets']) {
  test(`a broker that cannot write ${name} when it stops says so and exits with 1`, async () => {
    const { code, stderr, files } = await stopped(async ({ directory }) => mkdirSync(join(directory, `${name}.tmp`)))
    assert.equal(code, 1)
    assert.match(stderr, /ERROR not all could be put in order: /)
    assert.match(stderr, new RegExp(`ERROR .*${name}`))
    assert.equal(files.includes('.kafka_cleanshutdown'), false)
  })
}
