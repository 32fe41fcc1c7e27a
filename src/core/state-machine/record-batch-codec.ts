import { assert } from '../../base/assert.ts'
import type { Now } from '../../base/time.ts'
import { ProtocolError } from '../../protocol/protocol-error.ts'
import {
  batchHeaderBytes,
  isControlBatch,
  readCodec,
  readMagic,
  readProducerEpoch,
  readProducerId,
} from '../../records/batch.ts'
import { BatchBuilder } from '../../records/builder.ts'
import { Codec } from '../../records/compression/codec.ts'
import { decompressSync } from '../../records/compression/decompress.ts'
import { RecordReader } from '../../records/record.ts'
import type { BatchCodec, DecodedBatch } from './batch-codec.ts'

/** How one machine's records look as keys and values. */
export interface KeyValueCodec<Rec> {
  /** Throws an EncodeError for a record that its format cannot carry. */
  encode(record: Rec): { readonly key: Buffer | null; readonly value: Buffer | null }
  /** The bytes are valid until it returns. A record of a type that is not known is named instead of decoded. */
  decode(key: Buffer | null, value: Buffer | null): Rec | UnknownRecord
}

export class UnknownRecord {
  /** For the log line: 'record type 99'. */
  readonly type: string

  constructor(type: string) {
    this.type = type
  }
}

const abortMarker = 0
const commitMarker = 1
/** Of one batch after unpacking; Kafka may have been told to compress its coordinators' logs. */
const maxUncompressedBytes = 128 << 20

/** The batches that Kafka's coordinators write: uncompressed unless a codec is given, each record at the time of its decision. */
export function recordBatchCodec<Rec>(records: KeyValueCodec<Rec>, codec: number = Codec.none): BatchCodec<Rec> {
  return {
    encode: (batch, now) => encodeBatch(records, batch, now, codec),
    decode: batch => (isControlBatch(batch, 0) ? decodeControl(batch) : decodeData(records, batch)),
  }
}

function encodeBatch<Rec>(keyValue: KeyValueCodec<Rec>, records: readonly Rec[], now: Now, codec: number): Buffer {
  assert(records.length > 0, 'a batch has records')
  const builder = new BatchBuilder(256 * records.length)
  for (const record of records) {
    const { key, value } = keyValue.encode(record)
    builder.append(now.wallMs, key, value)
  }
  return builder.finish({ codec })
}

function decodeData<Rec>(codec: KeyValueCodec<Rec>, batch: Buffer): DecodedBatch<Rec> {
  const records: { offset: number; record: Rec }[] = []
  const unknownTypes: string[] = []
  const reader = openRecords(batch)
  for (let read = reader.next(); read !== undefined; read = reader.next()) {
    const record = codec.decode(read.key, read.value)
    if (record instanceof UnknownRecord) unknownTypes.push(record.type)
    else records.push({ offset: read.offset, record })
  }
  if (reader.isCorrupt) throw new ProtocolError('a batch does not hold the records that it says')
  const producerId = readProducerId(batch, 0)
  return { type: 'data', producerId, producerEpoch: readProducerEpoch(batch, 0), records, unknownTypes }
}

function decodeControl<Rec>(batch: Buffer): DecodedBatch<Rec> {
  // A control batch whose record was compacted away ends nothing any more.
  const key = openRecords(batch).next()?.key
  if (!key || key.length < 4) return { type: 'otherControl' }
  const controlType = key.readInt16BE(2)
  if (controlType !== abortMarker && controlType !== commitMarker) return { type: 'otherControl' }
  const producerId = readProducerId(batch, 0)
  const producerEpoch = readProducerEpoch(batch, 0)
  return { type: 'marker', producerId, producerEpoch, committed: controlType === commitMarker }
}

function openRecords(batch: Buffer): RecordReader {
  if (readMagic(batch, 0) !== 2) throw new ProtocolError('a batch is of a format that coordinators never wrote')
  const codec = readCodec(batch, 0)
  if (codec === Codec.none) return new RecordReader(batch, 0, batch.length)
  const unpacked = decompressSync(codec, batch.subarray(batchHeaderBytes), maxUncompressedBytes)
  if (unpacked.type !== 'done') throw new ProtocolError('a batch cannot be unpacked')
  return new RecordReader(batch, 0, batch.length, unpacked.output)
}
