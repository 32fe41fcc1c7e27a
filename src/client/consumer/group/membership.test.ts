import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../../base/error-code.ts'
import { decodeSubscription } from '../../../protocol/consumer-protocol.ts'
import type { ClientOptions } from '../../client-options.ts'
import { ClientWorld } from '../../fixtures/client-world.ts'
import type { FakeRequest, Mischief } from '../../fixtures/fake-cluster.ts'
import type { FakeGroup } from '../../fixtures/fake-group.ts'
import { sampleBatch } from '../../fixtures/sample-batch.ts'
import type { MillraceError } from '../../millrace-error.ts'
import type { ConsumedBatch } from '../consumed-batch.ts'
import type { Consumer } from '../consumer.ts'
import type { ConsumerOptions } from '../consumer-options.ts'
import type { RebalanceListener } from './group-share.ts'

/** A consumer in the group `g` with a log of what became of its partitions. */
interface Member {
  readonly consumer: Consumer
  readonly events: string[]
  readonly values: string[]
  readonly running: Promise<void>
}

interface JoinBody {
  readonly protocols: readonly { readonly name: string; readonly metadata: Buffer }[]
}

class GroupWorld {
  readonly base: ClientWorld

  private constructor(base: ClientWorld) {
    this.base = base
  }

  static async make(partitions: number, options: { nodes?: number; client?: Partial<ClientOptions> } = {}) {
    const base = await ClientWorld.make(options)
    base.cluster.addTopic('orders', partitions)
    return new GroupWorld(base)
  }

  get cluster() {
    return this.base.cluster
  }

  get group(): FakeGroup {
    return this.cluster.groups.get('g')!
  }

  /** A record whose value is its place. */
  append(partition: number): void {
    const { log } = this.cluster.topics.get('orders')!.partitions[partition]
    log.put(sampleBatch([log.nextOffset]))
  }

  join(
    options: ConsumerOptions = {},
    more: {
      topics?: readonly (string | RegExp)[]
      eachBatch?: (batch: ConsumedBatch) => Promise<void> | void
      listener?: RebalanceListener
    } = {},
  ): Member {
    const consumer = this.base.client.consumer({ groupId: 'g', offsetReset: 'earliest', ...options })
    const events: string[] = []
    const values: string[] = []
    const note = (what: 'assigned' | 'revoked' | 'lost') => async (partitions: readonly { partition: number }[]) => {
      events.push(
        `${what} ${partitions
          .map(({ partition }) => partition)
          .sort()
          .join()}`,
      )
      await more.listener?.[what]?.(partitions as never)
    }
    const listener = { assigned: note('assigned'), revoked: note('revoked'), lost: note('lost') }
    consumer.subscribe(more.topics ?? ['orders'], listener)
    const eachBatch = async (batch: ConsumedBatch) => {
      for (const { offset } of batch) values.push(`${batch.partition}:${offset}`)
      await more.eachBatch?.(batch)
    }
    return { consumer, events, values, running: consumer.run({ eachBatch }) }
  }

  finish<T>(promise: Promise<T>): Promise<T> {
    return this.base.finish(promise)
  }

  advance(ms: number): Promise<void> {
    return this.base.world.advance(ms)
  }
}

function owned({ consumer }: Member): number[] {
  return consumer.assignment.map(({ partition }) => partition).sort((a, b) => a - b)
}

function first(api: string, ...mischiefs: readonly (Mischief | undefined)[]) {
  let seen = 0
  return (request: FakeRequest) => (request.api === api ? mischiefs[seen++] : undefined)
}

const errorAnswer = (errorCode: ErrorCode, more: object = {}): Mischief => ({
  type: 'answer',
  body: { errorCode, ...more },
})
const joinError = (errorCode: ErrorCode) =>
  errorAnswer(errorCode, { protocolName: '', leader: '', memberId: '', members: [] })

for (const assignor of ['range', 'roundrobin', 'sticky', 'cooperative-sticky'] as const) {
  test(`${assignor}: members share the partitions, and whoever leaves is replaced without a record lost or repeated`, async () => {
    const world = await GroupWorld.make(4)
    const one = world.join({ assignors: [assignor] })
    await world.advance(3000)
    assert.deepEqual(owned(one), [0, 1, 2, 3])
    for (let partition = 0; partition < 4; partition++) world.append(partition)
    await world.advance(1000)
    const two = world.join({ assignors: [assignor] })
    await world.advance(20_000)
    assert.deepEqual([...owned(one), ...owned(two)].sort(), [0, 1, 2, 3])
    assert.equal(owned(one).length, 2)
    for (let partition = 0; partition < 4; partition++) world.append(partition)
    await world.advance(1000)
    await world.finish(one.consumer.close())
    await world.advance(10_000)
    assert.deepEqual(owned(two), [0, 1, 2, 3])
    for (let partition = 0; partition < 4; partition++) world.append(partition)
    await world.advance(1000)
    const all = [...one.values, ...two.values].sort()
    assert.deepEqual(
      all,
      [0, 1, 2, 3].flatMap(partition => [0, 1, 2].map(offset => `${partition}:${offset}`)),
    )
    await world.finish(two.consumer.close())
    assert.equal(world.group.members.size, 0)
    await world.finish(Promise.all([one.running, two.running]))
  })
}

test('eager members give up everything before they join again, cooperative ones only what they lose', async () => {
  for (const [assignor, expected] of [
    ['range', ['assigned 0,1,2,3', 'revoked 0,1,2,3', 'assigned 0,1']],
    ['cooperative-sticky', ['assigned 0,1,2,3', 'revoked 2,3']],
  ] as const) {
    const world = await GroupWorld.make(4)
    const one = world.join({ assignors: [assignor] })
    await world.advance(3000)
    const two = world.join({ assignors: [assignor] })
    await world.advance(20_000)
    assert.deepEqual(one.events, expected)
    assert.deepEqual(two.events, ['assigned 2,3'])
  }
})

test('a rebalance waits until the batch at hand is done, and commits it; heartbeats go on meanwhile', async () => {
  const world = await GroupWorld.make(2)
  const eachBatch = () => world.base.world.sleep(20_000)
  const one = world.join({ heartbeatIntervalMs: 1000, maxRecords: 1 }, { eachBatch })
  await world.advance(2000)
  for (let i = 0; i < 2; i++) world.append(1)
  await world.advance(500)
  const beats = world.cluster.asked('Heartbeat').length
  const two = world.join({ heartbeatIntervalMs: 1000 })
  await world.advance(15_000)
  assert.deepEqual(owned(one), [0, 1], 'it still works on partition 1')
  assert.deepEqual(owned(two), [])
  assert.ok(world.cluster.asked('Heartbeat').length - beats > 10)
  await world.advance(15_000)
  assert.deepEqual([owned(one), owned(two)], [[0], [1]])
  assert.ok(world.group.offsets.get('orders-1')!.offset >= 1)
  assert.deepEqual([one.values, two.values], [['1:0'], ['1:1']])
})

test('a member that was thrown out commits nothing of what it had, is told, and joins again', async () => {
  const world = await GroupWorld.make(1)
  let stale: boolean | undefined
  const eachBatch = async (batch: ConsumedBatch) => {
    world.group.members.clear()
    await world.base.world.sleep(10_000)
    stale = batch.isStale
  }
  const one = world.join({ heartbeatIntervalMs: 1000 }, { eachBatch })
  await world.advance(2000)
  const commits = world.cluster.asked('OffsetCommit').length
  world.append(0)
  await world.advance(5000)
  assert.deepEqual(one.events.slice(0, 3), ['assigned 0', 'lost 0', 'assigned 0'])
  assert.equal(
    world.cluster
      .asked('OffsetCommit')
      .slice(commits)
      .filter(({ body }) => body.topics[0].partitions[0].committedOffset === 1).length,
    0,
  )
  await world.advance(6000)
  assert.equal(stale, true)
})

test('partitions that are lost while they are given up are not committed', async () => {
  const world = await GroupWorld.make(1)
  const eachBatch = ({ nextOffset }: ConsumedBatch) => (nextOffset === 2 ? world.base.world.sleep(10_000) : undefined)
  const options = {
    heartbeatIntervalMs: 1000,
    maxRecords: 1,
    autoCommitIntervalMs: 60_000,
    assignors: ['range'] as const,
  }
  const one = world.join(options, { eachBatch })
  await world.advance(2000)
  for (let i = 0; i < 2; i++) world.append(0)
  await world.advance(1000)
  world.group.rebalance()
  await world.advance(3000)
  world.group.members.clear()
  await world.advance(12_000)
  assert.ok(one.events.includes('lost 0'))
  const committed = world.cluster.asked('OffsetCommit').map(({ body }) => body.topics[0].partitions[0].committedOffset)
  assert.ok(!committed.includes(1), `${committed}`)
})

test('a commit of a generation that is over is refused, and the member finds out at once', async () => {
  const world = await GroupWorld.make(1)
  const one = world.join({ heartbeatIntervalMs: 20_000, autoCommit: false, sessionTimeoutMs: 60_000 })
  await world.advance(3000)
  world.group.generationId++
  const commit = one.consumer.commit([{ topic: 'orders', partition: 0, offset: 5 }])
  await assert.rejects(world.finish(commit), (error: MillraceError) => error.errorCode === ErrorCode.illegalGeneration)
  assert.equal(world.group.offsets.size, 0)
  await world.advance(3000)
  assert.deepEqual(one.events, ['assigned 0', 'lost 0', 'assigned 0'])
})

test('a commit of a cooperative member in the middle of a rebalance is made when it is over', async () => {
  const world = await GroupWorld.make(1)
  const one = world.join({ assignors: ['cooperative-sticky'] })
  await world.advance(3000)
  const answers = [
    {
      topicId: 'AAAAAAAAAAAAAAAAAAAAAQ',
      partitions: [{ partitionIndex: 0, errorCode: ErrorCode.rebalanceInProgress }],
    },
  ]
  world.cluster.mischief = first('OffsetCommit', { type: 'answer', body: { topics: answers } })
  await world.finish(one.consumer.commit([{ topic: 'orders', partition: 0, offset: 5 }]))
  assert.equal(world.group.offsets.get('orders-0')?.offset, 5)
})

test('a commit while an eager group settles whose the partition is says that it can be tried again', async () => {
  const world = await GroupWorld.make(2)
  const one = world.join({ heartbeatIntervalMs: 500, autoCommit: false })
  await world.advance(3000)
  world.cluster.mischief = ({ api }) => (api === 'SyncGroup' ? { type: 'after', ms: 3000 } : undefined)
  const two = world.join({ heartbeatIntervalMs: 500 })
  while (owned(one).length > 0) await world.advance(10)
  const commit = (partition: number) => one.consumer.commit([{ topic: 'orders', partition, offset: 5 }])
  for (const partition of [0, 1]) {
    await assert.rejects(world.finish(commit(partition)), {
      code: 'REBALANCE_IN_PROGRESS',
      errorCode: ErrorCode.rebalanceInProgress,
      retriable: true,
    })
  }
  assert.equal(world.cluster.asked('OffsetCommit').length, 0)
  while (owned(one).length === 0 || owned(two).length === 0) await world.advance(10)
  const [mine, others] = [owned(one)[0], owned(two)[0]]
  await world.finish(commit(mine))
  assert.equal(world.group.offsets.get(`orders-${mine}`)?.offset, 5)
  await assert.rejects(world.finish(commit(others)), { code: 'NOT_ASSIGNED', retriable: false })
})

test('whoever was put out of the group is told that the partition is lost, not that it may come back', async () => {
  const world = await GroupWorld.make(1)
  const told: unknown[] = []
  const commit = async () => {
    const committing = one.consumer.commit([{ topic: 'orders', partition: 0, offset: 5 }])
    await committing.catch(error => told.push(error.code))
  }
  const one = world.join({ heartbeatIntervalMs: 500 }, { listener: { lost: commit } })
  await world.advance(3000)
  world.group.members.clear()
  await world.advance(3000)
  assert.deepEqual([told, one.events], [['NOT_ASSIGNED'], ['assigned 0', 'lost 0', 'assigned 0']])
})

for (const autoCommit of [true, false]) {
  test(`what was asked to be committed is committed before its partition is given up (autoCommit ${autoCommit})`, async () => {
    const world = await GroupWorld.make(1)
    const one = world.join({ heartbeatIntervalMs: 500, autoCommit })
    await world.advance(3000)
    let isLoading = true
    const partitions = [{ partitionIndex: 0, errorCode: ErrorCode.coordinatorLoadInProgress }]
    const body = { topics: [{ topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', partitions }] }
    world.cluster.mischief = ({ api }) => (isLoading && api === 'OffsetCommit' ? { type: 'answer', body } : undefined)
    const commit = one.consumer.commit([{ topic: 'orders', partition: 0, offset: 5 }])
    world.group.rebalance()
    await world.advance(3000)
    assert.deepEqual(owned(one), [0])
    isLoading = false
    await world.finish(commit)
    assert.equal(world.group.offsets.get('orders-0')?.offset, 5)
    await world.advance(3000)
    assert.deepEqual(one.events, ['assigned 0', 'revoked 0', 'assigned 0'])
  })
}

test('what a listener asks to be committed, without waiting for it, is committed before the partitions are gone', async () => {
  const world = await GroupWorld.make(1)
  let commit: Promise<void> | undefined
  const revoked = () => {
    commit ??= one.consumer.commit([{ topic: 'orders', partition: 0, offset: 5 }])
  }
  const one = world.join({ heartbeatIntervalMs: 500, autoCommit: false }, { listener: { revoked } })
  await world.advance(3000)
  world.cluster.mischief = first('OffsetCommit', { type: 'after', ms: 1000 })
  world.group.rebalance()
  await world.advance(5000)
  await commit
  assert.equal(world.group.offsets.get('orders-0')?.offset, 5)
})

test('a commit is not made any more when its partition was lost meanwhile, although it has come back', async () => {
  const world = await GroupWorld.make(1)
  const one = world.join({ heartbeatIntervalMs: 1000, autoCommit: false })
  await world.advance(3000)
  const partitions = [{ partitionIndex: 0, errorCode: ErrorCode.coordinatorLoadInProgress }]
  const body = { topics: [{ topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', partitions }] }
  world.cluster.mischief = ({ api }) => (api === 'OffsetCommit' ? { type: 'answer', body } : undefined)
  const commit = one.consumer.commit([{ topic: 'orders', partition: 0, offset: 5 }])
  await world.advance(500)
  world.group.members.clear()
  while (!one.events.includes('lost 0') || owned(one).length === 0) await world.advance(1)
  world.cluster.mischief = () => undefined
  await assert.rejects(world.finish(commit), { code: 'NOT_ASSIGNED' })
  assert.equal(world.group.offsets.size, 0)
})

test('the coordinator moves: the member stays one', async () => {
  const world = await GroupWorld.make(1, { nodes: 2 })
  const one = world.join({ heartbeatIntervalMs: 500 })
  await world.advance(3000)
  world.cluster.coordinatorId = 2
  await world.advance(3000)
  assert.deepEqual(one.events, ['assigned 0'])
  assert.equal(world.cluster.asked('Heartbeat').at(-1)?.nodeId, 2)
  world.append(0)
  await world.advance(500)
  await world.finish(one.consumer.close())
  assert.equal(world.group.offsets.get('orders-0')?.offset, 1)
})

for (const [name, mischief] of [
  ['a join whose answer is lost', first('JoinGroup', undefined, { type: 'loseAnswer' })],
  ['a coordinator that is loading', first('JoinGroup', joinError(ErrorCode.coordinatorLoadInProgress))],
  ['a sync in a group that rebalances again', first('SyncGroup', errorAnswer(ErrorCode.rebalanceInProgress))],
  ['a sync whose connection breaks', first('SyncGroup', { type: 'close' })],
  ['an answer that is none', first('JoinGroup', { type: 'bytes', bytes: Buffer.from('000000010a', 'hex') })],
  [
    'no coordinator',
    first('FindCoordinator', {
      type: 'answer',
      body: {
        coordinators: [{ key: 'g', nodeId: -1, host: '', port: -1, errorCode: ErrorCode.coordinatorNotAvailable }],
      },
    }),
  ],
] as [string, (request: FakeRequest) => Mischief | undefined][]) {
  test(`${name} does not keep a member from joining`, async () => {
    const world = await GroupWorld.make(1)
    world.cluster.mischief = mischief
    const one = world.join()
    await world.advance(15_000)
    assert.deepEqual(owned(one), [0])
  })
}

test('a member that is forgotten before it has its share joins as another', async () => {
  const world = await GroupWorld.make(1)
  const forget = first('SyncGroup', errorAnswer(ErrorCode.unknownMemberId))
  world.cluster.mischief = request => {
    const mischief = forget(request)
    if (mischief !== undefined) world.group.members.clear()
    return mischief
  }
  const one = world.join()
  await world.advance(15_000)
  assert.deepEqual([owned(one), [...world.group.members.keys()]], [[0], ['member-2']])
})

test('an empty assignment is none; one that cannot be read is told, and another one waited for', async () => {
  const world = await GroupWorld.make(1)
  const bytes = (hex: string) => errorAnswer(ErrorCode.none, { assignment: Buffer.from(hex, 'hex') })
  world.cluster.mischief = first('SyncGroup', bytes(''))
  const one = world.join()
  await world.advance(2000)
  assert.deepEqual(owned(one), [])
  world.cluster.mischief = first('SyncGroup', bytes('00'))
  world.group.rebalance()
  await assert.rejects(world.finish(one.running), /group g: the leader's assignment cannot be read/)
  await world.advance(15_000)
  assert.deepEqual(owned(one), [0])
})

test('a member that is refused for good tells the application why, and goes on trying', async () => {
  const world = await GroupWorld.make(1)
  world.cluster.mischief = first('JoinGroup', joinError(ErrorCode.groupAuthorizationFailed))
  const one = world.join()
  await assert.rejects(world.finish(one.running), (error: MillraceError) => {
    assert.match(error.message, /group g: GROUP_AUTHORIZATION_FAILED. Grant this user Read/)
    return error.code === 'GROUP_AUTHORIZATION_FAILED'
  })
  const again = one.consumer.run({ eachBatch: () => one.consumer.stop() })
  world.append(0)
  await world.finish(again)
})

test('a static member does not leave when it is closed, and gets back what it had', async () => {
  const world = await GroupWorld.make(2)
  const options = { groupInstanceId: 'i1' }
  const one = world.join(options)
  await world.advance(3000)
  await world.finish(one.consumer.close())
  assert.equal(world.group.members.size, 1)
  const again = world.join(options)
  await world.advance(3000)
  assert.deepEqual(owned(again), [0, 1])
  assert.deepEqual([...world.group.members.keys()], ['i1-1'])
  await world.finish(again.consumer.close({ leaveGroup: true }))
  assert.equal(world.group.members.size, 0)
})

test('static members need a broker that knows them', async () => {
  const world = await GroupWorld.make(1)
  world.cluster.node(1).maxVersions.JoinGroup = 4
  const one = world.join({ groupInstanceId: 'i1' })
  await assert.rejects(world.finish(one.running), { code: 'UNSUPPORTED_VERSION' })
})

test('old coordinators are spoken to in old versions', async () => {
  const world = await GroupWorld.make(1)
  const old = {
    JoinGroup: 0,
    SyncGroup: 0,
    Heartbeat: 0,
    LeaveGroup: 0,
    FindCoordinator: 0,
    OffsetCommit: 2,
    OffsetFetch: 1,
  }
  Object.assign(world.cluster.node(1).maxVersions, old)
  // Before version 4 a member is one at once.
  world.cluster.mischief = ({ api, body }) => {
    if (api === 'JoinGroup' && body.memberId === '') body.memberId = 'old-member'
    return undefined
  }
  const one = world.join()
  await world.advance(5000)
  assert.deepEqual(owned(one), [0])
  await world.finish(one.consumer.close())
  assert.equal(world.group.members.size, 0)
})

test('a pattern finds topics that are created later, but none of the brokers’ own', async () => {
  const world = await GroupWorld.make(1, { client: { metadataMaxAgeMs: 5000 } })
  const one = world.join({}, { topics: [/^ord/] })
  await world.advance(3000)
  assert.deepEqual(one.consumer.assignment, [{ topic: 'orders', partition: 0 }])
  world.cluster.addTopic('ordinals', 1)
  world.cluster.addTopic('other', 1)
  await world.advance(15_000)
  assert.deepEqual(one.consumer.assignment.map(({ topic }) => topic).sort(), ['orders', 'ordinals'])
})

test('the leader shares out partitions that are added', async () => {
  const world = await GroupWorld.make(1, { client: { metadataMaxAgeMs: 5000 } })
  const one = world.join()
  await world.advance(3000)
  world.cluster.growTopic('orders', 3)
  await world.advance(15_000)
  assert.deepEqual(owned(one), [0, 1, 2])
})

test('a topic that does not exist yet is waited for', async () => {
  const world = await GroupWorld.make(1)
  const one = world.join({}, { topics: ['later'] })
  await world.advance(20_000)
  assert.deepEqual(owned(one), [])
  const asked = world.cluster.asked('Metadata').length
  assert.ok(asked < 40, `${asked} times`)
  world.cluster.addTopic('later', 2)
  // Long before metadata is renewed for its age.
  await world.advance(5000)
  assert.deepEqual(owned(one), [0, 1])
  const before = world.cluster.asked('Metadata').length
  await world.advance(60_000)
  assert.equal(world.cluster.asked('Metadata').length, before, 'nothing is missing any more')
})

test('a member joins beside members with any one of the usual assignors', async () => {
  for (const assignors of [undefined, ['range'], ['cooperative-sticky'], ['range', 'cooperative-sticky']] as const) {
    for (const isFirst of [true, false]) {
      const world = await GroupWorld.make(4)
      const both: Member[] = []
      for (const given of isFirst ? [undefined, assignors] : [assignors, undefined]) {
        both.push(world.join(given === undefined ? {} : { assignors: given }))
        await world.advance(10_000)
      }
      assert.deepEqual(both.flatMap(owned).sort(), [0, 1, 2, 3])
      assert.deepEqual(
        both.map(one => owned(one).length),
        [2, 2],
      )
      await world.finish(Promise.all(both.map(({ consumer }) => consumer.close())))
    }
  }
})

test('the usual assignors are offered in the order of Kafka’s own client, by a member that owns nothing when it joins', async () => {
  const world = await GroupWorld.make(2)
  const one = world.join()
  await world.advance(3000)
  const two = world.join()
  await world.advance(10_000)
  assert.deepEqual(one.events, ['assigned 0,1', 'revoked 0,1', 'assigned 0'])
  const joins = world.cluster.asked('JoinGroup').map(({ body }) => body as unknown as JoinBody)
  for (const { protocols } of joins) {
    assert.deepEqual(
      protocols.map(({ name }) => name),
      ['range', 'cooperative-sticky'],
    )
    for (const { metadata } of protocols) assert.deepEqual(decodeSubscription(metadata).ownedPartitions, [])
  }
  await world.finish(Promise.all([one, two].map(({ consumer }) => consumer.close())))
})

test('an application that does not come back loses its partitions, and gets some again when it does', async () => {
  const world = await GroupWorld.make(2)
  let isStuck = true
  const eachBatch = () => (isStuck ? world.base.world.sleep(60_000) : undefined)
  const options = { maxPollIntervalMs: 10_000, heartbeatIntervalMs: 1000 }
  const one = world.join(options, { eachBatch })
  await world.advance(2000)
  world.append(0)
  await world.advance(15_000)
  assert.deepEqual(one.events, ['assigned 0,1', 'lost 0,1'])
  assert.equal(world.group.members.size, 0)
  assert.match(world.base.world.log.lines.map(({ message }) => message).join(), /more than maxPollIntervalMs \(10000\)/)
  isStuck = false
  await world.advance(60_000)
  assert.deepEqual(owned(one), [0, 1])
  assert.deepEqual(one.values, ['0:0', '0:0'], 'it was not committed, so it comes again')
})

test('the application may seek when it is assigned partitions', async () => {
  const world = await GroupWorld.make(1)
  for (let i = 0; i < 3; i++) world.append(0)
  const listener: RebalanceListener = {
    assigned: async ([partition]) => {
      one.consumer.resume([partition])
      await world.base.world.sleep(1000)
      one.consumer.seek(partition, 2)
    },
  }
  const one: Member = world.join({}, { listener })
  await world.advance(5000)
  assert.deepEqual(one.values, ['0:2'])
})

test('a listener that fails is logged, and the group goes on', async () => {
  const world = await GroupWorld.make(1)
  const listener: RebalanceListener = { assigned: () => Promise.reject(new Error('no space')) }
  const one = world.join({}, { listener })
  world.append(0)
  await world.advance(5000)
  assert.deepEqual(one.values, ['0:0'])
  assert.match(world.base.world.log.lines.map(({ message }) => message).join(), /assigned partitions failed: no space/)
})

test('a listener may commit what it is about to lose', async () => {
  const world = await GroupWorld.make(1)
  const listener: RebalanceListener = {
    revoked: () => one.consumer.commit([{ topic: 'orders', partition: 0, offset: 9 }]),
  }
  const one: Member = world.join({ autoCommit: false, assignors: ['range'] }, { listener })
  await world.advance(2000)
  world.group.rebalance()
  await world.advance(10_000)
  assert.deepEqual(one.events, ['assigned 0', 'revoked 0', 'assigned 0'])
  assert.equal(world.group.offsets.get('orders-0')?.offset, 9)
})

test('closing while others do not join ends at once, and tells the group', async () => {
  const world = await GroupWorld.make(1)
  const one = world.join()
  await world.advance(2000)
  world.cluster.mischief = ({ api, body }) =>
    api === 'JoinGroup' && body.memberId === 'member-1' ? { type: 'silence' } : undefined
  const two = world.join()
  await world.advance(5000)
  const before = world.base.world.nowMs
  await world.finish(two.consumer.close())
  assert.ok(world.base.world.nowMs - before < 1000)
  assert.deepEqual([...world.group.members.keys()], ['member-1'])
  await world.finish(two.running)
  await world.finish(one.consumer.close({ timeoutMs: 2000 }))
})

test('closing ends in time although brokers are away, in the middle of a handler too', async () => {
  const world = await GroupWorld.make(1)
  const one = world.join({}, { eachBatch: () => world.base.world.sleep(60_000) })
  await world.advance(2000)
  world.append(0)
  await world.advance(1000)
  world.cluster.node(1).host.crash('power')
  const before = world.base.world.nowMs
  await world.finish(one.consumer.close({ timeoutMs: 3000 }))
  assert.ok(world.base.world.nowMs - before < 3100)
  assert.deepEqual(one.consumer.assignment, [])
})

test('a consumer is subscribed or assigned, not both', async () => {
  const world = await GroupWorld.make(1)
  const one = world.join()
  assert.throws(() => one.consumer.assign([]), { code: 'INVALID_ARGUMENT' })
  assert.throws(() => one.consumer.subscribe(['other']), { code: 'INVALID_ARGUMENT' })
  const other = world.base.client.consumer({ groupId: 'h' })
  assert.throws(() => other.subscribe([]), { code: 'INVALID_ARGUMENT' })
  assert.throws(() => other.subscribe([/x/g]), { code: 'INVALID_ARGUMENT' })
})
