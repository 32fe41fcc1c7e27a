import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { IndexKeysJob } from '../../records/compaction/contract.ts'
import { createOffsetMap } from '../../records/compaction/offset-map.ts'
import { noTransactions } from '../../records/compaction/transaction-state.ts'
import { CompactionThread, type CompactionThreadOptions } from './compaction-thread.ts'

const map = createOffsetMap({ bytes: 1000, loadFactor: 0.5, seed: [1, 2, 3, 4] })

function job(change: Partial<IndexKeysJob> = {}): IndexKeysJob {
  return {
    ...{ type: 'indexKeys', map, batches: Buffer.allocUnsafeSlow(100).fill(0), followingBytes: 0 },
    ...{ transactions: noTransactions(), maxUncompressedBytes: 1000, fromOffset: 0, mapEndOffset: 0 },
    ...change,
  }
}

function program(text: string): URL {
  const onMessage = `import { parentPort } from 'node:worker_threads'; parentPort.on('message', message => { ${text} })`
  return new URL(`data:text/javascript,${encodeURIComponent(onMessage)}`)
}

async function inThread(options: CompactionThreadOptions, body: (thread: CompactionThread) => Promise<void>) {
  const thread = new CompactionThread(options)
  try {
    await body(thread)
  } finally {
    await thread.close()
  }
}

test('a job that breaks an invariant fails, and the thread goes on', () =>
  inThread({}, async thread => {
    const failed = await thread.run(job({ map: new SharedArrayBuffer(1000) }))
    assert.ok(failed.type === 'failed' && /a map has been made with room/.test(failed.reason))
    assert.equal((await thread.run(job())).type, 'damaged')
  }))

test('a job whose memory cannot be given away fails, and the next is done', () =>
  inThread({}, async thread => {
    const shared = Buffer.from(new SharedArrayBuffer(100))
    const results = [thread.run(job({ batches: shared })), thread.run(job())]
    assert.deepEqual(
      (await Promise.all(results)).map(({ type }) => type),
      ['failed', 'damaged'],
    )
  }))

test('a thread that ends, or throws, fails its job; the next one has a new thread', async () => {
  for (const [text, reason] of [
    ['process.exit(3)', 'the thread ended with code 3'],
    ['throw new Error("out of luck")', 'out of luck'],
    ['if (message.fromOffset === 0) process.exit(3); parentPort.postMessage({ type: "answer" })', ''],
  ]) {
    await inThread({ file: program(text) }, async thread => {
      const results = await Promise.all([thread.run(job()), thread.run(job({ fromOffset: 1 }))])
      const dead = { type: 'failed', reason }
      if (reason !== '') assert.deepEqual(results, [dead, dead])
      else assert.deepEqual(results, [{ ...dead, reason: 'the thread ended with code 3' }, { type: 'answer' }])
    })
  }
  await inThread({ file: new URL('file:///there/is/no/such/file.js') }, async thread => {
    assert.equal((await thread.run(job())).type, 'failed')
  })
})

test('closing fails what is under way and all that comes later', async () => {
  const thread = new CompactionThread({ file: program('') })
  const results = [thread.run(job()), thread.run(job())]
  await thread.close()
  results.push(thread.run(job()))
  const closed = { type: 'failed', reason: 'the thread was closed' }
  assert.deepEqual(await Promise.all(results), [closed, closed, closed])
  assert.equal(thread.isRunning, false)
})

test('the thread ends when it has had nothing to do, and another one begins', () =>
  inThread({ idleMs: 1 }, async thread => {
    assert.equal(thread.isRunning, false)
    assert.equal((await thread.run(job())).type, 'damaged')
    while (thread.isRunning) await nextTurn()
    assert.equal((await thread.run(job())).type, 'damaged')
  }))

test('a process ends while its thread rests, and not before its job is done', async () => {
  const imports = ['io/node/compaction-thread.ts', 'records/compaction/offset-map.ts'].map(file =>
    JSON.stringify(new URL(`../../${file}`, import.meta.url)),
  )
  const text = `
    const [{ CompactionThread }, { createOffsetMap }] = [await import(${imports[0]}), await import(${imports[1]})]
    const map = createOffsetMap({ bytes: 1000, loadFactor: 0.5, seed: [1, 2, 3, 4] })
    const job = { type: 'indexKeys', map, batches: Buffer.allocUnsafeSlow(100).fill(0), followingBytes: 0,
      transactions: { upcoming: new SharedArrayBuffer(0), begun: 0, aborting: [], committing: [] }, maxUncompressedBytes: 1, fromOffset: 0, mapEndOffset: 0 }
    new CompactionThread({ idleMs: 60_000 }).run(job).then(({ type }) => console.log(type))`
  const flags = ['--input-type=module', '--eval', text]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, flags, { timeout: 30_000 })
  assert.deepEqual({ stdout, stderr }, { stdout: 'damaged\n', stderr: '' })
})
