import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { leadingNode, loneNode } from './simulation/lone-node.ts'
import { addVoter, fetchFrom, updateVoter } from './simulation/peer-requests.ts'
import { directoryOf, type Player } from './simulation/scene.ts'

const staticVoters = { voters: 3, isStatic: true } as const

/** Leads epoch 4 of a quorum of static voters, with its LeaderChange at 10 committed; these voters have told it of themselves. */
function leader(...told: readonly number[]): Player {
  const node = leadingNode({}, staticVoters)
  for (const id of [2, 3]) node.ask(fetchFrom(id, { epoch: 4, log: [11, 4] }))
  for (const id of told) node.ask(updateVoter(id, 4))
  return node
}

function upgrade(
  node: Player,
  over: { kraftVersion?: number; leaderEpoch?: number; validateOnly?: boolean } = {},
): void {
  const asked = { upgradeId: 7, leaderEpoch: 4, kraftVersion: 1, validateOnly: false, ...over }
  node.handle({ type: 'upgradeKraftVersion', ...asked })
}

/** Of the upgrades that were answered. */
function codes(node: Player): number[] {
  return node.effects.flatMap(effect => (effect.type === 'kraftVersionUpgraded' ? [effect.errorCode] : []))
}

const keysOf = (node: Player) => node.quorum?.voters.voters.map(({ id, directoryId }) => [id, directoryId])
const upgradedKeys = [1, 2, 3].map(id => [id, directoryOf(id)])

test('kraft.version 0 becomes 1 with the same voters in the log, in force when appended, answered when committed', () => {
  const node = leader(2, 3)
  upgrade(node)
  const batch = node.effects.findLast(effect => effect.type === 'append')?.batch
  assert.deepEqual(batch?.type === 'control' && batch.records.map(({ type }) => type), ['kraftVersion', 'kraftVoters'])
  assert.deepEqual([node.quorum?.kraftVersion, keysOf(node), codes(node)], [1, upgradedKeys, []])
  node.ask(fetchFrom(2, { epoch: 4, log: [13, 4] }))
  assert.deepEqual([codes(node), node.quorum?.highWatermark], [[ErrorCode.none], 13])
})

test('after it another directory of a voter is another replica, and voters can be added', () => {
  const node = leader(2, 3)
  upgrade(node)
  node.ask(fetchFrom(2, { epoch: 4, log: [13, 4], directoryId: directoryOf(9) }))
  assert.equal(node.quorum?.highWatermark, 11)
  node.ask(fetchFrom(3, { epoch: 4, log: [13, 4] }))
  assert.equal(node.quorum?.highWatermark, 13)
  assert.equal(node.ask(addVoter(4)), undefined, 'it is taken, and the new voter is asked what it supports')
})

test('an upgrade that was made is nothing to do', () => {
  const node = leader(2, 3)
  upgrade(node)
  node.ask(fetchFrom(2, { epoch: 4, log: [13, 4] }))
  const appends = () => node.effects.filter(({ type }) => type === 'append').length
  const before = appends()
  upgrade(node)
  assert.deepEqual([codes(node), appends()], [[ErrorCode.none, ErrorCode.none], before])
})

test('validation says what an upgrade would, and changes nothing', () => {
  const node = leader(2, 3)
  upgrade(node, { validateOnly: true })
  assert.deepEqual([codes(node), node.quorum?.kraftVersion], [[ErrorCode.none], 0])
  const unready = leader(2)
  upgrade(unready, { validateOnly: true })
  assert.deepEqual(codes(unready), [ErrorCode.invalidUpdateVersion])
})

test('an upgrade is refused for a reason', () => {
  const lacking = leader(2)
  lacking.ask(updateVoter(3, 4, { maxSupportedVersion: 0 }))
  // It has told of itself, and then came back with another directory.
  const replaced = leader(2, 3)
  replaced.scene.advance(1)
  replaced.ask(fetchFrom(3, { epoch: 4, log: [11, 4], directoryId: directoryOf(9) }))
  const cases: [what: string, node: Player, over: Parameters<typeof upgrade>[1], code: number][] = [
    ['not told by all', leader(2), {}, ErrorCode.invalidUpdateVersion],
    ['not supported by all', lacking, {}, ErrorCode.invalidUpdateVersion],
    ['a version that there is not', leader(2, 3), { kraftVersion: 2 }, ErrorCode.invalidUpdateVersion],
    ['a voter with another directory', replaced, {}, ErrorCode.invalidUpdateVersion],
    ['another epoch', leader(2, 3), { leaderEpoch: 3 }, ErrorCode.notLeaderOrFollower],
    ['nobody leads', loneNode({}, staticVoters), { leaderEpoch: 3 }, ErrorCode.notLeaderOrFollower],
    ['nothing committed yet', leadingNode({}, staticVoters), {}, ErrorCode.requestTimedOut],
  ]
  for (const [what, node, over, code] of cases) {
    upgrade(node, over)
    const answered = node.effects.find(effect => effect.type === 'kraftVersionUpgraded')
    assert.equal(answered?.errorCode, code, what)
    assert.ok(answered?.message, what)
    assert.equal(node.quorum?.kraftVersion, 0, what)
  }
})

test('it cannot be lowered', () => {
  const node = leadingNode()
  for (const id of [2, 3]) node.ask(fetchFrom(id, { epoch: 4, log: [11, 4] }))
  upgrade(node, { kraftVersion: 0 })
  assert.deepEqual([node.quorum?.kraftVersion, codes(node)], [1, [ErrorCode.invalidUpdateVersion]])
})

test('one at a time, and a leadership that ends answers it', () => {
  const node = leader(2, 3)
  upgrade(node)
  upgrade(node)
  assert.deepEqual(codes(node), [ErrorCode.requestTimedOut])
  node.handle({ type: 'resign', leaderEpoch: 4 })
  assert.deepEqual(codes(node), [ErrorCode.requestTimedOut, ErrorCode.notLeaderOrFollower])
})

test('an only voter upgrades by itself', () => {
  const node = loneNode({}, { voters: 1, isStatic: true })
  upgrade(node, { leaderEpoch: node.quorum!.epoch })
  assert.deepEqual(
    [codes(node), node.quorum?.kraftVersion, keysOf(node)],
    [[ErrorCode.none], 1, upgradedKeys.slice(0, 1)],
  )
})
