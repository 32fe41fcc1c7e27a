import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BatchBuilder, writeBatchHeader } from './builder.ts'
import { RecordReader } from './record.ts'
import { malformed, maxRecordErrors, type RecordRules, RecordWalk } from './record-walk.ts'
import { SeededRandom } from './seeded-random.ts'

const base = 1_700_000_000_000

function rulesFor(recordCount: number, given: Partial<RecordRules> = {}): RecordRules {
  return {
    recordCount,
    baseTimestamp: BigInt(base),
    appendTime: undefined,
    requiresKey: false,
    maxRecordBytes: Number.POSITIVE_INFINITY,
    timestampBounds: undefined,
    ...given,
  }
}

/** Records of every kind, plain ones mostly. */
function mixedRecords(seed: number, count: number): Buffer {
  const choice = new SeededRandom(seed)
  const builder = new BatchBuilder()
  builder.append(base, null, null)
  for (let index = 1; index < count; index++) {
    const headers =
      choice.below(4) === 0
        ? [
            { key: 'h', value: null },
            { key: 'i', value: choice.bytes(70) },
          ]
        : []
    const key = choice.below(3) === 0 ? null : choice.bytes(choice.below(80))
    const value = choice.below(5) === 0 ? null : Buffer.alloc([0, 1, 50, 100, 9000, 70_000][choice.below(6)])
    builder.append(base + [0, 1, -3, 70, 10_000, 5_000_000_000][choice.below(6)], key, value, headers)
  }
  return builder.records
}

test('records that come in pieces of any size are walked as if they came whole', () => {
  const records = mixedRecords(1, 40)
  const whole = new RecordWalk()
  whole.start(rulesFor(40))
  assert.equal(whole.feed(records, 0, records.length), records.length)
  assert.equal(whole.isConsecutive, true)
  const walk = new RecordWalk()
  for (const pieceBytes of [1, 2, 3, 7, 100, 1000, 65_536, 10_000_000]) {
    walk.start(rulesFor(40))
    for (let start = 0; start < records.length; start += pieceBytes) {
      const piece = Buffer.from(records.subarray(start, start + pieceBytes))
      assert.equal(walk.feedPiece(piece), true)
      piece.fill(0xff) // pieces are good only during the call
    }
    assert.equal(walk.hasEndedWell, true)
    assert.equal(walk.isConsecutive, true)
    assert.equal(walk.maxTimestamp, whole.maxTimestamp)
  }
})

test('pieces that end in the middle of a record, or go on after the last, do not end well', () => {
  const records = mixedRecords(2, 50)
  const walk = new RecordWalk()
  walk.start(rulesFor(50))
  assert.equal(walk.feedPiece(records.subarray(0, -1)), true)
  assert.equal(walk.hasEndedWell, false)
  walk.start(rulesFor(49))
  assert.equal(walk.feedPiece(records), false)
})

/** A batch whose header is good, around records that may be anything. */
function batchAround(records: Buffer, recordCount: number): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(61), records])
  const rest = { maxTimestamp: 0n, baseTimestamp: BigInt(base), lastOffsetDelta: recordCount - 1, recordCount }
  writeBatchHeader(bytes, rest)
  return bytes
}

test('the walk takes exactly what a reader of records can read, and sees the same in it', () => {
  const walk = new RecordWalk()
  let goodCount = 0
  for (let seed = 0; seed < 1500; seed++) {
    const random = new SeededRandom(seed)
    const count = 1 + random.below(6)
    const records = Buffer.from(mixedRecords(seed, count))
    for (let changes = random.below(3); changes > 0; changes--) {
      records[random.below(Math.min(records.length, 150))] = [0, 1, 2, 0x7f, 0x80, 0x81, random.below(256)][
        random.below(7)
      ]
    }
    const bytes = batchAround(records, count)
    const reader = new RecordReader(bytes, 0, bytes.length)
    let maxTimestamp = -1n
    let readCount = 0
    let isConsecutive = true
    for (let record = reader.next(); record !== undefined; record = reader.next()) {
      if (record.offset !== readCount++) isConsecutive = false
      if (record.timestamp > maxTimestamp) maxTimestamp = record.timestamp
    }
    walk.start(rulesFor(count))
    const isGood = walk.feed(bytes, 61, bytes.length) === bytes.length && walk.isComplete
    assert.equal(isGood, !reader.isCorrupt, `seed ${seed}`)
    if (!isGood) continue
    goodCount++
    assert.equal(walk.isConsecutive, isConsecutive, `seed ${seed}`)
    assert.equal(walk.maxTimestamp, maxTimestamp, `seed ${seed}`)
  }
  assert.ok(goodCount > 300 && goodCount < 1400, `${goodCount} of 1500 are good`)
})

test('a length that never ends or is negative is malformed, in one piece or in many', () => {
  const walk = new RecordWalk()
  for (const bytes of [
    Buffer.alloc(10, 0x80),
    Buffer.from([0x01, 0, 0, 0, 0]),
    Buffer.from([0x80, 0x80, 0x80, 0x80, 0x80]),
  ]) {
    walk.start(rulesFor(1))
    assert.equal(walk.feed(bytes, 0, bytes.length), malformed)
    walk.start(rulesFor(1))
    const fine = [...bytes].map(byte => walk.feedPiece(Buffer.from([byte])))
    assert.equal(fine.includes(false), true)
  }
})

test('a record is whole only within its own bytes', () => {
  const builder = new BatchBuilder()
  builder.append(base, Buffer.from('key'), Buffer.from('value'))
  const record = Buffer.from(builder.records)
  const walk = new RecordWalk()
  // Key, value, and header count claim more than the record has, although bytes follow.
  for (const [at, value] of [
    [4, 40],
    [8, 40],
    [14, 2],
    [0, 26],
    [0, 29],
    [0, 30],
  ]) {
    const bytes = Buffer.concat([record, Buffer.alloc(100)])
    bytes[at] = value
    walk.start(rulesFor(1))
    assert.equal(walk.feed(bytes, 0, bytes.length), malformed, `byte ${at}`)
  }
})

test('a varint of four bytes is not taken for one of three and something else', () => {
  // The value's length is 2^21; its fourth byte, with the two behind it, would also make one good header.
  const bytes = Buffer.from('14 00 00 00 01 80808002 00 01'.replaceAll(' ', ''), 'hex')
  const walk = new RecordWalk()
  walk.start(rulesFor(1))
  assert.equal(walk.feed(bytes, 0, bytes.length), malformed)
})

test('of many rejected records the first are listed and all are counted', () => {
  const builder = new BatchBuilder()
  for (let index = 0; index < maxRecordErrors + 5; index++) builder.append(base, null, null)
  const walk = new RecordWalk()
  walk.start(rulesFor(maxRecordErrors + 5, { requiresKey: true }))
  walk.feed(builder.records, 0, builder.records.length)
  assert.equal(walk.errors.length, maxRecordErrors)
  assert.equal(walk.errorCount, maxRecordErrors + 5)
})

test('nothing is left of the batch before', () => {
  const builder = new BatchBuilder()
  builder.appendAt(4, base + 99, null, null)
  const walk = new RecordWalk()
  walk.start(
    rulesFor(1, { requiresKey: true, timestampBounds: { earliest: BigInt(base + 100), latest: BigInt(base + 200) } }),
  )
  walk.feed(builder.records, 0, builder.records.length)
  walk.start(rulesFor(1))
  builder.reset()
  builder.append(base - 5, null, null)
  walk.start(rulesFor(1, { baseTimestamp: BigInt(base - 5) }))
  walk.feed(builder.records, 0, builder.records.length)
  assert.deepEqual(
    [walk.errorCount, walk.hasTimestampError, walk.isConsecutive, walk.maxTimestamp, walk.hasEndedWell],
    [0, false, true, BigInt(base - 5), true],
  )
})
