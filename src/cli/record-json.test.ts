import assert from 'node:assert/strict'
import { test } from 'node:test'
import { envelopeOf, NotARecord, recordOfEnvelope } from './record-json.ts'

const noText = Buffer.from([0xff, 0xfe])

test('what is printed of a record is that record again, text or not', () => {
  for (const bytes of [null, Buffer.alloc(0), Buffer.from('grüße\u2028'), noText]) {
    const headers = [
      { key: 'a', value: bytes },
      { key: 'b', value: Buffer.from('text') },
    ]
    const printed = envelopeOf('t', 0, { offset: 7, timestamp: 5n, key: bytes, value: bytes, headers })
    const again = recordOfEnvelope(JSON.stringify(printed))
    assert.deepEqual(again, { key: bytes, value: bytes, headers, timestamp: 5 })
  }
})

test('fields may be left out', () => {
  const nothing = { key: null, value: null, headers: [], timestamp: undefined }
  assert.deepEqual(recordOfEnvelope('{}'), nothing)
  assert.deepEqual(recordOfEnvelope('{"ts":-1,"key":null,"topic":5}'), nothing)
})

const wrong: readonly [line: string, reason: string][] = [
  ['not json', 'this is no JSON: not json'],
  ['', 'this is no JSON: '],
  ['null', 'an object is needed, not null'],
  ['[{}]', 'an object is needed, not [{}]'],
  ['"text"', 'an object is needed, not "text"'],
  ['{"key":5}', 'key is a text or null, not 5'],
  ['{"payload":{"a":1}}', 'payload is a text or null, not {"a":1}'],
  ['{"payload":"x","payload_encoding":"hex"}', 'payload_encoding is base64 or left out, not "hex"'],
  ['{"headers":["a"]}', 'headers are a list of name, value, name, value, not ["a"]'],
  ['{"headers":{"a":"b"}}', 'headers are a list of name, value, name, value, not {"a":"b"}'],
  ['{"headers":[null,"b"]}', 'headers are a list of name, value, name, value, not [null,"b"]'],
  ['{"headers":["a",5]}', 'headers are a list of name, value, name, value, not ["a",5]'],
  ['{"ts":"now"}', 'ts is milliseconds, not "now"'],
  ['{"ts":1.5}', 'ts is milliseconds, not 1.5'],
]

test('what is no record says why', () => {
  for (const [line, reason] of wrong) {
    const answer = recordOfEnvelope(line)
    assert.ok(answer instanceof NotARecord, line)
    assert.equal(answer.reason, reason)
  }
})
