import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { brokerError } from './millrace-error.ts'

test('that records need a key is advised where a missing one is the cause, and nowhere else', () => {
  const said = (text: string | null) => brokerError(ErrorCode.invalidRecord, 'orders-0', text).message
  assert.equal(
    said('Compacted topic cannot accept message without key in topic partition orders-0.'),
    'orders-0: INVALID_RECORD: Compacted topic cannot accept message without key in topic partition orders-0. On a compacted topic every record needs a key',
  )
  assert.equal(said('a produced batch has records'), 'orders-0: INVALID_RECORD: a produced batch has records')
  assert.equal(said(null), 'orders-0: INVALID_RECORD')
})
