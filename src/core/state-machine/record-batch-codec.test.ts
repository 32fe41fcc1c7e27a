import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProtocolError } from '../../protocol/protocol-error.ts'
import { batchHeaderBytes, isCrcValid } from '../../records/batch.ts'
import { decodeBatchHeader } from '../../records/batch-header.ts'
import { BatchBuilder, writeBatchHeader } from '../../records/builder.ts'
import { Codec } from '../../records/compression/codec.ts'
import { type KeyValueCodec, recordBatchCodec, UnknownRecord } from './record-batch-codec.ts'

const texts: KeyValueCodec<string> = {
  encode: text => ({ key: Buffer.from('k'), value: text === '' ? null : Buffer.from(text) }),
  decode: (key, value) => (key === null ? new UnknownRecord('no key') : (value?.toString() ?? '')),
}
const codec = recordBatchCodec(texts)
const now = { monotonicMs: 5, wallMs: 1_700_000_000_000 }

test('what is encoded decodes to the same, and is a plain batch of the time of the decision', () => {
  const batch = codec.encode(['a', '', 'c'], now)
  const header = decodeBatchHeader(batch)
  assert.ok(isCrcValid(batch, 0, batch.length))
  assert.equal(header.maxTimestamp, 1_700_000_000_000n)
  assert.equal(header.producerId, -1)
  assert.equal(header.codec, Codec.none)
  assert.equal(header.partitionLeaderEpoch, -1)
  assert.deepEqual(codec.decode(batch), {
    type: 'data',
    producerId: -1,
    producerEpoch: -1,
    records: [
      { offset: 0, record: 'a' },
      { offset: 1, record: '' },
      { offset: 2, record: 'c' },
    ],
    unknownTypes: [],
  })
})

test('what is encoded with a codec is compressed, and decodes to the same', () => {
  for (const codecNumber of [Codec.gzip, Codec.snappy, Codec.lz4, Codec.zstd]) {
    const compressing = recordBatchCodec(texts, codecNumber)
    const batch = compressing.encode(['a'.repeat(1000), 'b'], now)
    assert.ok(isCrcValid(batch, 0, batch.length))
    assert.equal(decodeBatchHeader(batch).codec, codecNumber)
    assert.ok(batch.length < 500)
    assert.deepEqual(compressing.decode(batch), codec.decode(codec.encode(['a'.repeat(1000), 'b'], now)))
  }
})

test('a compressed batch, one with gaps and one with unknown records are read', () => {
  const builder = new BatchBuilder()
  builder.appendAt(3, 1n, Buffer.from('k'), Buffer.from('x'))
  builder.appendAt(9, 1n, null, Buffer.from('y'))
  for (const compression of [Codec.none, Codec.gzip, Codec.snappy, Codec.lz4, Codec.zstd]) {
    const decoded = codec.decode(Buffer.from(builder.finish({ baseOffset: 100, codec: compression })))
    assert.ok(decoded.type === 'data')
    assert.deepEqual(decoded.records, [{ offset: 103, record: 'x' }])
    assert.deepEqual(decoded.unknownTypes, ['no key'])
  }
})

test('a batch that cannot be read is an error, never an empty one', () => {
  const cut = codec.encode(['a', 'b'], now).subarray(0, -4)
  const builder = new BatchBuilder()
  builder.append(1n, Buffer.from('k'), Buffer.from('x'))
  const damaged = Buffer.from(builder.finish({ codec: Codec.gzip }))
  damaged.fill(0xff, batchHeaderBytes)
  const old = codec.encode(['a'], now)
  old[16] = 1
  for (const batch of [cut, damaged, old]) assert.throws(() => codec.decode(batch), ProtocolError)
})

test('markers end a transaction; other control batches, and empty ones, are passed over', () => {
  // Kafka's own bytes: a commit of producer 1000 epoch 5, and a leader change.
  const commit =
    '000000000000002a000000420000000302b40e86630030000000000000018bcfe568000000018bcfe5680000000000000003e80005ffffffff' +
    '0000000120000000080000' +
    '00010c000000000009' +
    '00'
  assert.deepEqual(codec.decode(Buffer.from(commit, 'hex')), {
    type: 'marker',
    producerId: 1000,
    producerEpoch: 5,
    committed: true,
  })
  // What compaction leaves of a control batch.
  const empty = Buffer.alloc(batchHeaderBytes)
  const times = { baseTimestamp: -1n, maxTimestamp: -1n }
  writeBatchHeader(empty, { isControl: true, lastOffsetDelta: 0, recordCount: 0, ...times })
  assert.deepEqual(codec.decode(empty), { type: 'otherControl' })
  const builder = new BatchBuilder()
  builder.append(1n, Buffer.from([0, 0, 0, 2]), Buffer.from([0]))
  assert.deepEqual(codec.decode(Buffer.from(builder.finish({ isControl: true }))), { type: 'otherControl' })
})
