import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeAssignment, decodeSubscription, encodeAssignment, encodeSubscription } from './consumer-protocol.ts'
import { ProtocolError } from './protocol-error.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

test('subscriptions and assignments are Kafka’s to the byte', () => {
  const owned = [{ topic: 't1', partitions: [0] }]
  const subscription = { topics: ['t1'], userData: null, ownedPartitions: owned, generationId: 4, rackId: 'r1' }
  const third = hex('0003 00000001 0002 7431 ffffffff 00000001 0002 7431 00000001 00000000 00000004 0002 7231')
  assert.deepEqual(encodeSubscription(subscription), third)
  assert.deepEqual(decodeSubscription(third), subscription)
  assert.deepEqual(encodeSubscription({ topics: ['t1'] }, 0), hex('0000 00000001 0002 7431 ffffffff'))
  const assignment = { assignedPartitions: [{ topic: 't1', partitions: [0, 1] }] }
  const bytes = hex('0003 00000001 0002 7431 00000002 00000000 00000001 ffffffff')
  assert.deepEqual(encodeAssignment(assignment), bytes)
  assert.deepEqual(decodeAssignment(bytes), { ...assignment, userData: null })
})

test('a version newer than ours is read as our newest, its tail ignored', () => {
  const newer = hex('0009 00000001 0002 7431 ffffffff 00000000 00000004 ffff 1234')
  assert.deepEqual(decodeSubscription(newer), {
    topics: ['t1'],
    userData: null,
    ownedPartitions: [],
    generationId: 4,
    rackId: null,
  })
})

test('no bytes, a negative version and a cut body are refused', () => {
  for (const bytes of ['', '00', 'ffff 00000000 ffffffff', '0000 00000001 0002 74', '0000 7fffffff']) {
    assert.throws(() => decodeSubscription(hex(bytes)), ProtocolError)
    assert.throws(() => decodeAssignment(hex(bytes)), ProtocolError)
  }
})
