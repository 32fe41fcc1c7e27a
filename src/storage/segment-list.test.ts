import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SegmentIndexes } from './index-entries.ts'
import { Segment } from './segment.ts'
import { SegmentList } from './segment-list.ts'

function segmentAt(baseOffset: number): Segment {
  const home = {
    path: '/data/topic-0',
    indexIntervalBytes: 4096,
    isContiguous: false,
    epochs: undefined,
    areEpochsComplete: false,
    requestFlush: () => undefined,
  }
  const segment = new Segment(home, baseOffset, { createdWallMs: 0, jitterMs: 0, isOnDisk: false })
  segment.indexes = new SegmentIndexes()
  return segment
}

function listOf(count: number): SegmentList {
  return new SegmentList(Array.from({ length: count }, (_, index) => segmentAt(10 * index)))
}

test('the layout is another once the log was cut, or its segments were removed or replaced', () => {
  const changes: ((list: SegmentList) => void)[] = [
    list => list.cutWithin(list.all[1]),
    // Within the last segment: no other goes, but what was there does.
    list => list.cutWithin(list.active),
    list => list.removeFirst(1),
    list => list.replace([list.first], segmentAt(0)),
    list => list.removeEmptied(list.all[1]),
    list => list.replaceAll(segmentAt(5)),
  ]
  for (const change of changes) {
    const list = listOf(4)
    const { layout } = list
    change(list)
    assert.notEqual(list.layout, layout, String(change))
  }
})

test('the layout stays when segments are added, and when they are taken back since nothing of them could be written', () => {
  const list = listOf(2)
  const { layout, active } = list
  list.add(segmentAt(20))
  const taken = list.takeBackAfter(active)
  assert.deepEqual(
    taken.map(({ baseOffset, isGone }) => [baseOffset, isGone]),
    [[20, true]],
  )
  assert.equal(list.active, active)
  assert.equal(list.layout, layout)
})

test('nothing comes after a segment that is gone', () => {
  const list = listOf(3)
  const [first, second] = list.all
  assert.equal(list.after(first), second)
  list.removeFirst(1)
  assert.equal(list.after(first), undefined)
})
