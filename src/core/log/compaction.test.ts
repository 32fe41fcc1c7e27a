import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byUrgency, type CompactedLog, type CompactedSegment, compactionNeed, groupSegments } from './compaction.ts'
import { defaultLogConfig } from './default-log-config.ts'
import type { LogConfig } from './partition-log.ts'

const wallMs = 1_000_000

function segment(baseOffset: number, sizeBytes = 100, times: Partial<CompactedSegment> = {}): CompactedSegment {
  return {
    ...{ baseOffset, sizeBytes, offsetIndexBytes: 16, timeIndexBytes: 24 },
    ...{ largestTimestamp: 500, firstTimestamp: 400, ...times },
  }
}

function need(change: Partial<CompactedLog> = {}, config: Partial<LogConfig> = {}) {
  const log: CompactedLog = {
    segments: [segment(0), segment(10), segment(20), segment(30, 7)],
    ...{ logStartOffset: 0, logEndOffset: 35, lastStableOffset: 35, checkpointOffset: undefined },
    ...change,
    config: { ...defaultLogConfig, isCompacted: true, ...config },
  }
  return compactionNeed(log, wallMs)
}

describe('what of a log is dirty', () => {
  test('is everything but the active segment before the first pass, and nothing after one', () => {
    const { firstDirtyOffset, firstUncleanableOffset, cleanBytes, cleanableBytes, dirtyRatio, isDue } = need()
    assert.deepEqual([firstDirtyOffset, firstUncleanableOffset, cleanBytes, cleanableBytes], [0, 30, 0, 300])
    assert.deepEqual([dirtyRatio, isDue], [1, true])
    const after = need({ checkpointOffset: 30 })
    assert.deepEqual([after.cleanBytes, after.cleanableBytes, after.dirtyRatio, after.isDue], [300, 0, 0, false])
  })

  test('begins at the checkpoint, whose segment counts as clean and as dirty when it lies in the middle', () => {
    const { cleanBytes, cleanableBytes, dirtyRatio } = need({ checkpointOffset: 15 })
    assert.deepEqual([cleanBytes, cleanableBytes, dirtyRatio], [200, 200, 0.5])
  })

  test('begins at the start of the log when the checkpoint lies before it or beyond the end', () => {
    for (const checkpointOffset of [11, 36]) {
      const found = need({ checkpointOffset, logStartOffset: 12 })
      assert.deepEqual([found.firstDirtyOffset, found.isCheckpointInvalid], [12, true])
    }
    for (const checkpointOffset of [12, 35, undefined]) {
      const found = need({ checkpointOffset, logStartOffset: 12 })
      assert.deepEqual([found.firstDirtyOffset, found.isCheckpointInvalid], [checkpointOffset ?? 12, false])
    }
  })

  test('ends with the segment before the one that has the last stable offset', () => {
    for (const [lastStableOffset, end] of [
      [35, 30],
      [30, 30],
      [29, 20],
      [20, 20],
      [19, 10],
      [0, 0],
    ]) {
      assert.equal(need({ lastStableOffset }).firstUncleanableOffset, end, `${lastStableOffset}`)
    }
  })

  test('ends before the first dirty segment with a record younger than min.compaction.lag.ms', () => {
    const young = segment(10, 100, { largestTimestamp: wallMs - 999 })
    const segments = [segment(0), young, segment(20), segment(30)]
    assert.equal(need({ segments }, { minCompactionLagMs: 1000 }).firstUncleanableOffset, 10)
    assert.equal(need({ segments }, { minCompactionLagMs: 999 }).firstUncleanableOffset, 30)
    assert.equal(need({ segments, checkpointOffset: 20 }, { minCompactionLagMs: 1000 }).firstUncleanableOffset, 30)
    const unknown = [segment(0, 100, { largestTimestamp: undefined }), segment(30)]
    assert.equal(need({ segments: unknown }, { minCompactionLagMs: 1 }).cleanableBytes, 0)
    assert.equal(need({ segments: unknown }).cleanableBytes, 100)
  })

  test('is nothing in a log with one segment, or where the dirt begins in one that may not be cleaned', () => {
    assert.equal(need({ segments: [segment(0)] }).isDue, false)
    const stuck = need({ checkpointOffset: 25, lastStableOffset: 28 }, { minCleanableDirtyRatio: 0 })
    assert.deepEqual([stuck.firstUncleanableOffset, stuck.cleanableBytes, stuck.isDue], [20, 0, false])
  })
})

describe('a log is due', () => {
  test('when more of it is dirty than min.cleanable.dirty.ratio', () => {
    assert.equal(need({ checkpointOffset: 20 }, { minCleanableDirtyRatio: 0.33 }).isDue, true)
    assert.equal(need({ checkpointOffset: 20 }, { minCleanableDirtyRatio: 0.34 }).isDue, false)
    assert.equal(need({ checkpointOffset: 15 }, { minCleanableDirtyRatio: 0.5 }).isDue, false)
  })

  test('when its oldest dirty segment began longer ago than max.compaction.lag.ms, if something may be cleaned', () => {
    const old = segment(20, 100, { firstTimestamp: wallMs - 5000 })
    const segments = [segment(0), segment(10), old, segment(30)]
    const at = { segments, checkpointOffset: 20 }
    const config = { minCleanableDirtyRatio: 1 }
    assert.deepEqual(pick(need(at, { ...config, maxCompactionLagMs: 5000 })), [0, false])
    assert.deepEqual(pick(need(at, { ...config, maxCompactionLagMs: 4990 })), [10, true])
    assert.deepEqual(pick(need({ ...at, lastStableOffset: 25 }, { ...config, maxCompactionLagMs: 4990 })), [10, false])
    assert.deepEqual(pick(need(at, config)), [0, false])
    const timeless = [segment(0, 100, { firstTimestamp: -1 }), segment(30, 1, { firstTimestamp: 1 })]
    assert.deepEqual(pick(need({ segments: timeless }, { ...config, maxCompactionLagMs: 1 })), [0, false])
  })

  test('before others when it is overdue, then when it is dirtier', () => {
    const overdue = { ...need({ checkpointOffset: 20 }), overdueMs: 1 }
    const dirty = need()
    const cleaner = need({ checkpointOffset: 10 })
    const nothingToDo = { ...need({ checkpointOffset: 30 }), overdueMs: 99 }
    assert.deepEqual([nothingToDo, cleaner, overdue, dirty].sort(byUrgency), [overdue, dirty, cleaner, nothingToDo])
  })
})

function pick({ overdueMs, isDue }: { overdueMs: number; isDue: boolean }) {
  return [overdueMs, isDue]
}

describe('segments become one', () => {
  const limits = { segmentBytes: 200, segmentIndexBytes: 48 }
  const bases = (groups: CompactedSegment[][]) => groups.map(group => group.map(({ baseOffset }) => baseOffset))

  test('as long as their bytes fit in one', () => {
    const segments = [segment(0, 100), segment(10, 100), segment(20, 1), segment(30, 300), segment(40, 0)]
    assert.deepEqual(bases(groupSegments(segments, limits, 50)), [[0, 10], [20], [30], [40]])
    assert.deepEqual(groupSegments([], limits, 50), [])
  })

  test('as long as their index entries fit in one', () => {
    const many = { ...segment(0, 1), timeIndexBytes: 25 }
    assert.deepEqual(bases(groupSegments([segment(0, 1), segment(10, 1), segment(20, 1)], limits, 50)), [[0, 10], [20]])
    assert.deepEqual(bases(groupSegments([segment(0, 1), { ...many, baseOffset: 10 }], limits, 50)), [[0], [10]])
    const wide = { ...segment(10, 1), offsetIndexBytes: 33 }
    assert.deepEqual(bases(groupSegments([segment(0, 1), wide], limits, 50)), [[0], [10]])
  })

  test('as long as no offset is too far from the first one', () => {
    const far = 2 ** 31
    assert.deepEqual(bases(groupSegments([segment(0, 1), segment(10, 1)], limits, far)), [[0, 10]])
    assert.deepEqual(bases(groupSegments([segment(0, 1), segment(10, 1)], limits, far + 1)), [[0], [10]])
    assert.deepEqual(bases(groupSegments([segment(0, 1), segment(10, 0)], limits, far + 1)), [[0, 10]])
    const two = [segment(0, 1), segment(10, 1), segment(far, 1)]
    assert.deepEqual(bases(groupSegments(two, limits, far + 1)), [[0, 10], [far]])
  })
})
