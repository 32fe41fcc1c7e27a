import { crc32c } from '../../records/crc32c.ts'
import { readInt64, writeInt64 } from '../../records/int64.ts'
import type { ProducerEntry } from './producer-entry.ts'

const version = 1
const headerBytes = 10
const entryBytes = 46
const crcPosition = 2
const crcFrom = 6

/** The content of a `.snapshot` file: each producer with its last batch. */
export function encodeProducerSnapshot(entries: ReadonlyMap<number, ProducerEntry>): Buffer {
  const bytes = Buffer.alloc(headerBytes + entries.size * entryBytes)
  bytes.writeInt16BE(version, 0)
  bytes.writeInt32BE(entries.size, 6)
  let at = headerBytes
  for (const [producerId, entry] of entries) {
    const last = entry.batches.at(-1)
    writeInt64(bytes, at, producerId)
    bytes.writeInt16BE(entry.producerEpoch, at + 8)
    bytes.writeInt32BE(last?.lastSequence ?? -1, at + 10)
    writeInt64(bytes, at + 14, last?.lastOffset ?? -1)
    bytes.writeInt32BE(last?.offsetDelta ?? 0, at + 22)
    bytes.writeBigInt64BE(entry.lastTimestamp, at + 26)
    bytes.writeInt32BE(entry.coordinatorEpoch, at + 34)
    writeInt64(bytes, at + 38, entry.currentTxnFirstOffset)
    at += entryBytes
  }
  bytes.writeUInt32BE(crc32c(bytes, crcFrom), crcPosition)
  return bytes
}

/** Undefined when the content is damaged or of another version. */
export function decodeProducerSnapshot(bytes: Buffer): [number, ProducerEntry][] | undefined {
  if (bytes.length < headerBytes || bytes.readInt16BE(0) !== version) return undefined
  if (bytes.readUInt32BE(crcPosition) !== crc32c(bytes, crcFrom)) return undefined
  const count = bytes.readInt32BE(6)
  if (count < 0 || bytes.length !== headerBytes + count * entryBytes) return undefined
  const entries: [number, ProducerEntry][] = []
  for (let at = headerBytes; at < bytes.length; at += entryBytes) entries.push(decodeEntry(bytes, at))
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
