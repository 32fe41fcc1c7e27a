import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareOffsetAndEpoch, LogTail, positionOfFollower, problemOfLog } from './log-view.ts'
import { SimLog } from './simulation/sim-log.ts'

/** Epochs 1 at [0, 4), 3 at [4, 8), 5 at [8, 9). */
function logOf(...batches: [baseOffset: number, lastOffset: number, leaderEpoch: number][]): SimLog {
  const log = new SimLog()
  for (const [baseOffset, lastOffset, leaderEpoch] of batches) {
    const name = `${baseOffset}/${leaderEpoch}`
    log.append([{ name, baseOffset, lastOffset, leaderEpoch, controlRecords: [], bytes: Buffer.alloc(0) }])
  }
  return log
}
const epochs: [number, number, number][] = [
  [0, 3, 1],
  [4, 5, 3],
  [6, 7, 3],
  [8, 8, 5],
]

function snapshot(endOffset: number, epoch: number) {
  return { id: { endOffset, epoch }, stateHash: 0, controlRecords: [], bytes: Buffer.alloc(5) }
}

test('the later epoch is more up to date, then the longer log', () => {
  const ordered = [
    { offset: 9, epoch: 1 },
    { offset: 2, epoch: 2 },
    { offset: 3, epoch: 2 },
  ]
  assert.deepEqual([...ordered].reverse().sort(compareOffsetAndEpoch), ordered)
  assert.equal(compareOffsetAndEpoch(ordered[1], { ...ordered[1] }), 0)
})

test('a follower goes on where its last record is ours, and learns where our logs part', () => {
  const log = logOf(...epochs)
  const at = (fetchOffset: number, lastFetchedEpoch: number) =>
    positionOfFollower(log, { fetchOffset, lastFetchedEpoch })
  assert.deepEqual(at(0, 0), { type: 'valid' })
  assert.deepEqual(at(4, 1), { type: 'valid' })
  assert.deepEqual(at(2, 1), { type: 'valid' })
  assert.deepEqual(at(9, 5), { type: 'valid' })
  assert.deepEqual(at(5, 1), { type: 'diverging', end: { offset: 4, epoch: 1 } })
  assert.deepEqual(at(6, 2), { type: 'diverging', end: { offset: 4, epoch: 1 } })
  assert.deepEqual(at(9, 4), { type: 'diverging', end: { offset: 8, epoch: 3 } })
  assert.deepEqual(at(10, 5), { type: 'diverging', end: { offset: 9, epoch: 5 } })
  assert.deepEqual(at(9, 7), { type: 'diverging', end: { offset: 9, epoch: 5 } })
})

test('a follower behind the log start is sent to the latest snapshot', () => {
  const log = logOf(...epochs)
  log.addSnapshot(snapshot(4, 1), true)
  log.addSnapshot(snapshot(8, 3), false)
  const id = { endOffset: 8, epoch: 3 }
  const at = (fetchOffset: number, lastFetchedEpoch: number) =>
    positionOfFollower(log, { fetchOffset, lastFetchedEpoch })
  assert.deepEqual(at(0, 0), { type: 'snapshot', id })
  assert.deepEqual(at(3, 1), { type: 'snapshot', id })
  assert.deepEqual(at(9, 0), { type: 'snapshot', id })
  assert.deepEqual(at(4, 2), { type: 'snapshot', id })
  assert.deepEqual(at(4, 1), { type: 'valid' })
  assert.deepEqual(at(6, 3), { type: 'valid' })
})

test('an empty follower reads the log where the only snapshot is that of formatting', () => {
  const log = logOf(...epochs)
  log.addSnapshot(snapshot(0, 0), false)
  assert.deepEqual(positionOfFollower(log, { fetchOffset: 0, lastFetchedEpoch: 0 }), { type: 'valid' })
  log.addSnapshot(snapshot(4, 1), false)
  const id = { endOffset: 4, epoch: 1 }
  assert.deepEqual(positionOfFollower(log, { fetchOffset: 0, lastFetchedEpoch: 0 }), { type: 'snapshot', id })
})

test('a log that no snapshot covers, or that does not continue it, is no part of a quorum', () => {
  const view = (over: object) => ({ ...viewOf(logOf(...epochs)), ...over })
  assert.equal(problemOfLog(view({})), undefined)
  assert.match(problemOfLog(view({ logStartOffset: 4 }))!, /without a snapshot/)
  const ids = (endOffset: number, epoch: number) => ({
    earliestSnapshotId: { endOffset, epoch },
    latestSnapshotId: { endOffset, epoch },
  })
  assert.equal(problemOfLog(view(ids(8, 3))), undefined)
  assert.equal(problemOfLog(view({ logStartOffset: 4, ...ids(4, 1) })), undefined)
  assert.match(problemOfLog(view({ logStartOffset: 4, ...ids(3, 1) }))!, /no snapshot reaches/)
  assert.match(problemOfLog(view(ids(20, 5)))!, /ends below/)
  assert.match(problemOfLog(view(ids(8, 2)))!, /does not continue/)
  assert.match(problemOfLog(view(ids(6, 1)))!, /does not continue/)
})

test('the end of the log is where this turn will leave it, and the shell must have left it there', () => {
  const log = logOf(...epochs)
  const tail = new LogTail(log)
  tail.willEndAt({ offset: 11, epoch: 6 })
  assert.deepEqual([tail.end, tail.isFlushed, log.logEndOffset], [{ offset: 11, epoch: 6 }, false, 9])
  assert.throws(() => tail.settle(), /carries out an append/)
  assert.throws(() => tail.willEndAt({ offset: 12, epoch: 5 }), /epochs never fall/)
})

function viewOf(log: SimLog) {
  const {
    logStartOffset,
    logEndOffset,
    writtenOffset,
    flushedOffset,
    lastEpoch,
    earliestSnapshotId,
    latestSnapshotId,
  } = log
  return {
    ...{ logStartOffset, logEndOffset, writtenOffset, flushedOffset, lastEpoch, earliestSnapshotId, latestSnapshotId },
    endOffsetForEpoch: (epoch: number) => log.endOffsetForEpoch(epoch),
    snapshotSize: () => undefined,
  }
}
