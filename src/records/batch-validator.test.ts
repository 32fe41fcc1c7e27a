import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { updateCrc } from './batch.ts'
import { type BatchRules, BatchValidator, checkProduceRecords } from './batch-validator.ts'
import { BatchBuilder, type BatchFields } from './builder.ts'
import { Codec } from './compression/codec.ts'
import { decompressSync } from './compression/decompress.ts'

const rules: BatchRules = {
  maxMessageBytes: 1_048_588,
  isCompacted: false,
  timestampType: 'CreateTime',
  maxDecompressedMessageBytes: 2_147_483_639,
  timestampBeforeMaxMs: Number.POSITIVE_INFINITY,
  timestampAfterMaxMs: 3_600_000,
  compressionType: 'producer',
}
const wallMs = 1_700_000_000_000
const validator = new BatchValidator({ maxUncompressedBytes: 128 * 2 ** 20, checksCompressed: true })

interface Given {
  timestamp?: number | bigint
  key?: string | null
  headers?: { key: string; value: Buffer | null }[]
}

function built(records: Given[] = [{}], fields: BatchFields = {}): Buffer {
  const builder = new BatchBuilder()
  for (const { timestamp = wallMs, key = 'k', headers } of records) {
    builder.append(timestamp, key === null ? null : Buffer.from(key), Buffer.from('value'), headers)
  }
  return Buffer.from(builder.finish(fields))
}

function changed(change: (bytes: Buffer) => void, bytes = built([{}, {}])): Buffer {
  change(bytes)
  updateCrc(bytes, 0)
  return bytes
}

function codeOf(bytes: Buffer, given: Partial<BatchRules> = {}): number {
  const verdict = validator.validate(bytes, { ...rules, ...given }, wallMs)
  return verdict.type === 'rejected' ? verdict.errorCode : ErrorCode.none
}

test('a good batch is accepted with its size, count and largest timestamp', () => {
  const bytes = built([
    { timestamp: wallMs + 5 },
    { timestamp: wallMs + 9, headers: [{ key: 'h', value: null }] },
    { timestamp: wallMs + 1 },
  ])
  assert.deepEqual(validator.validate(bytes, rules, wallMs), {
    type: 'accepted',
    sizeBytes: bytes.length,
    recordCount: 3,
    maxTimestamp: BigInt(wallMs + 9),
    needsRebuild: false,
  })
})

test('the largest timestamp is exact for nanoseconds and extreme values, and -1 when there is none', () => {
  const cases: [timestamps: (number | bigint)[], max: bigint][] = [
    [[1_700_000_000_123_456_789n, 1_700_000_000_123_456_788n], 1_700_000_000_123_456_789n],
    [[0, 2n ** 62n, 5], 2n ** 62n],
    [[-1, -1], -1n],
    [[-5, -9], -1n],
    [[3, -1], 3n],
    [[-(2n ** 62n), 7], 7n],
  ]
  for (const [timestamps, max] of cases) {
    const verdict = validator.validate(
      built(timestamps.map(timestamp => ({ timestamp }))),
      { ...rules, timestampAfterMaxMs: Number.POSITIVE_INFINITY },
      wallMs,
    )
    assert.equal(verdict.type === 'accepted' && verdict.maxTimestamp, max)
  }
})

test('each broken header is refused with the code that Kafka gives', () => {
  const cases: [name: string, bytes: Buffer, code: number][] = [
    ['a wrong CRC', Buffer.concat([built()]).fill(0, 17, 21), ErrorCode.corruptMessage],
    ['a base offset', changed(bytes => bytes.writeInt32BE(1, 4)), ErrorCode.invalidRecord],
    ['a base offset in the high half', changed(bytes => bytes.writeInt32BE(1, 0)), ErrorCode.invalidRecord],
    ['no records', changed(bytes => bytes.writeInt32BE(0, 57)), ErrorCode.invalidRecord],
    ['fewer offsets than records', changed(bytes => bytes.writeInt32BE(0, 23)), ErrorCode.invalidRecord],
    ['more offsets than records', changed(bytes => bytes.writeInt32BE(2, 23)), ErrorCode.invalidRecord],
    [
      'more records than there are',
      changed(bytes => void [bytes.writeInt32BE(2, 23), bytes.writeInt32BE(3, 57)]),
      ErrorCode.invalidRecord,
    ],
    [
      'fewer records than there are',
      changed(bytes => void [bytes.writeInt32BE(0, 23), bytes.writeInt32BE(1, 57)]),
      ErrorCode.invalidRecord,
    ],
    ['the control bit', built([{}], { isControl: true }), ErrorCode.invalidRecord],
    ['a producer id without a sequence', built([{}], { producerId: 5, producerEpoch: 0 }), ErrorCode.invalidRecord],
    ['an old magic', changed(bytes => bytes.writeInt8(1, 16)), ErrorCode.invalidRecord],
    ['an unknown codec', changed(bytes => bytes.writeInt16BE(5, 21)), ErrorCode.invalidRecord],
  ]
  for (const [name, bytes, code] of cases) assert.equal(codeOf(bytes), code, name)
})

test('a batch may be as large as max.message.bytes and no larger', () => {
  const bytes = built()
  assert.equal(codeOf(bytes, { maxMessageBytes: bytes.length }), ErrorCode.none)
  assert.equal(codeOf(bytes, { maxMessageBytes: bytes.length - 1 }), ErrorCode.messageTooLarge)
})

test('every cut of the records with a right CRC is refused', () => {
  const good = built([{}, { headers: [{ key: 'h', value: Buffer.from('x') }] }])
  for (let size = 61; size < good.length; size++) {
    const bytes = changed(cut => void cut.writeInt32BE(size - 12, 8), Buffer.from(good.subarray(0, size)))
    assert.equal(codeOf(bytes), ErrorCode.invalidRecord)
  }
})

test('a compacted log refuses each record without a key, and names it', () => {
  const verdict = validator.validate(
    built([{}, { key: null }, { key: '' }, { key: null }]),
    { ...rules, isCompacted: true },
    wallMs,
  )
  assert.ok(verdict.type === 'rejected')
  assert.equal(verdict.errorCode, ErrorCode.invalidRecord)
  assert.deepEqual(
    verdict.recordErrors.map(error => error.batchIndex),
    [1, 3],
  )
})

test('timestamps outside of the bounds are refused and named; exactly on them they are good', () => {
  const bounds = { timestampBeforeMaxMs: 1000, timestampAfterMaxMs: 500 }
  const timestamps = [-1000, -1001, 500, 501, 0].map(distance => ({ timestamp: wallMs + distance }))
  const verdict = validator.validate(built([...timestamps, { timestamp: -1 }]), { ...rules, ...bounds }, wallMs)
  assert.ok(verdict.type === 'rejected')
  assert.equal(verdict.errorCode, ErrorCode.invalidTimestamp)
  assert.deepEqual(
    verdict.recordErrors.map(error => error.batchIndex),
    [1, 3],
  )
  assert.equal(codeOf(built([{ timestamp: 0 }]), { ...bounds, timestampType: 'LogAppendTime' }), ErrorCode.none)
})

test('without a lower bound only what is further back than an int64 can tell is refused, as in Kafka', () => {
  const earliest = BigInt(wallMs) - (2n ** 63n - 1n)
  assert.equal(codeOf(built([{ timestamp: earliest }])), ErrorCode.none)
  assert.equal(codeOf(built([{ timestamp: earliest - 1n }])), ErrorCode.invalidTimestamp)
})

test('offset deltas of an uncompressed batch are not looked at, as in Kafka', () => {
  const builder = new BatchBuilder()
  builder.appendAt(1, wallMs, null, null)
  const bytes = changed(batch => batch.writeInt32BE(0, 23), Buffer.from(builder.finish()))
  const verdict = validator.validate(bytes, rules, wallMs)
  assert.equal(verdict.type === 'accepted' && verdict.needsRebuild, false)
})

test('a log with a codec of its own has other batches rebuilt', () => {
  for (const [compressionType, needsRebuild] of [
    ['producer', false],
    ['uncompressed', false],
    ['lz4', true],
  ] as const) {
    const verdict = validator.validate(built(), { ...rules, compressionType }, wallMs)
    assert.equal(verdict.type === 'accepted' && verdict.needsRebuild, needsRebuild)
  }
})

test('a produce request has exactly one batch, of magic 2', () => {
  const good = built()
  const magic1 = Buffer.from(good)
  magic1[16] = 1
  assert.equal(checkProduceRecords(good, 12), undefined)
  assert.equal(checkProduceRecords(Buffer.concat([good, good.subarray(0, 30)]), 12), undefined)
  assert.equal(checkProduceRecords(null, 12)?.errorCode, ErrorCode.invalidRecord)
  assert.equal(checkProduceRecords(Buffer.alloc(0), 12)?.errorCode, ErrorCode.invalidRecord)
  assert.equal(checkProduceRecords(good.subarray(0, -1), 12)?.errorCode, ErrorCode.invalidRecord)
  assert.equal(checkProduceRecords(magic1, 12)?.errorCode, ErrorCode.invalidRecord)
  assert.equal(checkProduceRecords(Buffer.concat([good, good]), 12)?.errorCode, ErrorCode.invalidRecord)
  assert.equal(checkProduceRecords(Buffer.alloc(20), 12)?.errorCode, ErrorCode.corruptMessage)
})

test('zstd needs Produce version 7', () => {
  const bytes = built()
  bytes[22] |= 4
  assert.equal(checkProduceRecords(bytes, 6)?.errorCode, ErrorCode.unsupportedCompressionType)
  assert.equal(checkProduceRecords(bytes, 7), undefined)
})

test('compressed records are checked like others, whatever the codec', () => {
  for (const codec of [Codec.gzip, Codec.snappy, Codec.lz4, Codec.zstd]) {
    const many = Array.from({ length: 3000 }, (_, index) => ({ timestamp: wallMs + index, key: `key-${index}` }))
    assert.deepEqual(validator.validate(built(many, { codec }), rules, wallMs), {
      type: 'accepted',
      sizeBytes: built(many, { codec }).length,
      recordCount: 3000,
      maxTimestamp: BigInt(wallMs + 2999),
      needsRebuild: false,
    })
    const keyless = built([{}, { key: null }], { codec })
    assert.equal(codeOf(keyless, { isCompacted: true }), ErrorCode.invalidRecord)
    assert.equal(codeOf(built([{ timestamp: wallMs + 9e9 }], { codec })), ErrorCode.invalidTimestamp)
    const fewer = changed(
      bytes => void [bytes.writeInt32BE(1, 23), bytes.writeInt32BE(2, 57)],
      built([{}, {}, {}], { codec }),
    )
    assert.equal(codeOf(fewer), ErrorCode.invalidRecord)
    const more = changed(
      bytes => void [bytes.writeInt32BE(3, 23), bytes.writeInt32BE(4, 57)],
      built([{}, {}, {}], { codec }),
    )
    assert.equal(codeOf(more), ErrorCode.invalidRecord)
    const corrupt = changed(bytes => void bytes.fill(0x55, 70, 80), built(many, { codec }))
    assert.equal(codeOf(corrupt), ErrorCode.invalidRecord)
  }
})

test('a compressed batch whose offsets have gaps has to be rebuilt', () => {
  const builder = new BatchBuilder()
  builder.append(wallMs, null, null)
  builder.appendAt(2, wallMs, null, null)
  for (const codec of [Codec.gzip, Codec.snappy, Codec.lz4, Codec.zstd]) {
    const bytes = changed(batch => batch.writeInt32BE(1, 23), builder.finish({ codec }))
    const verdict = validator.validate(bytes, rules, wallMs)
    assert.equal(verdict.type === 'accepted' && verdict.needsRebuild, true)
  }
})

test('what unpacks to more than the bound is too large, for every codec', () => {
  const small = new BatchValidator({ maxUncompressedBytes: 50_000, checksCompressed: true })
  const builder = new BatchBuilder()
  builder.append(wallMs, null, Buffer.alloc(60_000))
  for (const codec of [Codec.gzip, Codec.snappy, Codec.lz4, Codec.zstd]) {
    const verdict = small.validate(builder.finish({ codec }), rules, wallMs)
    assert.equal(verdict.type === 'rejected' && verdict.errorCode, ErrorCode.messageTooLarge)
  }
})

test('what is too long to be unpacked on the loop is asked for, and then walked', () => {
  const builder = new BatchBuilder()
  for (let index = 0; index < 17; index++) builder.append(wallMs, null, Buffer.alloc(2 ** 20))
  for (const codec of [Codec.gzip, Codec.snappy, Codec.lz4, Codec.zstd]) {
    const bytes = builder.finish({ codec })
    const ask = validator.validate(bytes, rules, wallMs)
    assert.ok(ask.type === 'needsUnpacking')
    assert.equal(ask.codec, codec)
    assert.equal(ask.input.length, bytes.length - 61)
    const unpacked = decompressSync(ask.codec, ask.input, ask.maxBytes)
    assert.ok(unpacked.type === 'done')
    while (ask.check.step(unpacked.output));
    const verdict = validator.validate(bytes, rules, wallMs, ask.check)
    assert.equal(verdict.type === 'accepted' && verdict.recordCount, 17)
  }
})

test('a large batch is walked in slices, with the same verdict as in one go', () => {
  const builder = new BatchBuilder()
  for (let index = 0; index < 200_000; index++) {
    builder.append(wallMs + (index % 7), Buffer.from('k'), index === 100_000 ? Buffer.alloc(2_000_000) : null)
  }
  const bytes = Buffer.from(builder.finish({ codec: Codec.zstd }))
  const verdictOn = (change: (records: Buffer) => Buffer, given: Partial<BatchRules> = {}) => {
    const ask = validator.validate(bytes, { ...rules, ...given }, wallMs)
    assert.ok(ask.type === 'needsUnpacking')
    const unpacked = decompressSync(ask.codec, ask.input, ask.maxBytes)
    assert.ok(unpacked.type === 'done')
    const records = change(Buffer.from(unpacked.output))
    let steps = 1
    while (ask.check.step(records)) steps++
    return { steps, verdict: validator.validate(bytes, { ...rules, ...given }, wallMs, ask.check) }
  }
  const { steps, verdict } = verdictOn(records => records)
  assert.ok(steps > 5)
  assert.deepEqual(verdict, {
    ...{ type: 'accepted', sizeBytes: bytes.length, recordCount: 200_000, maxTimestamp: BigInt(wallMs + 6) },
    needsRebuild: false,
  })
  const codeOn = (change: (records: Buffer) => Buffer) => {
    const answer = verdictOn(change).verdict
    return answer.type === 'rejected' ? answer.errorCode : ErrorCode.none
  }
  assert.equal(
    codeOn(records => records.subarray(0, records.length - 1)),
    ErrorCode.invalidRecord,
  )
  assert.equal(
    codeOn(records => records.subarray(0, 10)),
    ErrorCode.invalidRecord,
  )
  assert.equal(
    codeOn(() => Buffer.alloc(0)),
    ErrorCode.invalidRecord,
  )
  assert.equal(
    codeOn(records => Buffer.concat([records, Buffer.alloc(1)])),
    ErrorCode.invalidRecord,
  )
  assert.equal(
    codeOn(records => Buffer.from(records.fill(0x7e, 500_000, 500_100))),
    ErrorCode.invalidRecord,
  )
})

test('compressed records are taken unseen where the broker is told so', () => {
  const trusting = new BatchValidator({ maxUncompressedBytes: 1000, checksCompressed: false })
  const corrupt = changed(bytes => void bytes.fill(0x55, 62), built([{ timestamp: 5 }], { codec: Codec.lz4 }))
  const verdict = trusting.validate(corrupt, rules, wallMs)
  assert.deepEqual(verdict, {
    type: 'accepted',
    sizeBytes: corrupt.length,
    recordCount: 1,
    maxTimestamp: 5n,
    needsRebuild: false,
  })
})

test('a producer id that fits no number is refused: it would be taken for another', () => {
  const withId = (id: bigint) =>
    changed(bytes => bytes.writeBigInt64BE(id, 43), built([{}], { producerId: 1, producerEpoch: 0, baseSequence: 0 }))
  assert.equal(codeOf(withId(2n ** 53n - 1n)), ErrorCode.none)
  assert.equal(codeOf(withId(2n ** 53n)), ErrorCode.invalidRecord)
  assert.equal(codeOf(withId(2n ** 63n - 1n)), ErrorCode.invalidRecord)
})

test('a record that unpacks to more than max.decompressed.message.bytes is refused, a batch of shorter ones is not', () => {
  // Attributes, two deltas of a byte each, no key, the length of the value, no headers. Later offsets take two bytes or three.
  const maxDecompressedMessageBytes = 20_000
  const longest = maxDecompressedMessageBytes - 8
  const batchOf = (valueBytes: number, codec: number, before = 0) => {
    const builder = new BatchBuilder()
    for (let index = 0; index < before; index++) builder.append(wallMs, null, Buffer.alloc(longest - 2))
    builder.append(wallMs, null, Buffer.alloc(valueBytes))
    return Buffer.from(builder.finish({ codec }))
  }
  for (const codec of [Codec.gzip, Codec.snappy, Codec.lz4, Codec.zstd]) {
    const code = (bytes: Buffer) => codeOf(bytes, { maxDecompressedMessageBytes })
    assert.equal(code(batchOf(longest, codec)), ErrorCode.none)
    assert.equal(code(batchOf(longest + 1, codec)), ErrorCode.invalidRecord)
    assert.equal(code(batchOf(longest, codec, 30)), ErrorCode.none)
    const large = batchOf(longest + 1, codec, 900)
    const ask = validator.validate(large, { ...rules, maxDecompressedMessageBytes }, wallMs)
    assert.ok(ask.type === 'needsUnpacking')
    const unpacked = decompressSync(ask.codec, ask.input, ask.maxBytes)
    assert.ok(unpacked.type === 'done')
    while (ask.check.step(unpacked.output));
    const verdict = validator.validate(large, { ...rules, maxDecompressedMessageBytes }, wallMs, ask.check)
    assert.ok(verdict.type === 'rejected')
    assert.equal(verdict.message, 'a record of the batch unpacks to more than max.decompressed.message.bytes')
  }
  assert.equal(codeOf(batchOf(longest + 1, Codec.none), { maxDecompressedMessageBytes }), ErrorCode.none)
})
