import assert from 'node:assert/strict'
import { test } from 'node:test'
import { voterOfScene } from './simulation/scene.ts'
import { Tally } from './tally.ts'
import { VoterSet } from './voters.ts'

const setOf = (...ids: number[]) => new VoterSet(ids.map(id => voterOfScene(id)))

test('a nominee needs a majority, its own vote included', () => {
  const tally = new Tally(setOf(1, 2, 3), voterOfScene(1))
  assert.ok(!tally.isGranted && !tally.isRejected)
  tally.record(2, true)
  assert.ok(tally.isGranted)
  assert.deepEqual(
    tally.grantingVoters.map(({ id }) => id),
    [1, 2],
  )
})

test('of four, two are no majority', () => {
  const tally = new Tally(setOf(1, 2, 3, 4), voterOfScene(1))
  tally.record(2, true)
  assert.ok(!tally.isGranted)
  tally.record(3, false)
  assert.ok(!tally.isRejected)
  tally.record(4, false)
  assert.ok(tally.isRejected)
})

test('who is not a voter does not count, nor the nominee itself then', () => {
  const tally = new Tally(setOf(2, 3, 4), voterOfScene(1))
  tally.record(9, true)
  tally.record(2, true)
  assert.ok(!tally.isGranted)
  assert.deepEqual(
    tally.unanswered(voterOfScene(1)).map(({ id }) => id),
    [3, 4],
  )
  tally.record(3, true)
  assert.ok(tally.isGranted)
})

test('a voter counts once, by its first answer', () => {
  const tally = new Tally(setOf(1, 2, 3), voterOfScene(1))
  tally.record(2, false)
  tally.record(2, true)
  assert.ok(!tally.isGranted)
})

test('an only voter has its majority at once', () => {
  assert.ok(new Tally(setOf(1), voterOfScene(1)).isGranted)
})
