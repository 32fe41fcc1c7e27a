import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zeroUuid } from '../../base/uuid.ts'
import { UnknownRecord } from '../state-machine/record-batch-codec.ts'
import { type GroupRecord, groupRecords } from './records.ts'

/** Records as Kafka 4.4 wrote them. */
const fromKafka: { name: string; key: string; value: string | null; record: GroupRecord }[] = [
  {
    name: 'a commit',
    key: '00010002673100017400000002',
    value: '00040000000000000007000000030278000001a228b2d0510100100f9aad7ab1504b9c904edaee480bdada',
    record: {
      type: 'offsetCommit',
      groupId: 'g1',
      topic: 't',
      partition: 2,
      value: {
        committedOffset: 7,
        leaderEpoch: 3,
        metadata: 'x',
        commitTimestampMs: 1_795_979_137_105,
        expireTimestampMs: -1,
        topicId: 'D5qterFQS5yQTtruSAva2g',
      },
    },
  },
  {
    name: 'a commit with a retention of its own',
    key: '00010002673100017400000001',
    value: '000100000000000000060000000001a228b2d04d000001a228b456ed',
    record: {
      type: 'offsetCommit',
      groupId: 'g1',
      topic: 't',
      partition: 1,
      value: {
        committedOffset: 6,
        leaderEpoch: -1,
        metadata: '',
        commitTimestampMs: 1_795_979_137_101,
        expireTimestampMs: 1_795_979_237_101,
        topicId: zeroUuid,
      },
    },
  },
  {
    name: 'the removal of an offset',
    key: '00010002673100017400000000',
    value: null,
    record: { type: 'offsetCommit', groupId: 'g1', topic: 't', partition: 0, value: undefined },
  },
  {
    name: 'a group that has just begun',
    key: '000200026a67',
    value: '0003000000000000ffffffff000001a228b2d06e00000000',
    record: {
      type: 'groupMetadata',
      groupId: 'jg',
      value: {
        protocolType: undefined,
        generationId: 0,
        protocolName: undefined,
        leaderId: undefined,
        stateTimestampMs: 1_795_979_137_134,
        members: [],
      },
    },
  },
  {
    name: 'a group that has become empty',
    key: '000200026a67',
    value: '00030008636f6e73756d657200000002ffffffff000001a228b2d0ea00000000',
    record: {
      type: 'groupMetadata',
      groupId: 'jg',
      value: {
        protocolType: 'consumer',
        generationId: 2,
        protocolName: undefined,
        leaderId: undefined,
        stateTimestampMs: 1_795_979_137_258,
        members: [],
      },
    },
  },
  {
    name: 'the removal of a group',
    key: '000200026a67',
    value: null,
    record: { type: 'groupMetadata', groupId: 'jg', value: undefined },
  },
]

for (const { name, key, value, record } of fromKafka) {
  test(`${name} is written and read as Kafka does`, () => {
    const keyBytes = Buffer.from(key, 'hex')
    const valueBytes = value === null ? null : Buffer.from(value, 'hex')
    assert.deepEqual(groupRecords.decode(keyBytes, valueBytes), record)
    assert.deepEqual(groupRecords.encode(record), { key: keyBytes, value: valueBytes })
  })
}

test('a generation with members comes back as it was, in memory of its own', () => {
  const record: GroupRecord = {
    type: 'groupMetadata',
    groupId: 'g',
    value: {
      protocolType: 'consumer',
      generationId: 3,
      protocolName: 'range',
      leaderId: 'm1',
      stateTimestampMs: 5,
      members: [
        {
          memberId: 'm1',
          groupInstanceId: 'i',
          clientId: 'c',
          clientHost: '/h',
          rebalanceTimeoutMs: 1,
          sessionTimeoutMs: 2,
          subscription: Buffer.from('s'),
          assignment: Buffer.from('a'),
        },
        {
          memberId: 'm2',
          groupInstanceId: undefined,
          clientId: '',
          clientHost: '',
          rebalanceTimeoutMs: 1,
          sessionTimeoutMs: 2,
          subscription: Buffer.alloc(0),
          assignment: Buffer.alloc(0),
        },
      ],
    },
  }
  const { key, value } = groupRecords.encode(record)
  const decoded = groupRecords.decode(key, value)
  value?.fill(0xff)
  assert.deepEqual(decoded, record)
})

test('the first versions of both records are read', () => {
  // Version 0 of a group has neither a time nor rebalance timeouts, and the key of an offset was once of type 0.
  const group = '0000' + '0001' + '70' + '00000001' + '0001' + '72' + '0001' + '6d' + '00000001'
  const member = '0001' + '6d' + '0001' + '63' + '0001' + '68' + '00002710' + '00000000' + '00000000'
  const decoded = groupRecords.decode(Buffer.from('0002000167', 'hex'), Buffer.from(group + member, 'hex'))
  assert.ok(!(decoded instanceof UnknownRecord) && decoded.type === 'groupMetadata')
  assert.equal(decoded.value?.stateTimestampMs, -1)
  assert.equal(decoded.value?.members[0].rebalanceTimeoutMs, 10_000)
  const offset = groupRecords.decode(
    Buffer.from('0000000167000174' + '00000004', 'hex'),
    Buffer.from('0000' + '0000000000000009' + '0000' + '0000000000000001', 'hex'),
  )
  assert.ok(!(offset instanceof UnknownRecord) && offset.type === 'offsetCommit')
  assert.equal(offset.value?.committedOffset, 9)
})

test('records of other kinds of groups, and nonsense, are named and not read', () => {
  for (const [key, type] of [
    ['0003000167', 'record type 3'],
    ['0017000167', 'record type 23'],
    ['7fff', 'record type 32767'],
    ['00', 'a record without a type'],
  ]) {
    const decoded = groupRecords.decode(Buffer.from(key, 'hex'), Buffer.from('0000', 'hex'))
    assert.ok(decoded instanceof UnknownRecord)
    assert.equal(decoded.type, type)
  }
  assert.ok(groupRecords.decode(null, null) instanceof UnknownRecord)
})
