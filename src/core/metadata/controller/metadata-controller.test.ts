import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../../base/error-code.ts'
import { InMemoryLog } from '../../state-machine/in-memory-log.ts'
import { recordBatchCodec } from '../../state-machine/record-batch-codec.ts'
import { StateMachineRunner } from '../../state-machine/runner.ts'
import { MetadataStore } from '../metadata-store.ts'
import { type MetadataRecord, metadataRecords } from '../records.ts'
import { bootstrapRecords } from '../snapshot.ts'
import type { SessionChange } from './broker-sessions.ts'
import type { ControllerCommand } from './commands.ts'
import { TestCluster } from './fixtures/test-cluster.ts'
import { MetadataController } from './metadata-controller.ts'
import { type ControllerReply, failureReply } from './replies.ts'

test('a new cluster begins with what it was formatted with, and only once', () => {
  const cluster = new TestCluster()
  assert.deepEqual([...cluster.image.features()], [['metadata.version', 33]])
  cluster.submit({ type: 'activate', bootstrapRecords: bootstrapRecords(), hasOpenTransaction: false })
  assert.deepEqual(cluster.records, [])
})

test('a controller that takes over aborts the metadata transaction that the one before left open', () => {
  const cluster = new TestCluster()
  cluster.write([{ type: 'beginTransaction', version: 0, name: 'half' }], false)
  assert.equal(cluster.loader.hasOpenTransaction, true)
  const { endOffset } = cluster.loader
  cluster.controller = new MetadataController(cluster.options, {
    metadata: cluster.loader.copyForController(),
    endOffset: endOffset + 1,
  })
  cluster.submit({ type: 'activate', bootstrapRecords: bootstrapRecords(), hasOpenTransaction: true })
  assert.equal(cluster.loader.hasOpenTransaction, false)
  assert.equal(cluster.loader.endOffset, endOffset + 2)
})

test('on its runner, a decision is answered when its records are committed and lost leadership is answered so', () => {
  const replies = new Map<number, ControllerReply>()
  const log = new InMemoryLog()
  const cluster = new TestCluster()
  const runner = new StateMachineRunner<
    ControllerCommand,
    MetadataRecord,
    SessionChange,
    ControllerReply,
    never,
    undefined
  >({
    createMachine: () => new MetadataController(cluster.options, { metadata: new MetadataStore(), endOffset: 0 }),
    codec: recordBatchCodec(metadataRecords),
    log,
    timeoutCommand: { type: 'timeout' },
    failureReply,
    answer: (requestId, reply) => void replies.set(requestId, reply),
    carryOut: () => {},
    reload: () => {},
    unknownRecordType: () => {},
    answerTimeoutMs: 1000,
    maxWaitingAnswers: 10,
  })
  const allocate = (requestId: number): ControllerCommand => ({
    type: 'allocateProducerIds',
    requestId,
    request: { brokerId: 1, brokerEpoch: 0 },
  })
  runner.submit(allocate(1), cluster.now)
  assert.equal(codeOf(replies.get(1)), ErrorCode.notController)

  runner.startLoading()
  runner.loaded(cluster.now, undefined)
  runner.submit({ type: 'activate', bootstrapRecords: bootstrapRecords(), hasOpenTransaction: false }, cluster.now)
  runner.submit(allocate(2), cluster.now)
  assert.equal(replies.has(2), false)
  log.commit()
  runner.committed()
  assert.equal(codeOf(replies.get(2)), ErrorCode.staleBrokerEpoch)
  runner.submit(allocate(3), cluster.now)
  runner.unload()
})

test('every command that the controller cannot take is answered in its own form', () => {
  const name = 'topic'
  const code = ErrorCode.notController
  const create = failureReply(
    { type: 'createTopics', requestId: 1, request: { topics: [topic(name)], timeoutMs: 1, validateOnly: false } },
    ErrorCode.notCoordinator,
  )
  assert.deepEqual(create.type === 'createTopics' && create.response.topics.map(one => [one.name, one.errorCode]), [
    [name, code],
  ])
  const remove = failureReply(
    { type: 'deleteTopics', requestId: 1, apiVersion: 5, request: { topics: [], topicNames: [name], timeoutMs: 1 } },
    ErrorCode.coordinatorNotAvailable,
  )
  assert.deepEqual(remove.type === 'deleteTopics' && remove.response.responses.map(one => [one.name, one.errorCode]), [
    [name, code],
  ])
  const refused = failureReply(
    { type: 'updateFeatures', requestId: 1, request: { timeoutMs: 1, featureUpdates: [], validateOnly: false } },
    ErrorCode.kafkaStorageError,
  )
  assert.equal(codeOf(refused), ErrorCode.kafkaStorageError)
})

function topic(name: string) {
  return { name, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }
}

function codeOf(reply: ControllerReply | undefined): number | undefined {
  return reply && 'errorCode' in reply.response ? reply.response.errorCode : undefined
}
