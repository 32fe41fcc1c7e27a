import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../../base/error-code.ts'
import type { KnownRecord } from '../records.ts'
import { bootstrapRecords } from '../snapshot.ts'
import { directory, id, TestCluster } from './fixtures/test-cluster.ts'

const withElr: readonly KnownRecord[] = [
  ...bootstrapRecords(),
  { type: 'featureLevel', version: 0, name: 'eligible.leader.replicas.version', featureLevel: 1 },
]

test('a broker registers fenced, and comes into service when it has read its own registration', () => {
  const cluster = new TestCluster()
  const { errorCode, brokerEpoch = -1 } = cluster.register(1)
  assert.equal(errorCode, ErrorCode.none)
  assert.equal(cluster.image.broker(1)?.fenced, true)
  assert.deepEqual(cluster.heartbeat(1, { offset: brokerEpoch - 1 }), {
    ...{ throttleTimeMs: 0, errorCode: 0, isCaughtUp: false, isFenced: true, shouldShutDown: false },
  })
  assert.equal(cluster.image.broker(1)?.fenced, true)
  assert.equal(cluster.heartbeat(1, { wantFence: true }).isFenced, true)
  assert.deepEqual(cluster.heartbeat(1, { offset: brokerEpoch }), {
    ...{ throttleTimeMs: 0, errorCode: 0, isCaughtUp: true, isFenced: false, shouldShutDown: false },
  })
  assert.equal(cluster.image.broker(1)?.fenced, false)
})

test('each life of a broker has an epoch that no broker had before', () => {
  const cluster = new TestCluster()
  const epochs: (number | undefined)[] = []
  for (let incarnation = 0; incarnation < 3; incarnation++) {
    for (const brokerId of [1, 2]) {
      cluster.nowMs += 60_000
      epochs.push(cluster.register(brokerId, { incarnation }).brokerEpoch)
    }
  }
  assert.deepEqual(
    epochs,
    [...new Set(epochs)].sort((one, other) => Number(one) - Number(other)),
  )
})

test('a registration that is sent again keeps its epoch', () => {
  const cluster = new TestCluster().start(1)
  const { epoch } = cluster.image.broker(1)!
  assert.equal(cluster.register(1).brokerEpoch, epoch)
  assert.equal(cluster.image.broker(1)?.fenced, false)
})

test('nobody takes the id of a broker whose session is alive', () => {
  const cluster = new TestCluster().start(1)
  assert.equal(cluster.register(1, { incarnation: 1 }).errorCode, ErrorCode.duplicateBrokerRegistration)
  cluster.nowMs += cluster.options.config.brokerSessionTimeoutMs
  assert.equal(cluster.register(1, { incarnation: 1 }).errorCode, ErrorCode.none)
})

test('the broker of the controller itself takes its id back at once after a crash, and another node does not', () => {
  const cluster = new TestCluster().start(1, 2)
  cluster.restartController()
  assert.equal(cluster.options.nodeId, 1)
  assert.equal(cluster.register(2, { incarnation: 1 }).errorCode, ErrorCode.duplicateBrokerRegistration)
  assert.equal(cluster.register(1, { incarnation: 1 }).errorCode, ErrorCode.none)
  cluster.heartbeat(1)
  assert.equal(cluster.register(1, { incarnation: 2 }).errorCode, ErrorCode.duplicateBrokerRegistration)
})

test('a broker of another cluster, without directories, with a copied one, or too old for the features is refused', () => {
  const cluster = new TestCluster().start(1)
  const request = (change: object) =>
    cluster.submit({
      type: 'registerBroker',
      request: {
        brokerId: 2,
        clusterId: cluster.options.clusterId,
        incarnationId: id(1),
        listeners: [{ name: 'PLAINTEXT', host: 'h', port: 1, securityProtocol: 0 }],
        features: [{ name: 'metadata.version', minSupportedVersion: 7, maxSupportedVersion: 33 }],
        rack: null,
        isMigratingZkBroker: false,
        logDirs: [directory(2)],
        previousBrokerEpoch: -1,
        ...change,
      },
    }).response.errorCode
  assert.equal(request({ clusterId: 'other' }), ErrorCode.inconsistentClusterId)
  assert.equal(request({ logDirs: [] }), ErrorCode.invalidRegistration)
  assert.equal(request({ logDirs: [directory(2), directory(2)] }), ErrorCode.invalidRegistration)
  assert.equal(request({ logDirs: [directory(1)] }), ErrorCode.invalidRegistration)
  assert.equal(request({ listeners: [] }), ErrorCode.invalidRegistration)
  assert.equal(request({ features: [] }), ErrorCode.unsupportedVersion)
  const old = [{ name: 'metadata.version', minSupportedVersion: 7, maxSupportedVersion: 32 }]
  assert.equal(request({ features: old }), ErrorCode.unsupportedVersion)
  assert.equal(request({}), ErrorCode.none)
})

test('a heartbeat of an unknown broker, or of a former life, is refused', () => {
  const cluster = new TestCluster()
  assert.equal(cluster.heartbeat(9).errorCode, ErrorCode.brokerIdNotRegistered)
  cluster.start(1)
  const heartbeat = { brokerId: 1, brokerEpoch: 0, currentMetadataOffset: 0, wantFence: false, wantShutDown: false }
  const reply = cluster.submit({
    type: 'brokerHeartbeat',
    request: { ...heartbeat, offlineLogDirs: [], cordonedLogDirs: null },
  })
  assert.equal(reply.response.errorCode, ErrorCode.staleBrokerEpoch)
})

test('when a broker is not heard of, it is fenced, its leaderships move and it leaves the in-sync replicas', () => {
  const cluster = new TestCluster().start(1, 2, 3)
  cluster.create('t', {
    assignments: [
      [1, 2, 3],
      [2, 3, 1],
    ],
  })
  cluster.create('single', { assignments: [[1]] })
  cluster.nowMs += 8000
  cluster.heartbeat(2)
  cluster.heartbeat(3)
  assert.equal(cluster.controller.nextDeadlineMs(), cluster.nowMs + 1000)
  cluster.nowMs += 1000
  cluster.submit({ type: 'timeout' })

  assert.equal(cluster.image.broker(1)?.fenced, true)
  const [first, second] = cluster.image.topic('t')!.partitions
  const third = cluster.partition('single')
  assert.deepEqual([first.leader, first.isr, first.leaderEpoch, first.partitionEpoch], [2, [2, 3], 1, 1])
  assert.deepEqual([second.leader, second.isr, second.leaderEpoch, second.partitionEpoch], [2, [2, 3], 0, 1])
  // The last in-sync replica stays: it may lead again.
  assert.deepEqual([third.leader, third.isr, third.leaderEpoch, third.partitionEpoch], [-1, [1], 1, 1])

  assert.equal(cluster.heartbeat(1).isFenced, false)
  const [back, other] = [cluster.partition('single'), cluster.partition('t')]
  assert.deepEqual([back.leader, back.leaderEpoch], [1, 2])
  assert.deepEqual([other.leader, other.isr], [2, [2, 3]])
})

test('a controller that was held up itself blames nobody for it', () => {
  const cluster = new TestCluster().start(1, 2)
  cluster.nowMs += 60_000
  cluster.submit({ type: 'timeout' })
  assert.deepEqual(cluster.records, [])
  assert.equal(cluster.controller.nextDeadlineMs(), cluster.nowMs + 9000)
})

test('a broker that shuts down gives its leaderships away and may go when the others know', () => {
  const cluster = new TestCluster().start(1, 2)
  cluster.create('t', { assignments: [[1, 2]] })
  const read = cluster.offset
  assert.equal(cluster.heartbeat(1, { wantShutDown: true }).shouldShutDown, false)
  assert.equal(cluster.image.broker(1)?.inControlledShutdown, true)
  assert.deepEqual([cluster.partition('t').leader, cluster.partition('t').isr], [2, [2]])
  cluster.heartbeat(2, { offset: read })
  assert.equal(cluster.heartbeat(1, { wantShutDown: true }).shouldShutDown, false)
  cluster.heartbeat(2)
  assert.equal(cluster.heartbeat(1, { wantShutDown: true }).shouldShutDown, true)
  assert.equal(cluster.image.broker(1)?.fenced, true)
  assert.equal(cluster.heartbeat(1, { wantShutDown: true }).shouldShutDown, true)
})

test('the only broker may go at its second word, and leads again when it is back', () => {
  const cluster = new TestCluster().start(1)
  cluster.create('t', { partitions: 2 })
  cluster.heartbeat(1, { wantShutDown: true })
  assert.equal(cluster.heartbeat(1, { wantShutDown: true }).shouldShutDown, true)
  assert.deepEqual([cluster.partition('t').leader, cluster.partition('t').isr], [-1, [1]])
  cluster.register(1, { incarnation: 1 })
  cluster.heartbeat(1)
  assert.deepEqual([cluster.partition('t').leader, cluster.partition('t').leaderEpoch], [1, 2])
  assert.equal(cluster.partition('t').leaderRecoveryState, 0)
})

test('a broker that comes back after a crash leaves the in-sync replicas where others are left', () => {
  const cluster = new TestCluster().start(1, 2)
  cluster.create('t', { assignments: [[1, 2]] })
  cluster.create('single', { assignments: [[1]] })
  cluster.nowMs += 9000
  cluster.register(1, { incarnation: 1 })
  assert.deepEqual([cluster.partition('t').leader, cluster.partition('t').isr], [2, [2]])
  assert.deepEqual([cluster.partition('single').leader, cluster.partition('single').isr], [-1, [1]])
})

test('with eligible replicas, those that leave while too few are in sync stay eligible and may lead', () => {
  const cluster = new TestCluster([], withElr).start(1, 2)
  cluster.create('t', { assignments: [[1, 2]], config: { 'min.insync.replicas': '2' } })
  cluster.heartbeat(2, { wantFence: true })
  assert.deepEqual([cluster.partition('t').isr, cluster.partition('t').elr], [[1], [2]])
  cluster.heartbeat(1, { wantFence: true })
  assert.deepEqual([cluster.partition('t').isr, cluster.partition('t').elr], [[], [2, 1]])
  assert.deepEqual([cluster.partition('t').leader, cluster.partition('t').lastKnownElr], [-1, [1]])
  cluster.heartbeat(2)
  const { leader, isr, elr, lastKnownElr, leaderRecoveryState } = cluster.partition('t')
  assert.deepEqual([leader, isr, elr, lastKnownElr, leaderRecoveryState], [2, [2], [1], [], 0])
})

test('with eligible replicas, an unclean return ends eligibility, and the last leader may recover alone', () => {
  const cluster = new TestCluster([], withElr).start(1)
  cluster.create('t', { partitions: 1 })
  const { epoch } = cluster.image.broker(1)!
  cluster.heartbeat(1, { wantFence: true })
  assert.deepEqual([cluster.partition('t').isr, cluster.partition('t').elr], [[], [1]])
  cluster.register(1, { incarnation: 1, previousEpoch: epoch - 1 })
  assert.deepEqual([cluster.partition('t').isr, cluster.partition('t').elr], [[], []])
  cluster.heartbeat(1)
  const { leader, isr, leaderRecoveryState, lastKnownElr } = cluster.partition('t')
  assert.deepEqual([leader, isr, leaderRecoveryState, lastKnownElr], [1, [1], 1, []])
})

test('with eligible replicas, a clean return keeps eligibility', () => {
  const cluster = new TestCluster([], withElr).start(1)
  cluster.create('t', { partitions: 1 })
  const { epoch } = cluster.image.broker(1)!
  cluster.heartbeat(1, { wantFence: true })
  cluster.register(1, { incarnation: 1, previousEpoch: epoch })
  assert.deepEqual(cluster.partition('t').elr, [1])
  cluster.heartbeat(1)
  assert.deepEqual([cluster.partition('t').leader, cluster.partition('t').leaderRecoveryState], [1, 0])
})

test('a replica out of sync leads only where the topic allows losing data', () => {
  for (const [allows, leader] of [
    ['false', -1],
    ['true', 2],
  ] as const) {
    const cluster = new TestCluster().start(1, 2)
    cluster.create('t', { assignments: [[1, 2]], config: { 'unclean.leader.election.enable': allows } })
    cluster.heartbeat(2, { wantFence: true })
    cluster.heartbeat(2)
    assert.deepEqual(cluster.partition('t').isr, [1])
    cluster.heartbeat(1, { wantFence: true })
    const after = cluster.partition('t')
    assert.equal(after.leader, leader)
    assert.deepEqual(after.isr, leader === 2 ? [2] : [1])
    assert.equal(after.leaderRecoveryState, leader === 2 ? 1 : 0)
  }
})

test('what lies in a failed directory is led elsewhere, and the directory is gone from the registration', () => {
  const cluster = new TestCluster()
  const [good, bad] = [directory(1, 1), directory(1, 2)]
  cluster.register(1, { logDirs: [good, bad] })
  cluster.register(2)
  cluster.heartbeat(1)
  cluster.heartbeat(2)
  cluster.create('t', {
    assignments: [
      [1, 2],
      [1, 2],
    ],
  })
  const { id: topicId } = cluster.image.topic('t')!
  const { epoch: brokerEpoch } = cluster.image.broker(1)!
  const assigned = cluster.submit({
    type: 'assignReplicasToDirs',
    request: {
      brokerId: 1,
      brokerEpoch,
      directories: [
        { id: good, topics: [{ topicId, partitions: [{ partitionIndex: 0 }] }] },
        { id: bad, topics: [{ topicId, partitions: [{ partitionIndex: 1 }, { partitionIndex: 7 }] }] },
      ],
    },
  }).response
  assert.deepEqual(
    assigned.directories.flatMap(one =>
      one.topics.flatMap(topic => topic.partitions.map(({ errorCode }) => errorCode)),
    ),
    [ErrorCode.none, ErrorCode.none, ErrorCode.unknownTopicOrPartition],
  )
  assert.deepEqual(cluster.partition('t', 1).directories, [bad, directory(2)])
  cluster.heartbeat(1, { offlineLogDirs: [bad] })
  assert.deepEqual(cluster.image.broker(1)?.logDirs, [good])
  assert.deepEqual([cluster.partition('t', 0).leader, cluster.partition('t', 1).leader], [1, 2])
  assert.deepEqual(cluster.partition('t', 1).isr, [2])
  cluster.heartbeat(1, { offlineLogDirs: [bad] })
  assert.deepEqual(cluster.records, [])
})

test('a heartbeat that changes nothing is answered at once', () => {
  const cluster = new TestCluster().start(1)
  const request = {
    ...{ brokerId: 1, brokerEpoch: cluster.image.broker(1)!.epoch, currentMetadataOffset: 99, wantFence: false },
    ...{ wantShutDown: false, offlineLogDirs: [], cordonedLogDirs: null },
  }
  const decision = cluster.controller.decide({ type: 'brokerHeartbeat', requestId: 1, request }, cluster.now)
  assert.equal(decision.answersAtOnce, true)
  const leaving = { ...request, wantFence: true }
  const change = cluster.controller.decide({ type: 'brokerHeartbeat', requestId: 2, request: leaving }, cluster.now)
  assert.equal(change.answersAtOnce, false)
})

test('controllers say who they are', () => {
  const cluster = new TestCluster()
  const features = [{ name: 'metadata.version', minSupportedVersion: 7, maxSupportedVersion: 33 }]
  const listeners = [{ name: 'CONTROLLER', host: 'h', port: 9093, securityProtocol: 0 }]
  const request = { controllerId: 3, incarnationId: id(1), zkMigrationReady: false, listeners, features }
  assert.equal(cluster.submit({ type: 'registerController', request }).response.errorCode, ErrorCode.none)
  assert.deepEqual(
    [...cluster.image.controllers()].map(one => [one.controllerId, one.endPoints]),
    [[3, listeners]],
  )
  const old = { ...request, features: [] }
  assert.equal(
    cluster.submit({ type: 'registerController', request: old }).response.errorCode,
    ErrorCode.unsupportedVersion,
  )
})

test('blocks of producer ids are given once, to brokers that are registered', () => {
  const cluster = new TestCluster().start(1)
  const { epoch: brokerEpoch } = cluster.image.broker(1)!
  const allocate = (epoch: number) =>
    cluster.submit({ type: 'allocateProducerIds', request: { brokerId: 1, brokerEpoch: epoch } }).response
  assert.deepEqual([allocate(brokerEpoch).producerIdStart, allocate(brokerEpoch).producerIdStart], [0, 1000])
  assert.equal(allocate(brokerEpoch).producerIdLen, 1000)
  assert.equal(cluster.image.nextProducerId, 3000)
  assert.equal(allocate(brokerEpoch + 1).errorCode, ErrorCode.staleBrokerEpoch)
  assert.equal(cluster.image.nextProducerId, 3000)
})
