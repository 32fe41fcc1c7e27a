import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultLogConfig } from './default-log-config.ts'
import type { LogConfig } from './partition-log.ts'
import { countExpired, type RetainedSegment } from './retention.ts'
import { mustRoll, type RollQuestion } from './segment-rolling.ts'

describe('a batch begins a new segment', () => {
  const question: RollQuestion = {
    baseOffset: 100,
    sizeBytes: 500,
    offsetIndexEntries: 3,
    timeIndexEntries: 3,
    firstTimestamp: 1000n,
    createdWallMs: 5000,
    jitterMs: 0,
    batchBytes: 100,
    batchLastOffset: 200,
    batchMaxTimestamp: 1500n,
    wallMs: 6000,
  }
  const config: LogConfig = { ...defaultLogConfig, segmentBytes: 600, segmentIndexBytes: 100, segmentMs: 1000 }
  const rolls = (change: Partial<RollQuestion>) => mustRoll({ ...question, ...change }, config)

  test('when the segment would grow beyond its size', () => {
    assert.equal(rolls({}), false)
    assert.equal(rolls({ batchBytes: 101 }), true)
    assert.equal(rolls({ sizeBytes: 0, batchBytes: 10_000 }), false, 'an empty segment takes any batch')
  })

  test('when an index is full; the time index keeps a slot for the end', () => {
    assert.equal(rolls({ offsetIndexEntries: 11 }), false)
    assert.equal(rolls({ offsetIndexEntries: 12 }), true)
    assert.equal(rolls({ timeIndexEntries: 6 }), false)
    assert.equal(rolls({ timeIndexEntries: 7 }), true)
  })

  test('when its offset is too far from the base', () => {
    assert.equal(rolls({ batchLastOffset: 100 + 0x7fff_ffff }), false)
    assert.equal(rolls({ batchLastOffset: 101 + 0x7fff_ffff }), true)
    assert.equal(rolls({ sizeBytes: 0, batchLastOffset: 101 + 0x7fff_ffff }), true)
  })

  test('when it is later than the first batch by more than segment.ms less the jitter', () => {
    assert.equal(rolls({ batchMaxTimestamp: 2000n }), false)
    assert.equal(rolls({ batchMaxTimestamp: 2001n }), true)
    assert.equal(rolls({ batchMaxTimestamp: 1951n, jitterMs: 50 }), true)
  })

  test('not with every batch where there is more jitter than age', () => {
    for (const jitterMs of [1000, 1500, 3000]) assert.equal(rolls({ batchMaxTimestamp: 1001n, jitterMs }), false)
    assert.equal(rolls({ batchMaxTimestamp: 1501n, jitterMs: 1500 }), true)
    const lag: LogConfig = { ...config, isCompacted: true, maxCompactionLagMs: 100 }
    assert.equal(mustRoll({ ...question, batchMaxTimestamp: 1001n, jitterMs: 500 }, lag), false)
  })

  test('when it is later than max.compaction.lag.ms, in a compacted log', () => {
    const at = { ...question, batchMaxTimestamp: 1101n }
    const lag = { ...config, maxCompactionLagMs: 100 }
    assert.equal(mustRoll(at, lag), false)
    assert.equal(mustRoll(at, { ...lag, isCompacted: true }), true)
    assert.equal(mustRoll(at, { ...lag, isCompacted: true, maxCompactionLagMs: 101 }), false)
    assert.equal(mustRoll(at, { ...lag, isCompacted: true, maxCompactionLagMs: 0 }), false)
    assert.equal(mustRoll({ ...at, batchMaxTimestamp: 2001n }, { ...config, isCompacted: true }), true)
  })

  test('when the segment is old and its first batch had no timestamp', () => {
    assert.equal(rolls({ firstTimestamp: -1n, batchMaxTimestamp: 9_999_999n }), false)
    assert.equal(rolls({ firstTimestamp: -1n, wallMs: 6001 }), true)
    assert.equal(rolls({ firstTimestamp: undefined, wallMs: 6001 }), true)
  })
})

describe('retention', () => {
  const segment = (endOffset: number, largestTimestamp = 100, sizeBytes = 10): RetainedSegment => {
    return { endOffset, sizeBytes, largestTimestamp }
  }
  const segments = [segment(10), segment(20, 200), segment(30, 50), segment(40, 400)]
  const bounds = { logStartOffset: 0, lastStableOffset: 40, wallMs: 1100 }
  const never = { ...defaultLogConfig, retentionMs: -1, retentionBytes: -1 }

  test('by time takes the oldest segments up to the first that is young', () => {
    const count = (retentionMs: number) => countExpired(segments, bounds, { ...never, retentionMs })
    assert.deepEqual([1000, 999, 900, 899, 699, -1].map(count), [0, 1, 1, 3, 4, 0])
    assert.equal(
      countExpired([{ ...segment(10), largestTimestamp: undefined }, segment(20)], bounds, {
        ...never,
        retentionMs: 1,
      }),
      0,
    )
  })

  test('by size takes segments while what is left is large enough', () => {
    const count = (retentionBytes: number) => countExpired(segments, bounds, { ...never, retentionBytes })
    assert.deepEqual([40, 31, 30, 29, 10, 0].map(count), [0, 0, 1, 1, 3, 4])
  })

  test('takes nothing at or above the last stable offset', () => {
    const count = (lastStableOffset: number) =>
      countExpired(segments, { ...bounds, lastStableOffset }, { ...never, retentionBytes: 0 })
    assert.deepEqual([9, 10, 29, 30].map(count), [0, 1, 2, 3])
  })

  test('takes what lies below the log start, whatever the policy is', () => {
    const compacted = { ...never, isCompacted: true, isDeleted: false, retentionMs: 1, retentionBytes: 0 }
    const count = (logStartOffset: number) => countExpired(segments, { ...bounds, logStartOffset }, compacted)
    assert.deepEqual([0, 10, 25, 40].map(count), [0, 1, 2, 3])
  })

  test('leaves a last segment without records alone', () => {
    assert.equal(countExpired([segment(10, 1, 0)], bounds, { ...never, retentionMs: 0 }), 0)
    assert.equal(countExpired([segment(10), segment(10, 1, 0)], bounds, { ...never, retentionMs: 0 }), 1)
  })

  test('takes segments of which compaction has left nothing, and does not end at them', () => {
    const emptied = [segment(10, 100, 0), segment(20, 100, 0), segment(30), segment(40, 100, 0), segment(50)]
    const all = { ...bounds, lastStableOffset: 50 }
    assert.equal(countExpired(emptied, all, { ...never, retentionMs: 999 }), 5)
    assert.equal(countExpired(emptied, all, { ...never, retentionBytes: 10 }), 4)
    assert.equal(countExpired(emptied, { ...all, logStartOffset: 35 }, never), 3)
    assert.equal(countExpired([{ ...emptied[0], largestTimestamp: undefined }], all, { ...never, retentionMs: 0 }), 0)
  })
})
