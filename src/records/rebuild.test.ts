import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCrcValid, readAttributes, updateCrc } from './batch.ts'
import { decodeBatchHeader } from './batch-header.ts'
import { BatchBuilder } from './builder.ts'
import { Codec } from './compression/codec.ts'
import { openBatch } from './open-batch.ts'
import { rebuildBatch } from './rebuild.ts'
import type { Record } from './record.ts'

const maxBytes = 1_000_000
const codecs = [Codec.none, Codec.gzip, Codec.snappy, Codec.lz4, Codec.zstd]

function recordsOf(bytes: Buffer): Record[] {
  const reader = openBatch(bytes, 0, maxBytes)
  assert.ok(!('type' in reader))
  const records = [...reader]
  assert.equal(reader.isCorrupt, false)
  return records
}

function rebuilt(bytes: Buffer, codec: number): Buffer {
  const result = rebuildBatch(bytes, { codec, maxBytes })
  assert.ok(Buffer.isBuffer(result))
  return result
}

function given(codec: number, gap = 1): Buffer {
  const builder = new BatchBuilder()
  const headers = [{ key: 'h', value: Buffer.from('x') }]
  for (let index = 0; index < 100; index++) {
    builder.appendAt(
      index * gap,
      1_700_000_000_000 + index * 7,
      Buffer.from(`key-${index}`),
      Buffer.alloc(50, index),
      headers,
    )
  }
  const fields = { codec, producerId: 5, producerEpoch: 2, baseSequence: 77, isTransactional: true }
  const bytes = Buffer.from(builder.finish(fields))
  bytes.writeInt32BE(99, 23) // as a client declares it: as many offsets as records
  updateCrc(bytes, 0)
  return bytes
}

test('a batch keeps its records and all of its header when its codec changes', () => {
  for (const from of codecs) {
    const bytes = given(from)
    for (const to of codecs) {
      const result = rebuilt(bytes, to)
      assert.deepEqual(recordsOf(result), recordsOf(bytes))
      const { crc, sizeBytes } = decodeBatchHeader(result)
      assert.deepEqual(decodeBatchHeader(result), { ...decodeBatchHeader(bytes), codec: to, crc, sizeBytes })
      assert.equal(sizeBytes, result.length)
    }
  }
})

test('what a batch says of its producer and its times stays to the bit, whatever it is', () => {
  for (const producerId of [-2n, -(2n ** 40n), -(2n ** 62n), -(2n ** 63n)]) {
    for (const gap of [1, 3]) {
      const bytes = given(Codec.gzip, gap)
      bytes.writeBigInt64BE(producerId, 43)
      bytes.writeInt16BE(-2, 51)
      bytes.writeInt32BE(-3, 53)
      updateCrc(bytes, 0)
      const result = rebuilt(bytes, Codec.zstd)
      assert.equal(result.toString('hex', 23, 61), bytes.toString('hex', 23, 61))
      assert.ok(isCrcValid(result, 0, result.length))
    }
  }
})

test('of attributes that no producer has none is left', () => {
  const bytes = given(Codec.none)
  bytes.writeInt16BE(0x7fc0 | 0x10, 21)
  updateCrc(bytes, 0)
  assert.equal(readAttributes(rebuilt(bytes, Codec.gzip), 0), 0x10 | Codec.gzip)
})

test('offsets with gaps become consecutive, and timestamps stay as they are', () => {
  for (const from of codecs) {
    const gaps = given(from, 3)
    const records = recordsOf(rebuilt(gaps, Codec.lz4))
    assert.deepEqual(
      records.map(record => record.offset),
      Array.from({ length: 100 }, (_, index) => index),
    )
    const strip = (record: Record) => ({ ...record, offset: 0 })
    assert.deepEqual(records.map(strip), recordsOf(gaps).map(strip))
  }
})

test('what cannot be unpacked is answered with why', () => {
  const bytes = given(Codec.gzip)
  assert.deepEqual(rebuildBatch(bytes, { codec: Codec.lz4, maxBytes: 100 }), { type: 'tooLarge' })
  bytes.fill(0x55, 80, 90)
  const result = rebuildBatch(bytes, { codec: Codec.lz4, maxBytes })
  assert.equal('type' in result && result.type, 'corrupt')
  const fewer = given(Codec.none)
  fewer.writeInt32BE(101, 57)
  const short = rebuildBatch(fewer, { codec: Codec.lz4, maxBytes })
  assert.equal('type' in short && short.type, 'corrupt')
})
