import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ErrorCode } from '../../src/base/error-code.ts'
import { decodeAssignment } from '../../src/protocol/consumer-protocol.ts'
import type { Infer } from '../../src/protocol/schema.ts'
import { startBroker, type TestBroker } from '../../src/testing/index.ts'
import { Patience } from '../compatibility/patience.ts'
import { api } from './api.ts'
import { RawClient } from './raw-client.ts'
import {
  append,
  assignment,
  createTopic,
  type JoinOptions,
  join,
  joinBody,
  soleMember,
  subscription,
} from './requests.ts'

let broker: TestBroker
let client: RawClient

before(async () => {
  const overrides = { 'offsets.topic.num.partitions': '3', 'group.min.session.timeout.ms': '100' }
  broker = await startBroker({ topics: { orders: 4 }, overrides })
  client = await RawClient.connect({ port: broker.port })
  await client.call(api.findCoordinator, 0, { key: 'g' })
})

after(async () => {
  client.close()
  await broker.close()
})

async function connect(): Promise<RawClient> {
  return await RawClient.connect({ port: broker.port })
}

async function stateOf(groupId: string) {
  const { groups } = await client.call(api.describeGroups, 5, { groups: [groupId] })
  return groups[0]
}

test('a client of the first version of JoinGroup gets its partitions', async () => {
  for (const version of [0, 1]) {
    using old = await connect()
    const groupId = `old-${version}`
    const { errorCode, memberId, generationId, leader } = await old.call(
      api.joinGroup,
      version,
      joinBody(groupId, { version }),
    )
    assert.deepEqual([errorCode, leader], [ErrorCode.none, memberId])
    const synced = await old.call(api.syncGroup, 0, {
      ...{ groupId, generationId, memberId },
      assignments: [{ memberId, assignment: assignment({ orders: [0, 1, 2, 3] }) }],
    })
    assert.deepEqual(decodeAssignment(synced.assignment).assignedPartitions, [
      { topic: 'orders', partitions: [0, 1, 2, 3] },
    ])
    const beat = await old.call(api.heartbeat, 0, { groupId, generationId, memberId })
    assert.equal(beat.errorCode, ErrorCode.none)
  }
})

/** A member that does as a client does: joins, assigns if it leads, and joins again when the group rebalances. */
class Consumer {
  readonly #client: RawClient
  readonly #groupId: string
  memberId = ''
  generationId = -1
  partitions: readonly number[] = []
  /** Answers that a live member should never get. */
  readonly surprises: string[] = []

  constructor(own: RawClient, groupId: string) {
    this.#client = own
    this.#groupId = groupId
  }

  async enter(): Promise<void> {
    for (;;) {
      const joined = await join(this.#client, this.#groupId, { memberId: this.memberId, rebalanceTimeoutMs: 10_000 })
      if (joined.errorCode !== ErrorCode.none) {
        this.surprises.push(`JoinGroup ${joined.errorCode}`)
        return
      }
      this.memberId = joined.memberId
      this.generationId = joined.generationId
      const synced = await this.#sync(joined)
      if (synced.errorCode === ErrorCode.rebalanceInProgress) continue
      if (synced.errorCode !== ErrorCode.none) {
        this.surprises.push(`SyncGroup ${synced.errorCode}`)
        return
      }
      this.partitions = decodeAssignment(synced.assignment).assignedPartitions[0].partitions
      return
    }
  }

  async heartbeat(): Promise<number> {
    const { generationId, memberId } = this
    const { errorCode } = await this.#client.call(api.heartbeat, 4, { groupId: this.#groupId, generationId, memberId })
    return errorCode
  }

  async leave(): Promise<void> {
    const { memberId } = this
    await this.#client.call(api.leaveGroup, 4, { groupId: this.#groupId, members: [{ memberId }] })
  }

  async #sync({ generationId, memberId, members }: Infer<typeof api.joinGroup.response>) {
    const assignments = members.map((member, index) => ({
      memberId: member.memberId,
      assignment: assignment({ orders: [0, 1, 2, 3].filter(partition => partition % members.length === index) }),
    }))
    return await this.#client.call(api.syncGroup, 4, { groupId: this.#groupId, generationId, memberId, assignments })
  }
}

test('three members that join at the same moment and one that leaves: each partition is owned once, nobody is unknown', async () => {
  const clients = await Promise.all([connect(), connect(), connect()])
  for (let round = 0; round < 5; round++) {
    const consumers = clients.map(one => new Consumer(one, `together-${round}`))
    await Promise.all(consumers.map(one => one.enter()))
    await settle(consumers)
    assert.deepEqual(ownedBy(consumers), [0, 1, 2, 3])
    await consumers[round % 3].leave()
    const left = consumers.filter((_, index) => index !== round % 3)
    await settle(left)
    assert.deepEqual(ownedBy(left), [0, 1, 2, 3])
    assert.deepEqual(
      consumers.flatMap(one => one.surprises),
      [],
    )
  }
  for (const one of clients) one.close()
})

/** Until all members are in one generation and hear nothing of a rebalance. */
async function settle(consumers: readonly Consumer[]): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    const beats = await Promise.all(consumers.map(one => one.heartbeat()))
    if (beats.every(code => code === ErrorCode.none)) return
    await Promise.all(
      consumers.map(async (one, index) => {
        if (beats[index] === ErrorCode.rebalanceInProgress || beats[index] === ErrorCode.illegalGeneration) {
          await one.enter()
        } else if (beats[index] !== ErrorCode.none) one.surprises.push(`Heartbeat ${beats[index]}`)
      }),
    )
  }
  assert.fail('the group does not settle')
}

function ownedBy(consumers: readonly Consumer[]): number[] {
  return consumers.flatMap(one => one.partitions).sort()
}

test('a member that waits for the leader gets what the leader assigned, and not before', async () => {
  using first = await connect()
  using second = await connect()
  const groupId = 'waits-for-leader'
  const one = await join(first, groupId)
  const joining = join(second, groupId)
  // The first hears of it with its heartbeat, and joins again.
  await until(async () => {
    const { errorCode } = await first.call(api.heartbeat, 4, { ...one, groupId })
    return errorCode === ErrorCode.rebalanceInProgress
  })
  const again = await join(first, groupId, { memberId: one.memberId })
  const other = await joining
  const [leader, follower] = again.leader === again.memberId ? [again, other] : [other, again]
  const [leading, following] = leader === again ? [first, second] : [second, first]
  assert.equal(follower.members.length, 0)
  const { generationId } = leader
  const waiting = following.call(api.syncGroup, 4, {
    groupId,
    generationId,
    memberId: follower.memberId,
    assignments: [],
  })
  const early = await Promise.race([waiting, new Promise(resolve => setTimeout(resolve, 50))])
  assert.equal(early, undefined)
  const assignments = [
    { memberId: leader.memberId, assignment: assignment({ orders: [0] }) },
    { memberId: follower.memberId, assignment: assignment({ orders: [1] }) },
  ]
  await leading.call(api.syncGroup, 4, { groupId, generationId, memberId: leader.memberId, assignments })
  assert.deepEqual((await waiting).assignment, assignment({ orders: [1] }))
})

test('a static member comes back without a rebalance, with its partitions and with everything it now says', async () => {
  await Promise.all([5, 6, 7, 8, 9].map(version => comesBack(version)))
})

async function comesBack(version: number): Promise<void> {
  using first = await connect()
  const groupId = `static-${version}`
  const options: JoinOptions = { groupInstanceId: 'instance-1', sessionTimeoutMs: 30_000, version }
  const before = await join(first, groupId, options)
  assert.equal(before.errorCode, ErrorCode.none)
  const { generationId } = before
  const given = assignment({ orders: [0, 1, 2, 3] })
  const syncVersion = Math.min(5, version - 2)
  const sync = async (from: RawClient, memberId: string) =>
    await from.call(api.syncGroup, syncVersion, {
      ...{ groupId, generationId, memberId, groupInstanceId: 'instance-1' },
      ...(syncVersion >= 5 ? { protocolType: 'consumer', protocolName: 'range' } : {}),
      assignments: [{ memberId, assignment: given }],
    })
  assert.equal((await sync(first, before.memberId)).errorCode, ErrorCode.none)

  using second = await RawClient.connect({ port: broker.port, clientId: 'restarted', host: '::1' })
  const now = { ...options, sessionTimeoutMs: 20_000, rebalanceTimeoutMs: 300, topics: ['orders', 'more'] }
  const returned = await join(second, groupId, now)
  assert.deepEqual([returned.errorCode, returned.generationId], [ErrorCode.none, generationId])
  assert.notEqual(returned.memberId, before.memberId)
  const { assignment: kept, errorCode } = await sync(second, returned.memberId)
  assert.deepEqual([errorCode, kept], [ErrorCode.none, given])
  const { members, groupState } = await stateOf(groupId)
  assert.equal(groupState, 'Stable')
  assert.deepEqual(
    members.map(({ memberId, clientId, clientHost, groupInstanceId, memberMetadata }) => ({
      ...{ memberId, clientId, groupInstanceId, memberMetadata, isIpv6: clientHost.includes(':') },
    })),
    [
      {
        ...{ memberId: returned.memberId, clientId: 'restarted', groupInstanceId: 'instance-1' },
        ...{ memberMetadata: subscription(['orders', 'more']), isIpv6: true },
      },
    ],
  )
  // Whoever had that name before is told so.
  const fenced = await first.call(api.heartbeat, 4, {
    ...{ groupId, generationId, memberId: before.memberId, groupInstanceId: 'instance-1' },
  })
  assert.equal(fenced.errorCode, ErrorCode.fencedInstanceId)
  // The new rebalance timeout is in force: who joins now waits no longer for the other than it allows.
  const began = performance.now()
  const newcomer = await join(first, groupId, { sessionTimeoutMs: 30_000, rebalanceTimeoutMs: 300 })
  assert.deepEqual([newcomer.errorCode, newcomer.generationId], [ErrorCode.none, generationId + 1])
  assert.ok(performance.now() - began < 10_000)
  await first.call(api.leaveGroup, 4, { groupId, members: [{ memberId: newcomer.memberId }] })
  // So is a new session timeout: without heartbeats the member is gone after a second, not after twenty.
  assert.equal((await join(second, groupId, { ...now, sessionTimeoutMs: 1000 })).errorCode, ErrorCode.none)
  await until(async () => (await stateOf(groupId)).groupState === 'Empty')
}

test('offsets of a missing group, topic or partition are -1 without an error, and asking makes no group', async () => {
  await soleMember(client, 'present', { topics: ['orders'] })
  const { topicId } = await createTopic(client, 'asked-for')
  for (let version = 1; version <= 10; version++) {
    for (const groupId of ['absent', 'present']) {
      const name = version >= 10 ? { topicId } : { name: 'nowhere' }
      const topics = [{ ...name, partitionIndexes: [0, 99] }]
      const answer = await client.call(
        api.offsetFetch,
        version,
        version >= 8
          ? { groups: [{ groupId, topics }] }
          : { groupId, topics: [{ name: 'nowhere', partitionIndexes: [0, 99] }] },
      )
      const group = version >= 8 ? answer.groups[0] : answer
      assert.equal(group.errorCode, ErrorCode.none)
      assert.deepEqual(
        group.topics[0].partitions.map(({ partitionIndex, committedOffset, metadata, errorCode }) => ({
          ...{ partitionIndex, committedOffset, metadata, errorCode },
        })),
        [0, 99].map(partitionIndex => ({
          partitionIndex,
          committedOffset: -1,
          metadata: '',
          errorCode: ErrorCode.none,
        })),
      )
    }
  }
  const { groups } = await client.call(api.listGroups, 4, {})
  assert.ok(!groups.some(group => group.groupId === 'absent'))
})

test('the leader epoch of a committed offset comes back whether topics are named or all are asked for', async () => {
  const groupId = 'epochs'
  const committed = { partitionIndex: 1, committedOffset: 7, committedLeaderEpoch: 3, committedMetadata: 'm' }
  await client.call(api.offsetCommit, 9, {
    groupId,
    memberId: '',
    topics: [{ name: 'orders', partitions: [committed] }],
  })
  const described = await client.call(api.metadata, 12, { topics: [{ name: 'orders' }] })
  const { topicId } = described.topics[0]
  for (let version = 5; version <= 10; version++) {
    for (const named of [true, false]) {
      const name = version >= 10 ? { topicId } : { name: 'orders' }
      const topics = named ? [{ ...name, partitionIndexes: [1] }] : null
      const answer = await client.call(
        api.offsetFetch,
        version,
        version >= 8 ? { groups: [{ groupId, topics }] } : ({ groupId, topics } as never),
      )
      const group = version >= 8 ? answer.groups[0] : answer
      assert.deepEqual(
        group.topics.map(topic => topic.partitions),
        [
          [
            {
              partitionIndex: 1,
              committedOffset: 7,
              committedLeaderEpoch: 3,
              metadata: 'm',
              errorCode: ErrorCode.none,
            },
          ],
        ],
        `version ${version}, ${named ? 'named' : 'all'}`,
      )
    }
  }
})

test('a coordinator that cannot say is no "no offset": the error stands where each version has room for it', async () => {
  // Nobody has asked for a coordinator here, so this broker coordinates nothing yet.
  await using fresh = await startBroker({ topics: { orders: 1 } })
  using asking = await RawClient.connect({ port: fresh.port })
  const groupId = 'g'
  for (let version = 1; version <= 9; version++) {
    const topics = [{ name: 'orders', partitionIndexes: [0] }]
    const answer = await asking.call(
      api.offsetFetch,
      version,
      version >= 8 ? { groups: [{ groupId, topics }] } : { groupId, topics },
    )
    const group = version >= 8 ? answer.groups[0] : answer
    const codes = group.topics.flatMap(topic => topic.partitions.map(partition => partition.errorCode))
    if (version === 1) assert.deepEqual(codes, [ErrorCode.notCoordinator])
    else assert.equal(group.errorCode, ErrorCode.notCoordinator)
  }
})

test('coordinators are found one by one and many at once', async () => {
  for (let version = 0; version <= 6; version++) {
    const answer = await client.call(
      api.findCoordinator,
      version,
      version >= 4 ? { coordinatorKeys: ['a', 'b', 'c'] } : { key: 'a' },
    )
    const found = version >= 4 ? answer.coordinators : [answer]
    assert.equal(found.length, version >= 4 ? 3 : 1)
    for (const { errorCode, nodeId, host, port } of found) {
      assert.deepEqual([errorCode, nodeId, host, port], [ErrorCode.none, 1, 'localhost', broker.port])
    }
  }
  const share = await client.call(api.findCoordinator, 6, {
    keyType: 2,
    coordinatorKeys: ['g:AAECAwQFBgcICQoLDA0ODw:0'],
  })
  assert.equal(share.coordinators[0].errorCode, ErrorCode.invalidRequest)
})

test('a commit is stored, and one that is stale, of a stranger or too large changes nothing', async () => {
  const { memberId, generationId } = await soleMember(client, 'committing')
  const commit = async (version: number, body: object) => {
    const { topics } = await client.call(api.offsetCommit, version, {
      ...{ groupId: 'committing', memberId, generationIdOrMemberEpoch: generationId },
      topics: [{ name: 'orders', partitions: [{ partitionIndex: 0, committedOffset: 11, committedMetadata: 'x' }] }],
      ...body,
    })
    return topics[0].partitions[0].errorCode
  }
  assert.equal(await commit(9, {}), ErrorCode.none)
  assert.equal(await commit(9, { generationIdOrMemberEpoch: generationId + 1 }), ErrorCode.illegalGeneration)
  assert.equal(await commit(9, { memberId: 'stranger' }), ErrorCode.unknownMemberId)
  assert.equal(await commit(9, { memberId: '', generationIdOrMemberEpoch: -1 }), ErrorCode.unknownMemberId)
  const large = [{ partitionIndex: 0, committedOffset: 1, committedMetadata: 'x'.repeat(5000) }]
  assert.equal(await commit(9, { topics: [{ name: 'orders', partitions: large }] }), ErrorCode.offsetMetadataTooLarge)
  const { topics } = await client.call(api.offsetFetch, 7, { groupId: 'committing', topics: null })
  assert.equal(topics[0].partitions[0].committedOffset, 11)
})

test('a group with members is not deleted, an empty one is, with its offsets', async () => {
  const { memberId } = await soleMember(client, 'mortal')
  const remove = async () => (await client.call(api.deleteGroups, 2, { groupsNames: ['mortal'] })).results[0].errorCode
  assert.equal(await remove(), ErrorCode.nonEmptyGroup)
  await client.call(api.leaveGroup, 4, { groupId: 'mortal', members: [{ memberId }] })
  assert.equal((await stateOf('mortal')).groupState, 'Empty')
  assert.equal(await remove(), ErrorCode.none)
  assert.equal((await stateOf('mortal')).groupState, 'Dead')
  assert.equal(await remove(), ErrorCode.groupIdNotFound)
})

test('members that share no protocol are refused, and groups have a largest size', async () => {
  await using small = await startBroker({ overrides: { 'group.max.size': '2', 'offsets.topic.num.partitions': '1' } })
  const clients = await Promise.all([1, 2, 3].map(() => RawClient.connect({ port: small.port })))
  await clients[0].call(api.findCoordinator, 0, { key: 'g' })
  const first = await join(clients[0], 'g')
  const other = [{ name: 'sticky', metadata: subscription(['orders']) }]
  const stranger = await join(clients[1], 'g', { protocols: other })
  assert.equal(stranger.errorCode, ErrorCode.inconsistentGroupProtocol)
  const otherType = await join(clients[1], 'g', { protocolType: 'connect' })
  assert.equal(otherType.errorCode, ErrorCode.inconsistentGroupProtocol)
  const joining = join(clients[1], 'g')
  await until(
    async () =>
      (await clients[2].call(api.describeGroups, 5, { groups: ['g'] })).groups[0].groupState === 'PreparingRebalance',
  )
  await join(clients[0], 'g', { memberId: first.memberId })
  await joining
  const third = await join(clients[2], 'g', { version: 3 })
  assert.equal(third.errorCode, ErrorCode.groupMaxSizeReached)
  for (const one of clients) one.close()
})

test('offsets of a deleted topic do not come back with a new topic of its name', async () => {
  await createTopic(client, 'reborn')
  await append(client, { topic: 'reborn' }, ['a'])
  const groupId = 'of-reborn'
  const partitions = [{ partitionIndex: 0, committedOffset: 1, committedMetadata: null }]
  await client.call(api.offsetCommit, 8, { groupId, memberId: '', topics: [{ name: 'reborn', partitions }] })
  await client.call(api.deleteTopics, 5, { topicNames: ['reborn'], timeoutMs: 10_000 })
  await createTopic(client, 'reborn')
  const topics = [{ name: 'reborn', partitionIndexes: [0] }]
  await until(async () => {
    const answer = await client.call(api.offsetFetch, 7, { groupId, topics })
    return answer.topics[0].partitions[0].committedOffset === -1
  })
})

async function until(holds: () => Promise<boolean>): Promise<void> {
  using patience = new Patience(10_000)
  while (!(await holds())) {
    assert.ok(!patience.isOver, 'waited in vain')
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}
