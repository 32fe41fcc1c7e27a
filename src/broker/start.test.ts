import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../config/load-config.ts'
import { loadNativeCalls, type NativeCalls } from '../io/node/native-calls.ts'
import { startBroker } from './start.ts'

/** What a broker says while it starts, warnings and errors. */
async function linesOfStart(native: NativeCalls | null): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-start-'))
  try {
    const overrides = ['listeners=PLAINTEXT://127.0.0.1:0', `log.dirs=${directory}`, 'millrace.admin.listener=']
    const loaded = loadConfig({ overrides, environment: {} })
    assert.ok(loaded.type === 'loaded')
    const lines: string[] = []
    const { close } = await startBroker({
      loaded,
      log: { write: (level, message) => void (level === 'info' || level === 'debug' || lines.push(message)) },
      failed: assert.ifError,
      formatsEmptyDirectories: true,
      native,
    })
    await close()
    return lines
  } finally {
    await rm(directory, { recursive: true })
  }
}

test('where Kafka would not see the lock of a directory, a line at the start says so', async () => {
  const [line, ...others] = await linesOfStart(null)
  assert.match(line, /^Kafka does not see that this broker uses its directories: /)
  assert.deepEqual(others, [])
})

test('where Kafka sees it, nothing is said', {
  skip: loadNativeCalls() === undefined && 'no native calls',
}, async () => {
  assert.deepEqual(await linesOfStart(loadNativeCalls()!), [])
})
