import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { batchHeaderBytes, isCrcValid } from './batch.ts'
import { type BatchRules, BatchValidator, checkProduceRecords } from './batch-validator.ts'
import { fuzzBatch, randomBatch } from './fuzz.ts'
import { openBatch } from './open-batch.ts'
import { rebuildBatch } from './rebuild.ts'
import { RecordReader } from './record.ts'
import { SeededRandom } from './seeded-random.ts'

const wallMs = 1_700_000_000_000
const rules: BatchRules = {
  maxMessageBytes: 1_048_588,
  isCompacted: false,
  timestampType: 'CreateTime',
  maxDecompressedMessageBytes: 2_147_483_639,
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

function isReadable(bytes: Buffer): boolean {
  const reader = openBatch(bytes, 0, 2 ** 22)
  if (!(reader instanceof RecordReader)) return false
  while (reader.next() !== undefined);
  return !reader.isCorrupt
}

test('changed batches get one of the codes, and what is accepted can be read and packed anew', () => {
  let acceptedCount = 0
  for (let seed = 0; seed < 2000; seed++) {
    const { bytes } = fuzzBatch(new SeededRandom(seed), wallMs)
    const code = codeOf(bytes)
    assert.ok(possibleCodes.includes(code), `seed ${seed}: code ${code}`)
    if (code !== ErrorCode.none) continue
    acceptedCount++
    assert.ok(isReadable(bytes), `seed ${seed}`)
    const codec = seed % 5
    const rebuilt = rebuildBatch(bytes, { codec, maxBytes: 2 ** 22 })
    assert.ok(Buffer.isBuffer(rebuilt) && isReadable(rebuilt), `seed ${seed} with codec ${codec}`)
    assert.ok(isCrcValid(rebuilt, 0, rebuilt.length), `seed ${seed} with codec ${codec}`)
    assert.equal(rebuilt.toString('hex', 23, batchHeaderBytes), bytes.toString('hex', 23, batchHeaderBytes))
  }
  assert.ok(acceptedCount > 100)
})

test('the same seed makes the same batch', () => {
  assert.deepEqual(fuzzBatch(new SeededRandom(5), wallMs), fuzzBatch(new SeededRandom(5), wallMs))
})
