import type * as Native from 'lz4-napi'
import { loadNative } from '../native.ts'

const native = loadNative<typeof Native>('lz4-napi')

/** Shorter blocks are unpacked faster in script than by a call, and many of them cannot hold up the loop. */
const nativeFromBytes = 64

/** One byte of a block stands for at most 255 bytes of output, and a few tokens for a few more. */
const maxExpansion = 255

/** The most bytes that a block of this length can unpack to. */
export function maxLz4BlockOutput(inputBytes: number): number {
  return inputBytes * maxExpansion
}

/** Unpacks one raw block. Undefined when it is corrupt or its output is longer than `maxBytes`. */
export function unpackLz4Block(bytes: Buffer, start: number, end: number, maxBytes: number): Buffer | undefined {
  const outputBytes = Math.min(maxBytes, maxLz4BlockOutput(end - start))
  if (native === undefined || end - start < nativeFromBytes)
    return unpackLz4BlockInScript(bytes, start, end, outputBytes)
  // The library wants the room for the output as a prefix. A copy of the packed bytes is the cheapest way to add it.
  const prefixed = Buffer.allocUnsafe(4 + end - start)
  prefixed.writeUInt32LE(outputBytes, 0)
  bytes.copy(prefixed, 4, start, end)
  try {
    return native.uncompressSync(prefixed)
  } catch {
    return undefined
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
  const output = Buffer.alloc(maxBytes)
  let at = start
  let filled = 0
  while (at < end) {
    const token = bytes[at++]
    let literals = token >>> 4
    if (literals === 15) {
      let more = 255
      while (more === 255) {
        if (at >= end) return undefined
        more = bytes[at++]
        literals += more
      }
    }
    if (literals > end - at || literals > maxBytes - filled) return undefined
    bytes.copy(output, filled, at, at + literals)
    at += literals
    filled += literals
    if (at === end) return (token & 15) === 0 ? output.subarray(0, filled) : undefined
    if (end - at < 2) return undefined
    const distance = bytes[at] | (bytes[at + 1] << 8)
    at += 2
    let length = (token & 15) + 4
    if (length === 19) {
      let more = 255
      while (more === 255) {
        if (at >= end) return undefined
        more = bytes[at++]
        length += more
      }
    }
    if (distance === 0 || distance > filled || length > maxBytes - filled) return undefined
    for (const stop = filled + length; filled < stop; filled++) output[filled] = output[filled - distance]
  }
  return undefined
}
