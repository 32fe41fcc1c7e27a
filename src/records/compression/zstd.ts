import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { joinBlocks } from './block-reader.ts'
import { corruptInput, type Decompressed, type DecompressFailure, isTooLarge } from './decompressed.ts'
import { findZstdFrames, type ZstdFrame } from './zstd-frames.ts'

const defaultChunkBytes = 65_536
const smallestChunkBytes = 64
/** From this version on Node unpacks all frames in one call; before it, the first only. */
const takesSeveralFrames = Number.parseInt(process.versions.node, 10) >= 24
/** Where each frame is a call of its own, more of them could hold up the loop. */
const maxFramesOneByOne = 1000

/**
 * Any number of frames (on Node 22 a thousand). A window of more than 128 MiB is refused, as in Kafka; the memory for a
 * smaller one is asked for by the library and touched only as far as there is output.
 */
export function unpackZstd(bytes: Buffer, maxBytes: number): Decompressed {
  const pieces = planZstd(bytes)
  if ('type' in pieces) return pieces
  const outputs: Buffer[] = []
  let room = maxBytes
  for (const { start, end, contentBytes } of pieces) {
    if (contentBytes !== undefined && contentBytes > room) return { type: 'tooLarge' }
    const result = unpackPiece(bytes.subarray(start, end), room, contentBytes)
    if (result.type !== 'done') return result
    outputs.push(result.output)
    room -= result.output.length
  }
  return joinBlocks(outputs)
}

/** What to unpack in one call each: everything, or one frame after the other. */
export function planZstd(bytes: Buffer): readonly ZstdFrame[] | DecompressFailure {
  const frames = findZstdFrames(bytes)
  if (frames === undefined) return corruptInput('the zstd data is cut off or corrupt')
  if (takesSeveralFrames) return [{ start: 0, end: bytes.length, contentBytes: contentSize(frames) }]
  return frames.length > maxFramesOneByOne ? corruptInput('the zstd data has too many frames') : frames
}

function contentSize(frames: readonly ZstdFrame[]): number | undefined {
  let sum = 0
  for (const { contentBytes } of frames) {
    if (contentBytes === undefined) return undefined
    sum += contentBytes
  }
  return sum
}

function unpackPiece(bytes: Buffer, maxBytes: number, contentBytes: number | undefined): Decompressed {
  try {
    return { type: 'done', output: zstdDecompressSync(bytes, zstdUnpackOptions(maxBytes, contentBytes)) }
  } catch (error) {
    return zstdFailure(error)
  }
}

export function zstdFailure(error: unknown): DecompressFailure {
  return isTooLarge(error) ? { type: 'tooLarge' } : corruptInput('the zstd data is corrupt')
}

/** One chunk of the right size saves a copy; it is one byte longer, so that the end is seen in it. */
export function zstdUnpackOptions(maxBytes: number, contentBytes = defaultChunkBytes) {
  return {
    maxOutputLength: Math.max(1, maxBytes),
    chunkSize: Math.max(smallestChunkBytes, Math.min(contentBytes, maxBytes) + 1),
  }
}

/** One frame. `level` is 3 when not given; Kafka allows -131072 to 22. */
export function packZstd(bytes: Buffer, level?: number): Buffer {
  return zstdCompressSync(bytes, zstdPackOptions(level))
}

export function zstdPackOptions(level?: number) {
  return { params: level === undefined ? {} : { [constants.ZSTD_c_compressionLevel]: level } }
}
