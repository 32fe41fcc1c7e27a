import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Codec } from './job.ts'

const CODECS: readonly Codec[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
const HEADER_BYTES = 61
const LENGTH_AT = 8
const MAGIC_AT = 16
const ATTRIBUTES_AT = 21
const PRODUCER_ID_AT = 43
const CODEC_MASK = 7

export interface StoredBatch {
  readonly file: string
  readonly magic: number
  readonly codec: Codec
  readonly producerId: bigint
}

/**
 * The headers of a topic's batches as they lie in the broker's segments. A client may quietly send without the codec it
 * was asked for (librdkafka did, when a broker's version ranges displeased it): only the files tell.
 */
export function storedBatches(logDir: string, topic: string): StoredBatch[] {
  const partitions = readdirSync(logDir).filter(name => name.replace(/-\d+$/, '') === topic)
  return partitions.flatMap(partition =>
    readdirSync(join(logDir, partition))
      .filter(name => name.endsWith('.log'))
      .flatMap(name => batchesOf(join(logDir, partition, name))),
  )
}

function batchesOf(file: string): StoredBatch[] {
  const bytes = readFileSync(file)
  const batches: StoredBatch[] = []
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    const length = bytes.readInt32BE(at + LENGTH_AT)
    if (length <= 0) break // preallocated
    batches.push({
      file,
      magic: bytes.readInt8(at + MAGIC_AT),
      codec: CODECS[bytes.readInt16BE(at + ATTRIBUTES_AT) & CODEC_MASK] ?? 'none',
      producerId: bytes.readBigInt64BE(at + PRODUCER_ID_AT),
    })
    at += LENGTH_AT + 4 + length
  }
  return batches
}
