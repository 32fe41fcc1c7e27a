import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zeroUuid } from '../../base/uuid.ts'
import { FetchSession, type WantedPartition } from './fetch-session.ts'

function wanted(partition: number, fetchOffset = 0, more: Partial<WantedPartition> = {}): WantedPartition {
  const topicId = 'AAAAAAAAAAAAAAAAAAAABQ'
  return { topic: 't', topicId, partition, fetchOffset, currentLeaderEpoch: 1, partitionMaxBytes: 100, ...more }
}

const numbers = (partitions: readonly { partition: number }[]) => partitions.map(({ partition }) => partition)

test('the first request opens a session with everything, later ones say what has changed', () => {
  const session = new FetchSession()
  const first = session.next([wanted(0), wanted(1)])
  assert.deepEqual([first.sessionId, first.sessionEpoch, numbers(first.partitions)], [0, 0, [0, 1]])
  session.answered(55)
  const second = session.next([wanted(0), wanted(1, 7)])
  assert.deepEqual([second.sessionId, second.sessionEpoch, numbers(second.partitions)], [55, 1, [1]])
  session.answered(55)
  const third = session.next([wanted(1, 7), wanted(2)])
  assert.deepEqual([third.sessionEpoch, numbers(third.partitions), numbers(third.forgotten)], [2, [2], [0]])
})

test('a new leader epoch or size is a change', () => {
  const session = new FetchSession()
  session.next([wanted(0), wanted(1)])
  session.answered(1)
  const changed = session.next([wanted(0, 0, { currentLeaderEpoch: 2 }), wanted(1, 0, { partitionMaxBytes: 5 })])
  assert.deepEqual(numbers(changed.partitions), [0, 1])
})

test('after a failure the old session is closed and a new one opened, with everything', () => {
  const session = new FetchSession()
  session.next([wanted(0)])
  session.answered(9)
  session.next([wanted(0, 1)])
  session.failed()
  const again = session.next([wanted(0, 1)])
  assert.deepEqual([again.sessionId, again.sessionEpoch, numbers(again.partitions)], [9, 0, [0]])
  assert.deepEqual(again.forgotten, [])
})

test('a broker that keeps no session is always told everything', () => {
  const session = new FetchSession()
  session.next([wanted(0)])
  session.answered(0)
  const next = session.next([wanted(0)])
  assert.deepEqual([next.sessionId, next.sessionEpoch, numbers(next.partitions)], [0, 0, [0]])
})

test('a topic that was created anew replaces the one of the same name', () => {
  const session = new FetchSession()
  session.next([wanted(0)])
  session.answered(1)
  const next = session.next([wanted(0, 0, { topicId: 'AAAAAAAAAAAAAAAAAAAABg' })])
  assert.equal(next.partitions[0].topicId, 'AAAAAAAAAAAAAAAAAAAABg')
  assert.equal(next.forgotten[0].topicId, 'AAAAAAAAAAAAAAAAAAAABQ')
})

test('topics without ids are told apart by name', () => {
  const session = new FetchSession()
  const named = (topic: string) => wanted(0, 0, { topic, topicId: zeroUuid })
  session.next([named('a'), named('b')])
  session.answered(1)
  const next = session.next([named('b')])
  assert.deepEqual([next.partitions, next.forgotten.map(({ topic }) => topic)], [[], ['a']])
})

test('after the largest epoch comes 1', () => {
  const session = new FetchSession()
  session.next([])
  for (let i = 0; i < 3; i++) session.answered(1)
  assert.equal(session.next([]).sessionEpoch, 3)
})
