import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../../base/error-code.ts'
import { GroupUnderTest, subscriptionTo } from '../group-under-test.ts'

const protocols = (...names: string[]) => ({ protocols: names.map(name => ({ name, metadata: subscriptionTo('t') })) })

test('W4: versions 0 to 3 join at once, and the group forms', () => {
  for (const version of [0, 1, 2, 3]) {
    const group = new GroupUnderTest()
    const join = group.join('g', '', {}, version)
    group.advance(0)
    const joined = join.get()
    assert.equal(joined.errorCode, ErrorCode.none)
    assert.equal(joined.generationId, 1)
    assert.equal(joined.leader, joined.memberId)
    assert.equal(joined.protocolName, 'range')
    assert.equal(joined.members.length, 1)
    const sync = group.sync('g', 1, joined.memberId, { [joined.memberId]: 'mine' }, {}, Math.min(version, 3))
    assert.equal(sync.get().assignment?.toString(), 'mine')
  }
})

test('version 0 has one timeout for both', () => {
  const group = new GroupUnderTest()
  group.join('g', '', { sessionTimeoutMs: 7000, rebalanceTimeoutMs: -1 }, 0)
  group.advance(0)
  const [, record] = [group.sync('g', 1, group.describe('g').members[0].memberId), ...group.lastRecords()]
  assert.ok(record.type === 'groupMetadata')
  assert.equal(record.value?.members[0].rebalanceTimeoutMs, 7000)
})

test('from version 4 on a dynamic member is given its id first', () => {
  const group = new GroupUnderTest()
  const first = group.join('g', '', { clientId: 'app' }, 4).get()
  assert.equal(first.errorCode, ErrorCode.memberIdRequired)
  assert.match(first.memberId, /^app-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(group.describe('g').groupState, 'Empty')
  const second = group.join('g', first.memberId, {}, 4)
  group.advance(0)
  assert.equal(second.get().memberId, first.memberId)
})

test('a group exists once it is stored: a new one is stored empty, before anyone is answered', () => {
  const group = new GroupUnderTest()
  group.holdsCommits = true
  const join = group.join('g', '')
  assert.equal(join.isAnswered, false)
  const [record] = group.lastRecords()
  assert.ok(record.type === 'groupMetadata' && record.value?.generationId === 0)
  group.commit()
  assert.equal(join.get().errorCode, ErrorCode.memberIdRequired)
})

test('a join that cannot be stored leaves no group and no member behind', () => {
  const group = new GroupUnderTest()
  group.log.refusal = ErrorCode.notEnoughReplicas
  assert.equal(group.join('g', '').get().errorCode, ErrorCode.coordinatorNotAvailable)
  assert.equal(group.describe('g').errorCode, ErrorCode.groupIdNotFound)
})

test('what is wrong with a join is said in the order in which Kafka checks it', () => {
  const group = new GroupUnderTest()
  const codes = [
    group.join('', 'm', { sessionTimeoutMs: 1 }),
    group.join('g', 'm', { sessionTimeoutMs: 5999 }),
    group.join('g', '', { sessionTimeoutMs: 1_800_001 }),
    group.join('g', 'm', protocols()),
    group.join('g', '', protocols()),
    group.join('g', '', { protocolType: '' }),
  ].map(join => join.get().errorCode)
  assert.deepEqual(codes, [
    ErrorCode.invalidGroupId,
    ErrorCode.invalidSessionTimeout,
    ErrorCode.invalidSessionTimeout,
    ErrorCode.unknownMemberId,
    ErrorCode.inconsistentGroupProtocol,
    ErrorCode.inconsistentGroupProtocol,
  ])
  assert.equal(group.describe('g').errorCode, ErrorCode.groupIdNotFound, 'a refused join makes no group')
})

test('strings that no record can carry fail their request and nothing else', () => {
  const group = new GroupUnderTest()
  const long = 'x'.repeat(0x7fff + 1)
  assert.equal(group.join(long, '').get().errorCode, ErrorCode.unknownServerError)
  assert.equal(group.join('g', '', { clientId: long.slice(10) }).get().errorCode, ErrorCode.unknownServerError)
  assert.equal(group.join('g', '', { groupInstanceId: long }).get().errorCode, ErrorCode.unknownServerError)
  const fields = { protocols: [{ name: long, metadata: subscriptionTo('t') }] }
  group.join('g', group.newMemberId('g', fields), fields)
  group.advance(0)
  const [{ memberId }] = group.describe('g').members
  const sync = group.sync('g', 1, memberId, {}, { protocolName: long })
  assert.equal(sync.get().errorCode, ErrorCode.unknownServerError)
  assert.deepEqual(group.offsetCommit(long, { 0: 1 }).get(), [ErrorCode.unknownServerError])
  assert.equal(group.stableGroup('other', 1).length, 1)
})

test('members agree on type and have a protocol in common; most of their first choices wins', () => {
  const group = new GroupUnderTest()
  group.stableGroup('g', 1, protocols('a', 'b', 'c'))
  assert.equal(group.join('g', '', protocols('d')).get().errorCode, ErrorCode.inconsistentGroupProtocol)
  const other = group.join('g', '', { ...protocols('a'), protocolType: 'connect' })
  assert.equal(other.get().errorCode, ErrorCode.inconsistentGroupProtocol)
  const [leader] = group.describe('g').members
  const joins = [protocols('b', 'c', 'a'), protocols('c', 'b', 'a'), protocols('b', 'a')].map(fields =>
    group.join('g', group.newMemberId('g', fields), fields),
  )
  group.join('g', leader.memberId, protocols('a', 'b', 'c'))
  assert.equal(joins[0].get().protocolName, 'b')
})

test('before version 7 no protocol is an empty name, later it is null', () => {
  const group = new GroupUnderTest()
  assert.equal(group.join('g', 'm', {}, 6).get().protocolName, '')
  assert.equal(group.join('g', 'm', {}, 7).get().protocolName, null)
})

test('only the leader learns who the members are, with what they said for the chosen protocol', () => {
  const group = new GroupUnderTest()
  const ids = [group.newMemberId('g'), group.newMemberId('g')]
  const joins = ids.map((id, i) =>
    group.join('g', id, { protocols: [{ name: 'range', metadata: subscriptionTo(`t${i}`) }] }),
  )
  group.advance(0)
  const [leader, follower] = joins.map(join => join.get())
  assert.equal(leader.leader, ids[0])
  assert.equal(follower.leader, ids[0])
  assert.deepEqual(follower.members, [])
  assert.deepEqual(
    leader.members.map(({ memberId, metadata }) => [memberId, metadata?.toString('hex')]),
    ids.map((id, i) => [id, subscriptionTo(`t${i}`).toString('hex')]),
  )
})

test('W20, A7: members that join at the same moment are all in the first generation', () => {
  const group = new GroupUnderTest({ initialRebalanceDelayMs: 3000 })
  const ids = [1, 2, 3].map(() => group.newMemberId('g'))
  const joins = ids.map(id => group.join('g', id))
  group.advance(6000)
  const joined = joins.map(join => join.get())
  assert.deepEqual(
    joined.map(({ errorCode, generationId }) => [errorCode, generationId]),
    [
      [0, 1],
      [0, 1],
      [0, 1],
    ],
  )
  const followers = [group.sync('g', 1, ids[1]), group.sync('g', 1, ids[2])]
  assert.ok(
    followers.every(sync => !sync.isAnswered),
    'W19: nothing is said before the leader has',
  )
  const assignments = Object.fromEntries(ids.map(id => [id, `for ${id}`]))
  const leader = group.sync('g', 1, ids[0], assignments)
  const said = [leader, ...followers].map(sync => sync.get())
  assert.deepEqual(
    said.map(({ assignment }) => assignment?.toString()),
    ids.map(id => `for ${id}`),
  )
  assert.equal(group.leave('g', [{ memberId: ids[2] }]).errorCode, ErrorCode.none)
  for (const id of ids.slice(0, 2)) {
    assert.equal(group.heartbeat('g', 1, id), ErrorCode.rebalanceInProgress)
    group.join('g', id)
  }
  assert.equal(group.describe('g').groupState, 'CompletingRebalance')
  assert.deepEqual(
    ids.slice(0, 2).map(id => group.heartbeat('g', 2, id)),
    [ErrorCode.none, ErrorCode.none],
  )
})

test('the first rebalance waits, longer when members keep coming, and not beyond the rebalance timeout', () => {
  const group = new GroupUnderTest({ initialRebalanceDelayMs: 3000 })
  const first = group.join('g', group.newMemberId('g'), { rebalanceTimeoutMs: 7000 })
  group.advance(2999)
  const second = group.join('g', group.newMemberId('g'), { rebalanceTimeoutMs: 7000 })
  group.advance(2)
  assert.equal(first.isAnswered, false, 'a member came, so it waits once more')
  group.advance(2500)
  group.join('g', group.newMemberId('g'), { rebalanceTimeoutMs: 7000 })
  group.advance(1498)
  assert.equal(first.isAnswered, false)
  group.advance(1)
  assert.equal(first.get().members.length, 3)
  assert.equal(second.get().generationId, 1)
})

test('a member that asks again is told the generation, unless it says something new', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = group.stableGroup('g', 2)
  const again = group.join('g', follower).get()
  assert.deepEqual([again.errorCode, again.generationId, again.members], [0, 1, []])
  assert.equal(group.describe('g').groupState, 'Stable')
  const changed = group.join('g', follower, { protocols: [{ name: 'range', metadata: subscriptionTo('u') }] })
  assert.equal(changed.isAnswered, false)
  assert.equal(group.describe('g').groupState, 'PreparingRebalance')
  group.join('g', leader)
  assert.equal(changed.get().generationId, 2)
  const duringSync = group.join('g', leader).get()
  assert.deepEqual([duringSync.generationId, duringSync.members.length], [2, 2])
})

test('a leader that joins a stable group again starts a rebalance', () => {
  const group = new GroupUnderTest()
  const [leader, follower] = group.stableGroup('g', 2)
  const join = group.join('g', leader)
  assert.equal(join.isAnswered, false)
  assert.equal(group.heartbeat('g', 1, follower), ErrorCode.rebalanceInProgress)
})

test('members that do not come back in time are removed, and the first that did leads', () => {
  const group = new GroupUnderTest()
  const [, follower, other] = group.stableGroup('g', 3, { rebalanceTimeoutMs: 20_000, sessionTimeoutMs: 30_000 })
  const fields = {
    rebalanceTimeoutMs: 20_000,
    sessionTimeoutMs: 30_000,
    protocols: [{ name: 'range', metadata: subscriptionTo('u') }],
  }
  const join = group.join('g', other, fields)
  group.advance(19_999)
  assert.equal(join.isAnswered, false)
  group.advance(1)
  assert.deepEqual([join.get().leader, join.get().members.length], [other, 1])
  assert.equal(group.heartbeat('g', 1, follower), ErrorCode.unknownMemberId)
})

test('a repeated join answers the first one too', () => {
  const group = new GroupUnderTest()
  const [, follower] = group.stableGroup('g', 2)
  const fields = { protocols: [{ name: 'range', metadata: subscriptionTo('u') }] }
  const first = group.join('g', follower, fields)
  const second = group.join('g', follower, fields)
  assert.equal(first.get().errorCode, ErrorCode.rebalanceInProgress)
  assert.equal(second.isAnswered, false)
})

test('an id that nobody comes back with is forgotten after its session timeout', () => {
  const group = new GroupUnderTest()
  const memberId = group.newMemberId('g')
  group.advance(9999)
  assert.equal(group.describe('g').groupState, 'Empty')
  group.advance(1)
  assert.equal(group.join('g', memberId).get().errorCode, ErrorCode.unknownMemberId)
})

test('a rebalance waits for ids that were given out', () => {
  const group = new GroupUnderTest()
  const [leader] = group.stableGroup('g', 1)
  const newcomer = group.newMemberId('g', { sessionTimeoutMs: 8000 })
  const join = group.join('g', leader)
  assert.equal(join.isAnswered, false)
  group.advance(8000)
  assert.deepEqual([join.get().generationId, join.get().members.length], [2, 1])
  assert.equal(group.join('g', newcomer).get().errorCode, ErrorCode.unknownMemberId)
})

test('a newcomer whose join has waited for five minutes is told to start anew', () => {
  const group = new GroupUnderTest()
  const fields = { rebalanceTimeoutMs: 900_000, sessionTimeoutMs: 1_000_000 }
  group.stableGroup('g', 1, fields)
  const join = group.join('g', group.newMemberId('g', fields), { ...fields, sessionTimeoutMs: 6000 })
  group.advance(299_999)
  assert.equal(join.isAnswered, false)
  group.advance(1)
  assert.equal(join.get().errorCode, ErrorCode.unknownMemberId)
})

test('a full group takes no more members, and lets its own rejoin', () => {
  const group = new GroupUnderTest({ maxSize: 2 })
  const [leader, follower] = group.stableGroup('g', 2)
  assert.equal(group.join('g', '').get().errorCode, ErrorCode.groupMaxSizeReached)
  const rejoined = [group.join('g', leader), group.join('g', follower)]
  assert.deepEqual(
    rejoined.map(join => join.get().errorCode),
    [ErrorCode.none, ErrorCode.none],
  )
})

test('a group that is over a lowered maximum rebalances when loaded, and the last to come are left out', () => {
  const large = new GroupUnderTest()
  const ids = large.stableGroup('g', 3)
  const group = new GroupUnderTest({ maxSize: 2 })
  for (const batch of large.log.batches) group.log.appendForeign(Buffer.from(batch))
  group.commit()
  group.reload()
  assert.equal(group.heartbeat('g', 1, ids[0]), ErrorCode.rebalanceInProgress)
  const joins = ids.map(id => group.join('g', id))
  assert.deepEqual(
    joins.map(join => join.get().errorCode),
    [ErrorCode.none, ErrorCode.none, ErrorCode.groupMaxSizeReached],
  )
  assert.equal(group.describe('g').members.length, 2)
})

test("what a member says is kept in memory of the coordinator's own", () => {
  const group = new GroupUnderTest()
  const metadata = subscriptionTo('t')
  const fields = { protocols: [{ name: 'range', metadata }] }
  const id = group.newMemberId('g', fields)
  const join = group.join('g', id, fields)
  metadata.fill(0xff)
  group.advance(0)
  assert.equal(join.get().members[0].metadata?.toString('hex'), subscriptionTo('t').toString('hex'))
})
