import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../../base/error-code.ts'
import { id, TestCluster } from './fixtures/test-cluster.ts'

interface Wanted {
  readonly brokerId?: number
  readonly brokerEpoch?: number
  readonly topicId?: string
  readonly partition?: number
  readonly leaderEpoch?: number
  readonly partitionEpoch?: number
  readonly leaderRecoveryState?: number
  readonly isr: readonly (number | [number, number])[]
}

function cluster(): TestCluster {
  const made = new TestCluster().start(1, 2, 3)
  made.create('t', { assignments: [[1, 2, 3]] })
  return made
}

function alter(on: TestCluster, wanted: Wanted) {
  const brokerId = wanted.brokerId ?? 1
  const present = on.partition('t')
  const partition = {
    partitionIndex: wanted.partition ?? 0,
    leaderEpoch: wanted.leaderEpoch ?? present.leaderEpoch,
    partitionEpoch: wanted.partitionEpoch ?? present.partitionEpoch,
    leaderRecoveryState: wanted.leaderRecoveryState ?? 0,
    newIsr: [],
    newIsrWithEpochs: wanted.isr.map(one => {
      const [broker, epoch] = typeof one === 'number' ? [one, on.image.broker(one)?.epoch ?? -1] : one
      return { brokerId: broker, brokerEpoch: epoch }
    }),
  }
  const topicId = wanted.topicId ?? on.image.topic('t')!.id
  const brokerEpoch = wanted.brokerEpoch ?? on.image.broker(brokerId)!.epoch
  const request = { brokerId, brokerEpoch, topics: [{ topicId, partitions: [partition] }] }
  const { response } = on.submit({ type: 'alterPartition', request })
  return response.errorCode === 0 ? response.topics[0].partitions[0] : { errorCode: response.errorCode }
}

test('a leader shrinks and expands its in-sync replicas; each begins a partition epoch and no leader epoch', () => {
  const on = cluster()
  const shrunk = alter(on, { isr: [1, 2] })
  assert.deepEqual(shrunk, {
    ...{
      partitionIndex: 0,
      errorCode: 0,
      leaderId: 1,
      leaderEpoch: 0,
      isr: [1, 2],
      leaderRecoveryState: 0,
      partitionEpoch: 1,
    },
  })
  const expanded = alter(on, { isr: [1, 2, 3] })
  assert.deepEqual([expanded.errorCode, on.partition('t').isr, on.partition('t').partitionEpoch], [0, [1, 2, 3], 2])
  assert.equal(on.partition('t').leaderEpoch, 0)
})

test('asking for what is so already changes nothing and is answered with it', () => {
  const on = cluster()
  assert.deepEqual([alter(on, { isr: [1, 2, 3] }).errorCode, on.records], [0, []])
  assert.equal(on.partition('t').partitionEpoch, 0)
})

test('a request that does not know the partition as it is changes nothing', () => {
  const on = cluster()
  alter(on, { isr: [1, 2] })
  on.heartbeat(2, { wantFence: true })
  on.heartbeat(2)
  const { leaderEpoch, partitionEpoch } = on.partition('t')
  const before = JSON.stringify(on.partition('t'))
  const codeOf = (wanted: Wanted) => alter(on, wanted).errorCode
  assert.equal(codeOf({ isr: [1], partitionEpoch: partitionEpoch - 1 }), ErrorCode.invalidUpdateVersion)
  assert.equal(codeOf({ isr: [1], partitionEpoch: partitionEpoch + 1 }), ErrorCode.notController)
  assert.equal(codeOf({ isr: [1], leaderEpoch: leaderEpoch - 1 }), ErrorCode.fencedLeaderEpoch)
  assert.equal(codeOf({ isr: [1], leaderEpoch: leaderEpoch + 1 }), ErrorCode.notController)
  assert.equal(codeOf({ isr: [1], brokerEpoch: 0 }), ErrorCode.staleBrokerEpoch)
  assert.equal(codeOf({ isr: [2], brokerId: 2 }), ErrorCode.invalidRequest)
  assert.equal(codeOf({ isr: [1], topicId: id(99) }), ErrorCode.unknownTopicId)
  assert.equal(codeOf({ isr: [1], partition: 7 }), ErrorCode.unknownTopicOrPartition)
  assert.equal(JSON.stringify(on.partition('t')), before)
})

test('in-sync replicas are replicas, each once, the leader among them', () => {
  const on = cluster()
  for (const isr of [[1, 9], [1, 1], [2, 3], []]) assert.equal(alter(on, { isr }).errorCode, ErrorCode.invalidRequest)
})

test('a replica that is out of service, or came back since it caught up, does not come in', () => {
  const on = cluster()
  alter(on, { isr: [1] })
  const former = on.image.broker(3)!.epoch
  on.heartbeat(2, { wantFence: true })
  assert.equal(alter(on, { isr: [1, 2] }).errorCode, ErrorCode.ineligibleReplica)
  on.nowMs += 9000
  on.heartbeat(1)
  on.register(3, { incarnation: 1 })
  on.heartbeat(3)
  assert.equal(alter(on, { isr: [1, [3, former]] }).errorCode, ErrorCode.ineligibleReplica)
  assert.equal(alter(on, { isr: [1, [3, -1]] }).errorCode, ErrorCode.none)
  on.heartbeat(2)
  on.heartbeat(2, { wantShutDown: true })
  assert.equal(alter(on, { isr: [1, 2, 3] }).errorCode, ErrorCode.ineligibleReplica)
})

test('a leader that recovers is alone until it says that it has recovered', () => {
  const on = new TestCluster().start(1, 2)
  on.create('t', { assignments: [[1, 2]], config: { 'unclean.leader.election.enable': 'true' } })
  on.heartbeat(2, { wantFence: true })
  on.heartbeat(2)
  on.heartbeat(1, { wantFence: true })
  assert.deepEqual([on.partition('t').leader, on.partition('t').leaderRecoveryState], [2, 1])
  on.heartbeat(1)
  assert.equal(alter(on, { brokerId: 2, isr: [2, 1], leaderRecoveryState: 1 }).errorCode, ErrorCode.invalidRequest)
  assert.equal(alter(on, { brokerId: 2, isr: [2], leaderRecoveryState: 0 }).errorCode, ErrorCode.none)
  assert.equal(on.partition('t').leaderRecoveryState, 0)
  assert.equal(alter(on, { brokerId: 2, isr: [2], leaderRecoveryState: 1 }).errorCode, ErrorCode.invalidRequest)
  assert.equal(alter(on, { brokerId: 2, isr: [2, 1] }).errorCode, ErrorCode.none)
})

test('a partition that is named twice in one request is altered once', () => {
  const on = cluster()
  const { epoch: brokerEpoch } = on.image.broker(1)!
  const partition = {
    partitionIndex: 0,
    leaderEpoch: 0,
    partitionEpoch: 0,
    leaderRecoveryState: 0,
    newIsrWithEpochs: [],
  }
  const partitions = [
    { ...partition, newIsr: [1, 2] },
    { ...partition, newIsr: [1] },
  ]
  const topics = [{ topicId: on.image.topic('t')!.id, partitions }]
  const { response } = on.submit({ type: 'alterPartition', request: { brokerId: 1, brokerEpoch, topics } })
  assert.deepEqual(
    response.topics[0].partitions.map(one => one.errorCode),
    [ErrorCode.none, ErrorCode.invalidRequest],
  )
  assert.deepEqual(on.partition('t').isr, [1, 2])
})
