import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeControlRecord, encodeControlRecord } from './control-record.ts'
import { ProtocolError } from './protocol-error.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

test('control records are Kafka’s to the byte', () => {
  const commit = { type: 'commit', value: { coordinatorEpoch: 9 } } as const
  assert.deepEqual(encodeControlRecord(commit), { key: hex('0000 0001'), value: hex('0000 00000009') })
  assert.deepEqual(decodeControlRecord(hex('0000 0001'), hex('0000 00000009')), commit)
  const voters = [{ voterId: 1 }]
  const change = { type: 'leaderChange', value: { version: 0, leaderId: 1, voters, grantingVoters: voters } } as const
  const value = hex('0000 00000001 02 00000001 00 02 00000001 00 00')
  assert.deepEqual(encodeControlRecord(change), { key: hex('0000 0002'), value })
  const decoded = decodeControlRecord(hex('0000 0002'), value)
  assert.ok(decoded.type === 'leaderChange')
  assert.deepEqual([decoded.value.leaderId, decoded.value.voters.length], [1, 1])
})

test('the version in a quorum record decides its form', () => {
  const voter = { voterId: 1, voterDirectoryId: 'AAECAwQFBgcICQoLDA0ODw' }
  const value = { version: 1, leaderId: 1, voters: [voter], grantingVoters: [] }
  const encoded = encodeControlRecord({ type: 'leaderChange', value })
  assert.equal(encoded.value.toString('hex'), '0001000000010200000001000102030405060708090a0b0c0d0e0f000100')
  assert.deepEqual(decodeControlRecord(encoded.key, encoded.value), { type: 'leaderChange', value })
})

test('an unknown type is told apart from broken bytes', () => {
  assert.deepEqual(decodeControlRecord(hex('0000 0063'), hex('')), { type: 'unknown', typeNumber: 99 })
  assert.throws(() => decodeControlRecord(hex('0000'), hex('')), ProtocolError)
  assert.throws(() => decodeControlRecord(hex('ffff 0001'), hex('0000 00000009')), ProtocolError)
  assert.throws(() => decodeControlRecord(hex('0000 0001'), hex('ffff 00000009')), ProtocolError)
  assert.throws(() => decodeControlRecord(hex('0000 0001'), hex('0000 0000')), ProtocolError)
})
