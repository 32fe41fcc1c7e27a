import { constants, gunzipSync, gzipSync } from 'node:zlib'
import { corruptInput, type Decompressed, type DecompressFailure, isTooLarge } from './decompressed.ts'

const smallestChunkBytes = 64
const largestChunkBytes = 1 << 20

/** Any number of members one after the other. What follows them and is no member is corrupt, which Java would overlook. */
export function unpackGzip(bytes: Buffer, maxBytes: number): Decompressed {
  try {
    return { type: 'done', output: gunzipSync(bytes, gzipUnpackOptions(bytes, maxBytes)) }
  } catch (error) {
    return gzipFailure(error)
  }
}

export function gzipFailure(error: unknown): DecompressFailure {
  return isTooLarge(error) ? { type: 'tooLarge' } : corruptInput('the gzip data is cut off or corrupt')
}

/**
 * The last four bytes say how long the (last) member is when unpacked: in one chunk of that size it is fastest. They may
 * lie, so they are a hint within bounds.
 */
export function gzipUnpackOptions(bytes: Buffer, maxBytes: number) {
  const hint = bytes.length < 4 ? 0 : bytes.readUInt32LE(bytes.length - 4)
  return {
    maxOutputLength: Math.max(1, maxBytes),
    chunkSize: Math.max(smallestChunkBytes, Math.min(hint, maxBytes, largestChunkBytes) + 1),
  }
}

/** One member. `level` 1 to 9; -1 or nothing is the library's default. */
export function packGzip(bytes: Buffer, level?: number): Buffer {
  return gzipSync(bytes, gzipPackOptions(level))
}

export function gzipPackOptions(level: number = constants.Z_DEFAULT_COMPRESSION) {
  return { level }
}
