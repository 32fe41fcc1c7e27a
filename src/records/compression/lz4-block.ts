import type * as Native from 'lz4-napi'
import { loadNative } from '../native.ts'
import { copyBytes } from './copy-bytes.ts'

const native = loadNative<typeof Native>('lz4-napi')

/** Shorter blocks are unpacked faster in script than by a call (measured); many of them cannot hold up the loop either. */
const nativeFromBytes = 400

/** One byte of a block stands for at most 255 bytes of output, and a few tokens for a few more. */
const maxExpansion = 255

/** Room that is tried first, and how much more the next time. */
const usualExpansion = 4

/** The most bytes that a block of this length can unpack to. */
export function maxLz4BlockOutput(inputBytes: number): number {
  return inputBytes * maxExpansion
}

/**
 * Unpacks one raw block, in front of which there are at least four bytes more. Undefined when it is corrupt or its output is
 * longer than `maxBytes`.
 */
export function unpackLz4Block(bytes: Buffer, start: number, end: number, maxBytes: number): Buffer | undefined {
  const outputBytes = Math.min(maxBytes, maxLz4BlockOutput(end - start))
  if (native === undefined || end - start < nativeFromBytes)
    return unpackLz4BlockInScript(bytes, start, end, outputBytes)
  // The library wants the room for the output in the four bytes in front of the block, where a frame has the length
  // that was read already: they are lent to it, which saves a copy of every block.
  const length = bytes.readUInt32LE(start - 4)
  try {
    return unpackWithRoom(native, bytes.subarray(start - 4, end), outputBytes)
  } finally {
    bytes.writeUInt32LE(length, start - 4)
  }
}

/** It takes all of the room at once, and most blocks need little. */
function unpackWithRoom(library: typeof Native, prefixed: Buffer, outputBytes: number): Buffer | undefined {
  for (let room = usualExpansion * (prefixed.length - 4); ; room *= usualExpansion) {
    prefixed.writeUInt32LE(Math.min(room, outputBytes), 0)
    try {
      return library.uncompressSync(prefixed)
    } catch {
      if (room >= outputBytes) return undefined
    }
  }
}

/** Packs one raw block. Undefined when no native code loads: the frame then holds it as it is. */
export function packLz4Block(bytes: Buffer): Buffer | undefined {
  return native?.compressSync(bytes).subarray(4)
}

/**
 * The same in plain script: sequences of a token, literals, and a match of at least four bytes that reaches back at most
 * 64 KiB. The last sequence has literals only.
 */
export function unpackLz4BlockInScript(
  bytes: Buffer,
  start: number,
  end: number,
  maxBytes: number,
): Buffer | undefined {
  const outputBytes = measureLz4Block(bytes, start, end)
  if (outputBytes === undefined || outputBytes > maxBytes) return undefined
  const output = Buffer.allocUnsafe(outputBytes)
  let at = start
  let filled = 0
  for (;;) {
    const token = bytes[at++]
    let literals = token >>> 4
    if (literals === 15) {
      for (; bytes[at] === 255; at++) literals += 255
      literals += bytes[at++]
    }
    filled = copyBytes(output, filled, bytes, at, literals)
    at += literals
    if (at === end) return output
    const distance = bytes[at] | (bytes[at + 1] << 8)
    at += 2
    let length = (token & 15) + 4
    if (length === 19) {
      for (; bytes[at] === 255; at++) length += 255
      length += bytes[at++]
    }
    if (distance === 0 || distance > filled) return undefined
    for (const stop = filled + length; filled < stop; filled++) output[filled] = output[filled - distance]
  }
}

/** How long the output is, found from the lengths alone; undefined when they do not end with the block. */
function measureLz4Block(bytes: Buffer, start: number, end: number): number | undefined {
  let at = start
  let total = 0
  while (at < end) {
    const token = bytes[at++]
    let literals = token >>> 4
    if (literals === 15) {
      for (; at < end && bytes[at] === 255; at++) literals += 255
      if (at >= end) return undefined
      literals += bytes[at++]
    }
    at += literals
    total += literals
    if (at === end) return (token & 15) === 0 ? total : undefined
    at += 2
    let length = (token & 15) + 4
    if (length === 19) {
      for (; at < end && bytes[at] === 255; at++) length += 255
      if (at >= end) return undefined
      length += bytes[at++]
    }
    total += length
  }
  return undefined
}
