import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { batchSizeAt } from './batch.ts'
import { type BatchRules, BatchValidator, checkProduceRecords } from './batch-validator.ts'
import { fuzzBatch, randomBatch } from './fuzz.ts'
import { RecordReader } from './record.ts'
import { SeededRandom } from './seeded-random.ts'

const wallMs = 1_700_000_000_000
const rules: BatchRules = {
  maxMessageBytes: 1_048_588,
  isCompacted: false,
  timestampType: 'CreateTime',
  timestampBeforeMaxMs: Number.POSITIVE_INFINITY,
  timestampAfterMaxMs: Number.POSITIVE_INFINITY,
  compressionType: 'producer',
}
const validator = new BatchValidator({ maxUncompressedBytes: 2 ** 22, checksCompressed: true })
const possibleCodes: number[] = [
  ErrorCode.none,
  ErrorCode.corruptMessage,
  ErrorCode.invalidRecord,
  ErrorCode.invalidTimestamp,
  ErrorCode.messageTooLarge,
  ErrorCode.unsupportedCompressionType,
]

function codeOf(bytes: Buffer): number {
  const wrong = checkProduceRecords(bytes, 12)
  if (wrong !== undefined) return wrong.errorCode
  const verdict = validator.validate(bytes, rules, wallMs)
  assert.notEqual(verdict.type, 'needsUnpacking')
  return verdict.type === 'rejected' ? verdict.errorCode : ErrorCode.none
}

test('every generated batch is a good one', () => {
  for (let seed = 0; seed < 300; seed++) {
    assert.equal(codeOf(randomBatch(new SeededRandom(seed), wallMs)), ErrorCode.none, `seed ${seed}`)
  }
})

test('changed batches get one of the codes, and what is accepted can be read', () => {
  let acceptedCount = 0
  for (let seed = 0; seed < 1200; seed++) {
    const { bytes } = fuzzBatch(new SeededRandom(seed), wallMs)
    const code = codeOf(bytes)
    assert.ok(possibleCodes.includes(code), `seed ${seed}: code ${code}`)
    if (code !== ErrorCode.none || (bytes[22] & 7) !== 0) continue
    acceptedCount++
    const reader = new RecordReader(bytes, 0, batchSizeAt(bytes, 0))
    while (reader.next() !== undefined);
    assert.equal(reader.isCorrupt, false, `seed ${seed}`)
  }
  assert.ok(acceptedCount > 50)
})

test('the same seed makes the same batch', () => {
  assert.deepEqual(fuzzBatch(new SeededRandom(5), wallMs), fuzzBatch(new SeededRandom(5), wallMs))
})
