import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts')

/** Starts the command, lets `meanwhile` happen, and stops it. */
async function stopped(meanwhile: (directory: string, child: ChildProcess) => Promise<unknown>) {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-stop-'))
  const settings = [`log.dirs=${directory}`, 'listeners=PLAINTEXT://127.0.0.1:0', 'millrace.admin.listener=']
  const child = spawn(process.execPath, [main, 'start', ...settings.flatMap(setting => ['--override', setting])])
  try {
    const stderr = text(child.stderr)
    await new Promise<void>(resolve => {
      child.stdout.on('data', chunk => void (String(chunk).includes('is ready') && resolve()))
    })
    await meanwhile(directory, child)
    child.kill('SIGTERM')
    const [code] = await once(child, 'exit')
    return { code, stderr: await stderr, files: await readdir(directory).catch((): string[] => []) }
  } finally {
    child.kill('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  }
}

test('a broker that could put all in order exits with 0', async () => {
  const { code, stderr } = await stopped(async () => {})
  assert.deepEqual([code, stderr.includes('put in order')], [0, false])
})

test('a broker whose words nobody reads any more stops in good order all the same', async () => {
  const { code, files } = await stopped(async (_directory, child) => child.stdout?.destroy())
  assert.deepEqual([code, files.includes('.kafka_cleanshutdown')], [0, true])
})

test('a broker whose files cannot be written when it stops says so and exits with 1', async () => {
  const { code, stderr } = await stopped(directory => rm(directory, { recursive: true }))
  assert.equal(code, 1)
  assert.match(stderr, /not all could be put in order: /)
})
