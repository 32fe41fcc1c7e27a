import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { readBaseOffset, readLastOffset } from '../records/batch.ts'
import { batchSpans } from '../records/batch-header.ts'
import { buildMarkerBatch } from '../records/control.ts'
import type { DiskSnapshot } from '../simulator/io/simulated-disk.ts'
import { append, bytesOf, Host, readAll, topicId, tryAppend, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

const config = { segmentBytes: 3000, indexIntervalBytes: 400 }

interface Original {
  readonly ending: 'clean' | 'kill'
  readonly host: Host
  readonly disk: DiskSnapshot
  readonly batches: readonly Buffer[]
  readonly endOffset: number
  readonly files: readonly { path: string; bytes: Buffer }[]
}

/** A log of several segments, with transactions in it, as a clean shutdown or a kill leaves it. */
async function originalLog(ending: 'clean' | 'kill'): Promise<Original> {
  const host = new Host({ seed: 'damage', config })
  const batches: Buffer[] = []
  let endOffset = 0
  await host.run(
    (async () => {
      const log = await host.openLog()
      for (let index = 0; index < 40; index++) {
        append(log, {
          count: 1 + (index % 3),
          valueBytes: 50 + index,
          timestamp: 5000 + index,
          leaderEpoch: index >> 4,
        })
        const baseSequence = index
        append(log, { producerId: 7, producerEpoch: 0, baseSequence, isTransactional: true, leaderEpoch: index >> 4 })
        if (index % 6 === 5) end(log, index % 12 === 5, index >> 4)
        await written(host, log)
      }
      await log.flush()
      while (log.recoveryPoint < log.logEndOffset) await host.io.clock.yieldTurn()
      log.moveHighWatermark(log.logEndOffset)
      batches.push(...(await readAll(log)))
      endOffset = log.logEndOffset
      await host.directories.directories[0]?.saveRecoveryPoints()
      await host.directories.directories[0]?.saveHighWatermarks()
      await host.directories.directories[0]?.saveLogStarts()
      if (ending === 'clean') await host.directories.close({ brokerEpoch: 1 })
    })(),
  )
  host.node.crash('kill')
  return { ending, host, disk: host.node.disk.snapshot(), batches, endOffset, files: host.node.disk.files() }
}

function end(log: SegmentedLog, isCommit: boolean, leaderEpoch: number): void {
  const marker = Buffer.from(
    buildMarkerBatch({ isCommit, coordinatorEpoch: 1 }, 1, { producerId: 7, producerEpoch: 0 }),
  )
  assert.equal(typeof tryAppend(log, marker, { origin: 'coordinator', leaderEpoch }), 'number')
}

const everyNth = 7

type Change = (host: Host, path: string, bytes: Buffer) => void

const flipAt =
  (position: number): Change =>
  (host, path) =>
    void host.node.disk.flip(path, position, 0x10)

/** What is done to one file, by what it is called. */
function changesOf(path: string, size: number, index: number): Map<string, Change> {
  const changes = new Map<string, Change>()
  const isLog = path.endsWith('.log')
  const positions = isLog
    ? [0, 7, 8, 11, 12, 15, 16, 17, 21, 22, 23, 26, 27, 35, 43, 51, 53, 57, 60, 61, 90]
    : [0, 3, 5, 8, 11, 12, 19, 20, 33]
  for (const base of [0, Math.floor(size / 2), Math.max(0, size - 120)]) {
    for (const [place, at] of positions.entries()) {
      // A part of them for each file: all take a minute, and were tried.
      if (base + at < size && (place + index) % everyNth === 0) changes.set(`flip ${base + at}`, flipAt(base + at))
    }
  }
  changes.set('removed', (host, name) => host.io.disk.rename(name, `${name}.gone`))
  changes.set('empty', (host, name) => host.io.disk.writeSmallFile(name, Buffer.alloc(0)))
  changes.set('cut in the middle', (host, name, bytes) =>
    host.io.disk.writeSmallFile(name, bytes.subarray(0, bytes.length >> 1)),
  )
  changes.set('cut at the end', (host, name, bytes) => host.io.disk.writeSmallFile(name, bytes.subarray(0, -1)))
  changes.set('zeros at the end', (host, name, bytes) =>
    host.io.disk.writeSmallFile(name, Buffer.concat([bytes, Buffer.alloc(240)])),
  )
  changes.set('all zeros', (host, name, bytes) => host.io.disk.writeSmallFile(name, Buffer.alloc(bytes.length)))
  return changes
}

for (const ending of ['clean', 'kill'] as const) {
  test(`damage of any file (${ending}) is told or made good; no other bytes are served, and none are left out silently`, async () => {
    const original = await originalLog(ending)
    for (const [index, { path, bytes }] of original.files.entries()) {
      if (path.endsWith('.lock') || path.endsWith('meta.properties')) continue
      for (const [name, change] of changesOf(path, bytes.length, index))
        await damageOnce(original, `/${path}`, bytes, name, change)
    }
  })
}

async function damageOnce(
  original: Original,
  path: string,
  bytes: Buffer,
  name: string,
  change: Change,
): Promise<void> {
  const { host } = original
  host.node.disk.restore(original.disk)
  host.io = host.node.start()
  change(host, path, bytes)
  host.node.crash('kill')
  await host.run(
    (async () => {
      await host.open({ isStray: partition => partition.topicId !== topicId })
      const { unopened } = host.directories
      if (unopened.length > 0) return
      const log = host.log()
      const served = await readWhatIsThere(log, original, `${path} ${name}`)
      const isComplete = served === original.batches.length
      const isTold = host.faults.damage.length > 0
      assert.ok(
        isComplete || isTold,
        `${path} ${name}: ${served} of ${original.batches.length} batches, and nothing was told`,
      )
      await host.directories.close({ brokerEpoch: 1 })
    })(),
  )
  host.node.crash('kill')
}

/** Reads from every offset at which a batch began; what comes must be that batch. */
async function readWhatIsThere(
  log: SegmentedLog,
  { batches, endOffset, ending }: Original,
  what: string,
): Promise<number> {
  const isTail = ending === 'kill'
  let served = 0
  assert.ok(log.logEndOffset <= endOffset)
  for (const batch of batches) {
    const offset = readBaseOffset(batch, 0)
    if (offset < log.logStartOffset || offset >= log.logEndOffset) continue
    const result = await log.read({ offset, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' })
    if (result.type === 'refused') {
      assert.equal(result.errorCode, ErrorCode.corruptMessage)
      continue
    }
    const bytes = await bytesOf(result)
    for (const { at, sizeBytes } of batchSpans(bytes)) {
      const got = bytes.subarray(at, at + sizeBytes)
      if (readLastOffset(got, 0) < offset) continue
      // Nothing but the batch says which epoch wrote the end of a log that was not closed.
      if (batch === batches.at(-1) && isTail) got.writeInt32BE(batch.readInt32BE(12), 12)
      assert.ok(got.equals(batch), `${what}: offset ${offset} has other bytes`)
      served++
    }
  }
  return served
}
