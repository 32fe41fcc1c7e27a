import { crc32c } from '../../records/crc32c.ts'
import { readInt64, writeInt64 } from '../../records/int64.ts'
import type { ProducerBatch, ProducerEntry } from './producer-entry.ts'

const version = 1
const headerBytes = 10
const entryBytes = 46
const crcPosition = 2
const crcFrom = 6

/**
 * The content of a `.snapshot` file: each producer with its last batches, an entry for each, oldest first. Kafka writes the
 * last batch only; of several entries of a producer it keeps the last. Without those before, whoever repeats a batch
 * after a restart would be told that it is out of order.
 */
export function encodeProducerSnapshot(entries: ReadonlyMap<number, ProducerEntry>): Buffer {
  let count = 0
  for (const { batches } of entries.values()) count += Math.max(1, batches.length)
  const bytes = Buffer.alloc(headerBytes + count * entryBytes)
  bytes.writeInt16BE(version, 0)
  bytes.writeInt32BE(count, 6)
  let at = headerBytes
  for (const [producerId, entry] of entries) {
    for (const batch of entry.batches.slice(0, -1)) {
      encodeEntry(bytes, at, producerId, { ...entry, lastTimestamp: batch.timestamp, currentTxnFirstOffset: -1 }, batch)
      at += entryBytes
    }
    encodeEntry(bytes, at, producerId, entry, entry.batches.at(-1))
    at += entryBytes
  }
  bytes.writeUInt32BE(crc32c(bytes, crcFrom), crcPosition)
  return bytes
}

function encodeEntry(
  bytes: Buffer,
  at: number,
  producerId: number,
  entry: ProducerEntry,
  batch: ProducerBatch | undefined,
): void {
  writeInt64(bytes, at, producerId)
  bytes.writeInt16BE(entry.producerEpoch, at + 8)
  bytes.writeInt32BE(batch?.lastSequence ?? -1, at + 10)
  writeInt64(bytes, at + 14, batch?.lastOffset ?? -1)
  bytes.writeInt32BE(batch?.offsetDelta ?? 0, at + 22)
  bytes.writeBigInt64BE(entry.lastTimestamp, at + 26)
  bytes.writeInt32BE(entry.coordinatorEpoch, at + 34)
  writeInt64(bytes, at + 38, entry.currentTxnFirstOffset)
}

/** Undefined when the content is damaged or of another version. */
export function decodeProducerSnapshot(bytes: Buffer): [number, ProducerEntry][] | undefined {
  if (bytes.length < headerBytes || bytes.readInt16BE(0) !== version) return undefined
  if (bytes.readUInt32BE(crcPosition) !== crc32c(bytes, crcFrom)) return undefined
  const count = bytes.readInt32BE(6)
  if (count < 0 || bytes.length !== headerBytes + count * entryBytes) return undefined
  const entries: [number, ProducerEntry][] = []
  for (let at = headerBytes; at < bytes.length; at += entryBytes) {
    const [producerId, entry] = decodeEntry(bytes, at)
    const before = entries.at(-1)
    const isMore = before?.[0] === producerId && before[1].producerEpoch === entry.producerEpoch
    const batches = isMore ? [...before[1].batches, ...entry.batches] : entry.batches
    if (isMore) entries.pop()
    entries.push([producerId, { ...entry, batches }])
  }
  return entries
}

function decodeEntry(bytes: Buffer, at: number): [number, ProducerEntry] {
  const timestamp = bytes.readBigInt64BE(at + 26)
  const last = {
    lastSequence: bytes.readInt32BE(at + 10),
    lastOffset: readInt64(bytes, at + 14),
    offsetDelta: bytes.readInt32BE(at + 22),
    timestamp,
  }
  const entry = {
    producerEpoch: bytes.readInt16BE(at + 8),
    coordinatorEpoch: bytes.readInt32BE(at + 34),
    currentTxnFirstOffset: readInt64(bytes, at + 38),
    lastTimestamp: timestamp,
    batches: last.lastOffset >= 0 ? [last] : [],
  }
  return [readInt64(bytes, at), entry]
}
