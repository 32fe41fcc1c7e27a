import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zeroUuid } from '../../base/uuid.ts'
import { ReplicaProgress } from './replica-progress.ts'
import { directoryOf, voterOfScene } from './simulation/scene.ts'
import { VoterSet } from './voters.ts'

const at = (monotonicMs: number) => ({ monotonicMs, wallMs: 10_000 + monotonicMs })
const setOf = (...ids: number[]) => new VoterSet(ids.map(id => voterOfScene(id)))
const self = voterOfScene(1)

function progressOf(...offsets: [id: number, fetchOffset: number][]): ReplicaProgress {
  const progress = new ReplicaProgress()
  for (const [id, fetchOffset] of offsets)
    progress.fetched(voterOfScene(id), { fetchOffset, leaderEndOffset: 10 }, at(1))
  return progress
}

test('a majority holds the offset in the middle', () => {
  assert.equal(progressOf([2, 5]).majorityOffset(setOf(1, 2, 3), self, 9), 5)
  assert.equal(progressOf([2, 5], [3, 7]).majorityOffset(setOf(1, 2, 3), self, 9), 7)
  assert.equal(progressOf([2, 5], [3, 7], [4, 8]).majorityOffset(setOf(1, 2, 3, 4), self, 9), 7)
  assert.equal(new ReplicaProgress().majorityOffset(setOf(1, 2, 3), self, 9), -1)
  assert.equal(new ReplicaProgress().majorityOffset(setOf(1), self, 9), 9)
})

test('who is not a voter does not count, the leader itself included', () => {
  const progress = progressOf([2, 5], [4, 10])
  assert.equal(progress.majorityOffset(setOf(1, 2, 3), self, 9), 5)
  assert.equal(progress.majorityOffset(setOf(2, 3), self, 9), -1)
})

test('a voter with another directory has not fetched', () => {
  const progress = new ReplicaProgress()
  progress.fetched(voterOfScene(2, directoryOf(9)), { fetchOffset: 8, leaderEndOffset: 10 }, at(1))
  assert.equal(progress.majorityOffset(setOf(1, 2, 3), self, 9), -1)
  const unknown = new VoterSet([self, voterOfScene(2, zeroUuid), voterOfScene(3)])
  assert.equal(progress.majorityOffset(unknown, self, 9), 8)
})

test('a replica is caught up when it has all there is, or had all there was at its last fetch', () => {
  const progress = new ReplicaProgress()
  const fetch = (fetchOffset: number, leaderEndOffset: number, ms: number) => {
    progress.fetched(voterOfScene(2), { fetchOffset, leaderEndOffset }, at(ms))
    return progress.of(voterOfScene(2))?.lastCaughtUpMs
  }
  assert.equal(fetch(4, 10, 1), -1)
  assert.equal(fetch(9, 12, 2), -1)
  assert.equal(fetch(12, 15, 3), 2)
  assert.equal(fetch(15, 15, 4), 4)
})

test('a fetch that leads to a snapshot shows life, not progress', () => {
  const progress = progressOf([2, 5])
  progress.heardFrom(voterOfScene(2), at(7))
  progress.heardFrom(voterOfScene(3), at(8))
  assert.deepEqual([progress.of(voterOfScene(2))?.logEndOffset, progress.of(voterOfScene(2))?.lastFetchMs], [5, 7])
  assert.equal(progress.of(voterOfScene(3))?.logEndOffset, -1)
})

test('the leader is heard by a majority as long as enough others fetch', () => {
  const progress = progressOf()
  progress.heardFrom(voterOfScene(2), at(50))
  progress.heardFrom(voterOfScene(3), at(70))
  assert.equal(progress.majorityHeardMs(setOf(1, 2, 3), self, 10), 70)
  assert.equal(progress.majorityHeardMs(setOf(1, 2, 3, 4, 5), self, 10), 50)
  assert.equal(progress.majorityHeardMs(setOf(2, 3, 4), self, 10), 50)
  assert.equal(progress.majorityHeardMs(setOf(1, 4, 5), self, 10), 10)
  assert.equal(progress.majorityHeardMs(setOf(1), self, 10), Number.POSITIVE_INFINITY)
})

test('successors are named by the length of their logs', () => {
  const order = progressOf([3, 7], [2, 5]).byLogEndOffset(setOf(1, 2, 3, 4), self)
  assert.deepEqual(
    order.map(({ id }) => id),
    [3, 2, 4],
  )
})

test('observers that went away are no longer listed', () => {
  const progress = progressOf([2, 5], [7, 5])
  const idsAt = (ms: number) => progress.observers(setOf(1, 2), at(ms)).map(({ key }) => key.id)
  assert.deepEqual(idsAt(1), [7])
  assert.deepEqual(idsAt(300_001), [])
})
