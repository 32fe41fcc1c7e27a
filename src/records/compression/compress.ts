import { AssertionFailure } from '../../base/assert.ts'
import { Codec } from './codec.ts'
import { packGzip } from './gzip.ts'
import { packLz4 } from './lz4.ts'
import { packSnappy } from './snappy.ts'
import { packZstd } from './zstd.ts'

/**
 * The bytes in the codec's framing, as Kafka's own producer writes it. `level` is the codec's own, its default when not
 * given; snappy and lz4 have one level only.
 */
export function compressSync(codec: number, bytes: Buffer, level?: number): Buffer {
  switch (codec) {
    case Codec.none:
      return bytes
    case Codec.gzip:
      return packGzip(bytes, level)
    case Codec.snappy:
      return packSnappy(bytes)
    case Codec.lz4:
      return packLz4(bytes)
    case Codec.zstd:
      return packZstd(bytes, level)
    default:
      throw new AssertionFailure('the codec is one that is known')
  }
}
