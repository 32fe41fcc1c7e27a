import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { corruptInput, type Decompressed } from './decompressed.ts'
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
  const frames = findZstdFrames(bytes)
  if (frames === undefined) return corruptInput('the zstd data is cut off or corrupt')
  if (frames.length === 1 || takesSeveralFrames) return unpackWhole(bytes, maxBytes, contentSize(frames))
  return frames.length > maxFramesOneByOne
    ? corruptInput('the zstd data has too many frames')
    : unpackOneByOne(bytes, frames, maxBytes)
}

function unpackOneByOne(bytes: Buffer, frames: readonly ZstdFrame[], maxBytes: number): Decompressed {
  const outputs: Buffer[] = []
  let room = maxBytes
  for (const { start, end, contentBytes } of frames) {
    const result = unpackWhole(bytes.subarray(start, end), room, contentBytes)
    if (result.type !== 'done') return result
    outputs.push(result.output)
    room -= result.output.length
  }
  return { type: 'done', output: Buffer.concat(outputs) }
}

function contentSize(frames: readonly ZstdFrame[]): number | undefined {
  let sum: number | undefined = 0
  for (const { contentBytes } of frames)
    sum = sum === undefined || contentBytes === undefined ? undefined : sum + contentBytes
  return sum
}

function unpackWhole(bytes: Buffer, maxBytes: number, contentBytes: number | undefined): Decompressed {
  if (contentBytes !== undefined && contentBytes > maxBytes) return { type: 'tooLarge' }
  try {
    return { type: 'done', output: zstdDecompressSync(bytes, zstdUnpackOptions(maxBytes, contentBytes)) }
  } catch (error) {
    return (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE'
      ? { type: 'tooLarge' }
      : corruptInput('the zstd data is corrupt')
  }
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
  const params = level === undefined ? {} : { [constants.ZSTD_c_compressionLevel]: level }
  return zstdCompressSync(bytes, { params })
}
