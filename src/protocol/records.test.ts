import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode, encodeToBuffer } from './codec.ts'
import { withDefaults } from './defaults.ts'
import { groupRecords } from './group-record.ts'
import { partitionProduceResponse, produceResponse } from './messages/produce.ts'
import { decodeMetadataRecord, encodeMetadataRecord, metadataRecordVersion } from './metadata-record.ts'
import { ProtocolError } from './protocol-error.ts'
import { partitionRecord } from './records/metadata-topics.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

test('a metadata record is framed as Kafka frames it', () => {
  const bytes = hex('01 0c 00 11 6d657461646174612e76657273696f6e 001e 00')
  const record = { type: 'featureLevel', value: { name: 'metadata.version', featureLevel: 30 } } as const
  assert.deepEqual(encodeMetadataRecord(record, 0), bytes)
  assert.deepEqual(decodeMetadataRecord(bytes), record)
})

test('a metadata record of a newer Kafka is told apart from a broken one', () => {
  assert.deepEqual(decodeMetadataRecord(hex('01 63 00 00')), { type: 'unknown', typeNumber: 99, version: 0 })
  assert.deepEqual(decodeMetadataRecord(hex('01 02 07 00')), { type: 'unknown', typeNumber: 2, version: 7 })
  assert.throws(() => decodeMetadataRecord(hex('02 0c 00')), ProtocolError)
  assert.throws(() => decodeMetadataRecord(hex('01 0c 00 11 6d65')), ProtocolError)
  assert.throws(() => decodeMetadataRecord(hex('01 14 00 00 00')), ProtocolError, 'a byte behind a NoOpRecord')
})

test('a record is written in the version that its metadata.version asks for', () => {
  const versions = [7, 8, 16, 17, 22, 23, 29, 30, 33].map(level => [
    metadataRecordVersion('registerBroker', level),
    metadataRecordVersion('partition', level),
  ])
  assert.deepEqual(versions, [
    [1, 0],
    [2, 0],
    [2, 0],
    [3, 1],
    [3, 1],
    [3, 2],
    [3, 2],
    [4, 2],
    [4, 2],
  ])
  assert.equal(metadataRecordVersion('topic', 33), 0)
})

test('an offset commit key is Kafka’s', () => {
  const input = {
    type: 'offsetCommit',
    key: { group: 'g', topic: 't', partition: 2 },
    value: { offset: 5, metadata: '', commitTimestamp: 1, leaderEpoch: 3 },
  } as const
  const { key, value } = groupRecords.encode(input, 3)
  assert.deepEqual(key, hex('0001 0001 67 0001 74 00000002'))
  assert.deepEqual(value, hex('0003 0000000000000005 00000003 0000 0000000000000001'))
  const record = groupRecords.decode(key, value)
  assert.equal(record.type, 'offsetCommit')
  assert.deepEqual(groupRecords.decode(key, null), { type: 'offsetCommit', key: input.key, value: null })
})

test('a coordinator record of a newer Kafka is told apart from a broken one', () => {
  assert.deepEqual(groupRecords.decode(hex('0063 00'), hex('0000')), {
    type: 'unknown',
    typeNumber: 99,
    valueVersion: 0,
  })
  const key = hex('0001 0001 67 0001 74 00000002')
  assert.deepEqual(groupRecords.decode(key, hex('0009 00')), { type: 'unknown', typeNumber: 1, valueVersion: 9 })
  assert.throws(() => groupRecords.decode(key, hex('0003 00')), ProtocolError)
  assert.throws(() => groupRecords.decode(key, hex('ffff 00')), ProtocolError)
  assert.throws(() => groupRecords.decode(hex('0001 0005 67'), null), ProtocolError)
})

test('withDefaults gives what decoding gives', () => {
  const ids = { partitionId: 1, topicId: 'AAECAwQFBgcICQoLDA0ODw' }
  const replicas = { replicas: [1], isr: [1], removingReplicas: [], addingReplicas: [] }
  const whole = withDefaults(partitionRecord, { ...ids, ...replicas, leader: 1 })
  const bytes = encodeMetadataRecord({ type: 'partition', value: whole }, 2)
  assert.deepEqual(decodeMetadataRecord(bytes), { type: 'partition', value: whole })
  const answer = { responses: [{ name: 't', partitionResponses: [{ index: 3, errorCode: 6, baseOffset: -1 }] }] }
  const decoded = decode(produceResponse, 9, encodeToBuffer(produceResponse, 9, answer))
  assert.deepEqual(withDefaults(produceResponse, answer), decoded)
  assert.deepEqual(withDefaults(partitionProduceResponse, answer.responses[0].partitionResponses[0]).currentLeader, {
    leaderId: -1,
    leaderEpoch: -1,
  })
})
