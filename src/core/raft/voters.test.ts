import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zeroUuid } from '../../base/uuid.ts'
import { directoryOf, voterOfScene } from './simulation/scene.ts'
import { differByOneVoter, needsUpdate, VoterSet } from './voters.ts'

const three = new VoterSet([3, 1, 2].map(id => voterOfScene(id)))
const idsOf = (set: VoterSet | undefined) => set?.voters.map(({ id }) => id)

test('a set is in order of id and knows its majority', () => {
  assert.deepEqual(idsOf(three), [1, 2, 3])
  assert.deepEqual([three.majority, new VoterSet(three.voters.slice(1)).majority, new VoterSet([]).majority], [2, 2, 1])
})

test('the same node with another directory is another replica', () => {
  assert.ok(three.has({ id: 1, directoryId: directoryOf(1) }))
  assert.ok(!three.has({ id: 1, directoryId: directoryOf(9) }))
  assert.equal(three.without({ id: 1, directoryId: directoryOf(9) }), undefined)
})

test('a voter without a known directory is any replica of its id', () => {
  const unknown = new VoterSet([voterOfScene(1, zeroUuid)])
  assert.ok(unknown.has({ id: 1, directoryId: directoryOf(9) }))
  assert.ok(unknown.isOnly({ id: 1, directoryId: directoryOf(1) }))
})

test('sets change by making new ones', () => {
  assert.deepEqual(idsOf(three.with(voterOfScene(4))), [1, 2, 3, 4])
  assert.equal(three.with(voterOfScene(3, directoryOf(9))), undefined)
  assert.deepEqual(idsOf(three.without(voterOfScene(2))), [1, 3])
  assert.deepEqual(idsOf(three), [1, 2, 3])
  const moved = { ...voterOfScene(2), endpoints: [{ name: 'CONTROLLER', host: 'elsewhere', port: 1 }] }
  assert.equal(three.updated(moved)?.withId(2)?.endpoints[0].host, 'elsewhere')
  assert.equal(three.updated(voterOfScene(4)), undefined)
})

test('an id cannot be in a set twice', () => {
  assert.throws(() => new VoterSet([voterOfScene(1), voterOfScene(1, directoryOf(9))]), /once/)
})

test('sets that differ by more than one voter share no majority for sure', () => {
  assert.ok(differByOneVoter(three, three))
  assert.ok(differByOneVoter(three, three.with(voterOfScene(4))!))
  assert.ok(differByOneVoter(three.with(voterOfScene(4))!, three))
  assert.ok(!differByOneVoter(three, three.without(voterOfScene(1))!.with(voterOfScene(4))!))
  assert.ok(!differByOneVoter(three, three.without(voterOfScene(1))!.with(voterOfScene(1, directoryOf(9)))!))
})

test('an entry needs an update when the node says otherwise of itself', () => {
  const own = voterOfScene(1)
  assert.ok(!needsUpdate(own, { ...own, endpoints: [...own.endpoints] }))
  assert.ok(needsUpdate(voterOfScene(1, zeroUuid), own))
  assert.ok(needsUpdate(own, { ...own, endpoints: [{ ...own.endpoints[0], port: 1 }] }))
  assert.ok(needsUpdate(own, { ...own, kraftVersionFeature: { minSupportedVersion: 0, maxSupportedVersion: 2 } }))
})

test('a set survives its record', () => {
  assert.deepEqual(VoterSet.fromRecord(three.toRecord()), three)
})
