import { batchHeaderBytes, readBatchSize, readCodec } from './batch.ts'
import { Codec } from './compression/codec.ts'
import { decompressSync } from './compression/decompress.ts'
import type { DecompressFailure } from './compression/decompressed.ts'
import { RecordReader } from './record.ts'

/**
 * A reader for the records of the whole batch of magic 2 at `at`, unpacked if need be, to at most `maxBytes`. The CRC is
 * the caller's to check.
 */
export function openBatch(bytes: Buffer, at: number, maxBytes: number): RecordReader | DecompressFailure {
  const sizeBytes = readBatchSize(bytes, at)
  const codec = readCodec(bytes, at)
  if (codec === Codec.none) return new RecordReader(bytes, at, sizeBytes)
  const unpacked = decompressSync(codec, bytes.subarray(at + batchHeaderBytes, at + sizeBytes), maxBytes)
  return unpacked.type === 'done' ? new RecordReader(bytes, at, sizeBytes, unpacked.output) : unpacked
}
