import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { Patience } from '../compatibility/patience.ts'

const root = resolve(import.meta.dirname, '../..')

test('npm start ends cleanly by Ctrl-C', () => stopsCleanly(npm => process.kill(-npm.pid!, 'SIGINT')))

test('npm start ends cleanly by SIGINT to npm alone', () => stopsCleanly(npm => npm.kill('SIGINT')))

test('npm start ends cleanly by SIGTERM to npm alone', () => stopsCleanly(npm => npm.kill('SIGTERM')))

test('npm start ends cleanly when npm is killed', () => stopsCleanly(npm => npm.kill('SIGKILL')))

/** Starts a broker as the README says, in a process group of its own as a terminal does, and ends it. */
async function stopsCleanly(end: (npm: ChildProcess) => void): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-npm-'))
  const [port, controllerPort] = [await freePort(), await freePort()]
  const settings = [
    `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    `log.dirs=${directory}`,
    'millrace.admin.listener=',
  ]
  const args = ['start', '--', ...settings.flatMap(setting => ['-o', setting])]
  // Where CI is set, colours are thought to be wanted.
  const env = { ...process.env, NO_COLOR: '1' }
  const npm = spawn('npm', args, { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'inherit'], env })
  try {
    const told = await textUntil(npm, /Ctrl-C stops it/)
    const rest = textUntil(npm, /$^/)
    assert.match(told, /Millrace is ready/)
    assert.ok(told.includes(`  data       ${directory}\n`), told)
    assert.match(told, /^ {2}npm run -s millrace -- topic create orders --partitions 3 -b 127\.0\.0\.1:\d+$/m)
    end(npm)
    // The pipe is open for as long as npm or the broker is there.
    assert.match(await rest, /Stopping: /)
    assert.equal(await isTaken(port), false)
    assert.ok(existsSync(join(directory, '.kafka_cleanshutdown')), 'the directory is marked clean')
  } finally {
    killGroup(npm)
    await rm(directory, { recursive: true, force: true })
  }
}

const patienceMs = 30_000

/** What is printed up to this, or to the end. */
async function textUntil(npm: ChildProcess, wanted: RegExp): Promise<string> {
  let text = ''
  const done = Promise.withResolvers<void>()
  using patience = new Patience(patienceMs)
  void patience.over.then(() => done.reject(new Error(`after ${patienceMs} ms there is only: ${text}`)))
  npm.stdout!.on('data', chunk => {
    text += chunk
    if (wanted.test(text)) done.resolve()
  })
  npm.stdout!.on('end', done.resolve)
  await done.promise
  return text
}

function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL')
  } catch {
    // They have gone, as they should.
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

async function isTaken(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return (await new Promise(resolve => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).finally(() => socket.destroy())) as boolean
}
