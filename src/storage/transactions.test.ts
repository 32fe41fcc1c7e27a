import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import type { AbortedTransaction } from '../core/log/partition-log.ts'
import { buildMarkerBatch } from '../records/control.ts'
import type { SeededRandom } from '../simulator/io/seeded-random.ts'
import { append, batchOf, type Host, onHost, readAll, tryAppend, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

const config = { segmentBytes: 2500, indexIntervalBytes: 300, retentionMs: -1 }

interface Transaction {
  readonly producerId: number
  readonly firstOffset: number
  markerOffset: number
  isCommit: boolean
}

/** Transactions of several producers, interleaved; what an index must say is known. */
async function interleave(host: Host, log: SegmentedLog, random: SeededRandom): Promise<Transaction[]> {
  const transactions: Transaction[] = []
  const open = new Map<number, Transaction>()
  const sequences = new Map<number, number>()
  for (let step = 0; step < 150; step++) {
    const producerId = random.between(1, 4)
    const transaction = open.get(producerId)
    if (transaction !== undefined && random.chance(0.3)) {
      transaction.isCommit = random.chance(0.4)
      transaction.markerOffset = endTransaction(log, producerId, transaction.isCommit)
      open.delete(producerId)
    } else {
      const baseSequence = sequences.get(producerId) ?? 0
      sequences.set(producerId, baseSequence + 1)
      const firstOffset = append(log, {
        producerId,
        producerEpoch: 0,
        baseSequence,
        isTransactional: true,
        valueBytes: random.between(0, 80),
      })
      if (transaction === undefined) {
        const begun = { producerId, firstOffset, markerOffset: Infinity, isCommit: true }
        open.set(producerId, begun)
        transactions.push(begun)
      }
    }
    if (random.chance(0.5)) await written(host, log)
  }
  await written(host, log)
  return transactions
}

function endTransaction(log: SegmentedLog, producerId: number, isCommit: boolean, coordinatorEpoch = 0): number {
  const batch = Buffer.from(buildMarkerBatch({ isCommit, coordinatorEpoch }, 1, { producerId, producerEpoch: 0 }))
  const offset = tryAppend(log, batch, { origin: 'coordinator' })
  assert.ok(typeof offset === 'number', JSON.stringify(offset))
  return offset
}

function unstable(transactions: readonly Transaction[], highWatermark: number): number {
  const holding = transactions.filter(({ markerOffset }) => markerOffset >= highWatermark)
  return Math.min(highWatermark, ...holding.map(({ firstOffset }) => firstOffset))
}

/** Those whose records may lie between the offsets. */
function abortedBetween(transactions: readonly Transaction[], from: number, to: number): AbortedTransaction[] {
  return transactions
    .filter(({ isCommit, markerOffset }) => !isCommit && markerOffset < Infinity)
    .filter(({ firstOffset, markerOffset }) => markerOffset >= from && firstOffset < to)
    .map(({ producerId, firstOffset }) => ({ producerId, firstOffset }))
}

for (const ending of ['none', 'clean', 'kill'] as const) {
  test(`reads of committed records end below open transactions and name the aborted ones (restart: ${ending})`, () =>
    onHost({ config, seed: `transactions ${ending}` }, async host => {
      let log = await host.openLog()
      const random = host.world.random('transactions')
      const transactions = await interleave(host, log, random)
      if (ending === 'clean') log = await host.reopen()
      if (ending === 'kill') {
        host.node.crash('kill')
        await host.open()
        log = host.log()
      }
      for (const share of [0.3, 0.6, 1]) {
        const highWatermark = Math.floor(log.logEndOffset * share)
        log.moveHighWatermark(highWatermark)
        assert.equal(log.lastStableOffset, unstable(transactions, highWatermark))
        const batches = await readAll(log, 'lastStableOffset')
        assert.equal(batches.length, log.lastStableOffset)
        for (let query = 0; query < 20; query++) await compareAborted(log, transactions, random)
      }
    }))
}

async function compareAborted(
  log: SegmentedLog,
  transactions: readonly Transaction[],
  random: SeededRandom,
): Promise<void> {
  const offset = random.between(0, Math.max(0, log.lastStableOffset - 1))
  if (offset >= log.lastStableOffset) return
  const read = await log.read({
    offset,
    maxBytes: random.between(1, 1500),
    minOneBatch: true,
    isolation: 'lastStableOffset',
  })
  assert.ok(read.type === 'read' && read.abortedTransactions !== undefined)
  const batches = await batchesIn(read)
  const last = offset + batches
  const told = read.abortedTransactions
  // Transactions that begin behind the bytes but before the next index entry may be told as well.
  for (const needed of abortedBetween(transactions, offset, last))
    assert.ok(
      told.some(one => same(one, needed)),
      'an aborted transaction is missing',
    )
  for (const one of told)
    assert.ok(
      abortedBetween(transactions, offset, log.lastStableOffset).some(known => same(one, known)),
      'it was not aborted',
    )
  assert.deepEqual(
    told,
    [...told].sort((a, b) => a.firstOffset - b.firstOffset),
  )
}

const same = (a: AbortedTransaction, b: AbortedTransaction) =>
  a.producerId === b.producerId && a.firstOffset === b.firstOffset

async function batchesIn(read: { parts: readonly unknown[]; byteLength: number }): Promise<number> {
  // Each batch of this log has one record; the last may be cut off.
  let count = 0
  let bytes = Buffer.alloc(0)
  for (const part of read.parts) {
    if (Buffer.isBuffer(part)) bytes = Buffer.concat([bytes, part])
    else {
      const { file, position, length } = part as {
        file: { read(p: number, l: number): Promise<Buffer>; release(): void }
        position: number
        length: number
      }
      bytes = Buffer.concat([bytes, await file.read(position, length)])
      file.release()
    }
  }
  for (
    let at = 0;
    at + 12 <= bytes.length && at + 12 + bytes.readInt32BE(at + 8) <= bytes.length;
    at += 12 + bytes.readInt32BE(at + 8)
  )
    count++
  return count
}

test('the last stable offset is not below the log start when the beginning of an open transaction is deleted', () =>
  onHost({ config }, async host => {
    const log = await host.openLog()
    append(log, { producerId: 1, producerEpoch: 0, baseSequence: 0, isTransactional: true })
    for (let index = 0; index < 4; index++) append(log)
    await written(host, log)
    log.moveHighWatermark(5)
    assert.equal(log.lastStableOffset, 0)
    await log.moveLogStart(3)
    assert.equal(log.lastStableOffset, 3)
    assert.deepEqual(await readAll(log, 'lastStableOffset'), [])
    endTransaction(log, 1, false)
    await written(host, log)
    log.moveHighWatermark(6)
    assert.equal(log.lastStableOffset, 6)
  }))

test('a marker of a coordinator that was replaced is refused', () =>
  onHost({ config }, async host => {
    const log = await host.openLog()
    append(log, { producerId: 1, producerEpoch: 0, baseSequence: 0, isTransactional: true })
    endTransaction(log, 1, true, 5)
    const stale = Buffer.from(
      buildMarkerBatch({ isCommit: true, coordinatorEpoch: 4 }, 1, { producerId: 1, producerEpoch: 0 }),
    )
    const refused = tryAppend(log, stale, { origin: 'coordinator' })
    assert.ok(typeof refused === 'object' && refused.errorCode === ErrorCode.transactionCoordinatorFenced)
  }))

test('a duplicate is answered with the first offsets, in flight and after a restart', () =>
  onHost({ config }, async host => {
    let log = await host.openLog()
    const send = () => batchOf({ count: 3, producerId: 4, producerEpoch: 1, baseSequence: 0, timestamp: 777 })
    append(log)
    assert.equal(tryAppend(log, send()), 1)
    assert.equal(tryAppend(log, send()), 1)
    assert.equal(log.nextOffset, 4)
    await written(host, log)
    log = await host.reopen()
    const answer = log.reserve({
      batch: send(),
      origin: 'client',
      leaderEpoch: 0,
      now: { monotonicMs: 0, wallMs: 2000 },
    })
    assert.deepEqual(answer, { type: 'duplicate', baseOffset: 1, lastOffset: 3, logAppendTimeMs: 779 })
  }))

for (const ending of ['clean', 'kill'] as const) {
  test(`a transaction that was aborted and is committed after a cut is not hidden by the index of before, after ${ending}`, () =>
    onHost({ config: { ...config, segmentBytes: 100_000 } }, async host => {
      let log = await host.openLog()
      append(log, { producerId: 1, producerEpoch: 0, baseSequence: 0, isTransactional: true })
      endTransaction(log, 1, false)
      await written(host, log)
      log.moveHighWatermark(1)
      log = await host.reopen()
      await log.truncate({ endOffset: 1 })
      endTransaction(log, 1, true)
      append(log)
      await written(host, log)
      if (ending === 'clean') log = await host.reopen()
      else {
        log.moveHighWatermark(3)
        log.roll()
        append(log)
        await written(host, log)
        await log.compaction.need(0)
        for (const directory of host.directories.directories) await directory.saveCheckpoints()
        host.node.crash('kill')
        await host.open()
        log = host.log()
      }
      log.moveHighWatermark(log.logEndOffset)
      const read = await log.read({ offset: 0, maxBytes: 1000, minOneBatch: true, isolation: 'lastStableOffset' })
      assert.ok(read.type === 'read' && read.byteLength > 0)
      assert.deepEqual(read.abortedTransactions, [])
    }))
}

for (const what of ['a cut', 'a cut of the last segment', 'a kill', 'a clean stop'] as const) {
  test(`a transaction whose marker is not replicated is not stable after ${what}`, () =>
    onHost({ config: { retentionMs: -1 } }, async host => {
      let log = await host.openLog()
      append(log, { producerId: 1, producerEpoch: 0, baseSequence: 0, isTransactional: true })
      assert.equal(endTransaction(log, 1, true), 1)
      for (let segment = 0; segment < 2; segment++) {
        log.roll()
        for (let count = 0; count < 3; count++) append(log)
        await written(host, log)
        await log.flush()
        await log.compaction.need(0)
      }
      log.moveHighWatermark(1)
      assert.equal(log.lastStableOffset, 0)
      await host.directories.directories[0].saveCheckpoints()
      await host.directories.directories[0].saveHighWatermarks()
      if (what === 'a cut') await log.truncate({ endOffset: 4 })
      if (what === 'a cut of the last segment') await log.truncate({ endOffset: 7 })
      if (what === 'a clean stop') log = await host.reopen()
      if (what === 'a kill') {
        host.node.crash('kill')
        log = await host.openLog()
      }
      assert.deepEqual([log.highWatermark, log.lastStableOffset], [1, 0])
      log.moveHighWatermark(2)
      assert.equal(log.lastStableOffset, 2)
    }))
}
