import { type BlockReader, readAllBlocks } from './block-reader.ts'
import { Codec } from './codec.ts'
import { corruptInput, type Decompressed } from './decompressed.ts'
import { unpackGzip } from './gzip.ts'
import { Lz4FrameReader } from './lz4.ts'
import { SnappyReader } from './snappy.ts'
import { unpackZstd } from './zstd.ts'

/**
 * Unpacks all of `bytes`, to at most `maxBytes`. Never throws for what is in them, and never makes more output than the
 * bound. Output may be a view of the input where that was stored as it is.
 */
export function decompressSync(codec: number, bytes: Buffer, maxBytes: number): Decompressed {
  switch (codec) {
    case Codec.none:
      return bytes.length > maxBytes ? { type: 'tooLarge' } : { type: 'done', output: bytes }
    case Codec.gzip:
      return unpackGzip(bytes, maxBytes)
    case Codec.snappy:
      return readAllBlocks(new SnappyReader(bytes), maxBytes)
    case Codec.lz4:
      return readAllBlocks(new Lz4FrameReader(bytes), maxBytes)
    case Codec.zstd:
      return unpackZstd(bytes, maxBytes)
    default:
      return corruptInput('the codec is unknown')
  }
}

/** A reader for the codecs that can be unpacked block by block; undefined for the others. */
export function blockReader(codec: number, bytes: Buffer): BlockReader | undefined {
  if (codec === Codec.lz4) return new Lz4FrameReader(bytes)
  return codec === Codec.snappy ? new SnappyReader(bytes) : undefined
}
