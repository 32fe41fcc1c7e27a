import type * as Native from 'snappy'
import { loadNative } from '../native.ts'
import { copyBytes } from './copy-bytes.ts'

const native = loadNative<typeof Native>('snappy')

/** Shorter blocks are unpacked faster in script than by a call (measured); many of them cannot hold up the loop either. */
const nativeFromBytes = 400

/** The library's other way of handing out bytes is three to ten times slower (measured). */
const copied = { copyOutputData: true }
/** Three bytes copy at most 64. */
const maxExpansion = 22

/** How long the block says that its output is; undefined when no block can say so. */
export function snappyBlockOutput(bytes: Buffer, start: number, end: number): number | undefined {
  let length = 0
  let scale = 1
  for (let at = start; at < Math.min(end, start + 5); at++) {
    length += (bytes[at] & 0x7f) * scale
    if (bytes[at] < 0x80) return length > (end - start) * maxExpansion || length > 0xffff_ffff ? undefined : length
    scale *= 128
  }
  return undefined
}

/** Unpacks one raw block, whose output the caller has found to be short enough. Undefined when it is corrupt. */
export function unpackSnappyBlock(bytes: Buffer, start: number, end: number): Buffer | undefined {
  if (native === undefined || end - start < nativeFromBytes) return unpackSnappyBlockInScript(bytes, start, end)
  try {
    return native.uncompressSync(bytes.subarray(start, end), copied) as Buffer
  } catch {
    return undefined
  }
}

/** Packs one raw block; where no native code loads, as literals only. */
export function packSnappyBlock(bytes: Buffer): Buffer {
  return native === undefined ? packSnappyLiterals(bytes) : native.compressSync(bytes, copied)
}

/** A length, then elements: literals, and copies of up to 64 bytes from what is out already. */
export function unpackSnappyBlockInScript(bytes: Buffer, start: number, end: number): Buffer | undefined {
  const outputBytes = snappyBlockOutput(bytes, start, end)
  if (outputBytes === undefined) return undefined
  const output = Buffer.allocUnsafe(outputBytes)
  let at = start
  while (bytes[at] >= 0x80) at++
  at++
  let filled = 0
  while (at < end) {
    const tag = bytes[at++]
    const kind = tag & 3
    const extraBytes = kind === 0 ? Math.max(0, (tag >>> 2) - 59) : kind === 3 ? 4 : kind
    if (extraBytes > end - at) return undefined
    const extra = extraBytes === 0 ? 0 : extraBytes === 1 ? bytes[at] : bytes.readUIntLE(at, extraBytes)
    at += extraBytes
    if (kind === 0) {
      const literals = 1 + (extraBytes === 0 ? tag >>> 2 : extra)
      if (literals > end - at || literals > outputBytes - filled) return undefined
      filled = copyBytes(output, filled, bytes, at, literals)
      at += literals
    } else {
      const length = kind === 1 ? 4 + ((tag >>> 2) & 7) : 1 + (tag >>> 2)
      const distance = kind === 1 ? ((tag >>> 5) << 8) | extra : extra
      if (distance === 0 || distance > filled || length > outputBytes - filled) return undefined
      for (const stop = filled + length; filled < stop; filled++) output[filled] = output[filled - distance]
    }
  }
  return filled === outputBytes ? output : undefined
}

/** A valid block without any copies. */
export function packSnappyLiterals(bytes: Buffer): Buffer {
  const length = bytes.length
  const parts: Buffer[] = [uvarint(length)]
  for (let start = 0; start < length; start += 65_536) {
    const literals = bytes.subarray(start, start + 65_536)
    const tag = Buffer.alloc(3)
    tag[0] = 61 << 2
    tag.writeUInt16LE(literals.length - 1, 1)
    parts.push(tag, literals)
  }
  return Buffer.concat(parts)
}

function uvarint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  bytes.push(rest)
  return Buffer.from(bytes)
}
