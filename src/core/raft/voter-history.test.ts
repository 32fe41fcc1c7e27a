import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ControlRecord } from '../../protocol/control-record.ts'
import { directoryOf, voterOfScene } from './simulation/scene.ts'
import { VoterHistory } from './voter-history.ts'
import { VoterSet } from './voters.ts'

function votersRecord(...ids: number[]): ControlRecord {
  return { type: 'kraftVoters', value: new VoterSet(ids.map(id => voterOfScene(id))).toRecord() }
}
const version = (kraftVersion: number): ControlRecord => ({ type: 'kraftVersion', value: { version: 0, kraftVersion } })
const idsOf = (set: VoterSet | undefined) => set?.voters.map(({ id }) => id)

test('the newest set is in force from its append on, and the former one after a truncation', () => {
  const history = new VoterHistory(new VoterSet([]))
  history.append(-1, votersRecord(1))
  history.append(5, votersRecord(1, 2))
  history.append(9, votersRecord(1, 2, 3))
  assert.deepEqual([idsOf(history.voters), history.votersOffset, idsOf(history.previousVoters)], [[1, 2, 3], 9, [1, 2]])
  history.truncateTo(10)
  assert.equal(history.votersOffset, 9)
  history.truncateTo(9)
  assert.deepEqual([idsOf(history.voters), history.votersOffset], [[1, 2], 5])
  history.truncateTo(0)
  assert.deepEqual([idsOf(history.voters), history.votersOffset], [[1], -1])
})

test('kraft versions follow the log too', () => {
  const history = new VoterHistory(new VoterSet([]))
  assert.equal(history.kraftVersion, 0)
  history.append(3, version(1))
  assert.equal(history.kraftVersion, 1)
  history.truncateTo(3)
  assert.equal(history.kraftVersion, 0)
})

test('below a snapshot only the last set is kept', () => {
  const history = new VoterHistory(new VoterSet([]))
  history.append(1, votersRecord(1, 2))
  history.append(2, votersRecord(1, 2, 3))
  history.append(7, votersRecord(2, 3))
  history.trimBelow(5)
  history.truncateTo(7)
  assert.deepEqual(idsOf(history.voters), [1, 2, 3])
  assert.equal(history.previousVoters, undefined)
})

test('a snapshot says what was in force at its end, not what came after', () => {
  const history = new VoterHistory(new VoterSet([voterOfScene(7)]))
  assert.deepEqual(history.recordsAt(0), [])
  history.append(4, version(1))
  history.append(5, votersRecord(1, 2, 3))
  history.append(9, votersRecord(1, 2))
  assert.deepEqual(history.recordsAt(4), [])
  assert.deepEqual(history.recordsAt(9), [version(1), votersRecord(1, 2, 3)])
  assert.deepEqual(history.recordsAt(10), [version(1), votersRecord(1, 2)])
})

test('a loaded snapshot replaces what was known, and without voters leaves the configured ones', () => {
  const history = new VoterHistory(new VoterSet([voterOfScene(7)]))
  history.append(2, votersRecord(1, 2, 3))
  history.loadSnapshot(20, [version(1), votersRecord(1, 2)])
  assert.deepEqual([idsOf(history.voters), history.votersOffset, history.kraftVersion], [[1, 2], 19, 1])
  history.loadSnapshot(30, [])
  assert.deepEqual([idsOf(history.voters), history.kraftVersion], [[7], 0])
})

test('who was a voter is remembered beyond the snapshot, who never became one is not', () => {
  const history = new VoterHistory(new VoterSet([]))
  history.append(1, votersRecord(1, 2))
  history.append(2, votersRecord(1))
  history.append(3, votersRecord(1, 3))
  assert.ok(history.hasListed(voterOfScene(3)))
  history.truncateTo(3)
  history.trimBelow(3)
  assert.ok(history.hasListed(voterOfScene(2)))
  assert.ok(!history.hasListed(voterOfScene(3)))
  assert.ok(!history.hasListed(voterOfScene(2, directoryOf(9))))
})
