import { assert } from '../base/assert.ts'
import { EncodeError } from './protocol-error.ts'
import type { BytesInput, ExternalBytes } from './schema.ts'

/** What was written, in order. Buffers of `parts` may share memory with the writer's chunk, where nothing is written twice. */
export interface Written {
  readonly parts: (Buffer | ExternalBytes)[]
  readonly byteLength: number
}

/** Where the chunks of a writer come from, and go. */
export interface ChunkSource {
  /** Memory of at least so many bytes. */
  take(bytes: number): Buffer
  /** The writer has left this chunk for the one it took last. What it has handed over is still there. */
  left(chunk: Buffer): void
}

const fromTheRuntime: ChunkSource = { take: bytes => Buffer.allocUnsafe(bytes), left: () => {} }

/** Byte strings below this are copied between the other fields; longer ones become parts of their own, uncopied. */
const copyBelowBytes = 2048
const maxFrameBytes = 0x7fff_ffff

/**
 * Where values are written: a chunk of memory that later messages go on filling, and that is replaced when it is full.
 * One message at a time:
 *
 *   writer.beginFrame()                       // optional: room for the int32 size
 *   encode(message, version, value, writer)   // any number of times, and any write of this class
 *   const { parts, byteLength } = writer.finish()
 *
 * After an EncodeError the writer must be abandoned before it is used again.
 */
export class Writer {
  readonly #chunkBytes: number
  readonly #chunks: ChunkSource
  /** Byte strings are never referenced, always copied (what `encodeToBuffer` needs). */
  readonly #copiesAll: boolean

  /** The chunk, with a view of the same memory. Compiled codecs write here and keep `position`. */
  bytes: Buffer
  view: DataView
  position = 0
  /** Where the current message began. Anything remembered across a `reserve` is relative to it. */
  start = 0

  #isFrame = false
  #openTags = 0
  /** Parts that do not lie in the chunk, and behind which byte of the message (relative to `start`) each belongs. */
  #uncopied: (Buffer | ExternalBytes)[] = []
  #cuts: number[] = []
  #uncopiedBytes = 0

  constructor(
    options: { readonly chunkBytes?: number; readonly copiesAll?: boolean; readonly chunks?: ChunkSource } = {},
  ) {
    this.#chunkBytes = options.chunkBytes ?? 64 * 1024
    this.#chunks = options.chunks ?? fromTheRuntime
    this.#copiesAll = options.copiesAll ?? false
    this.bytes = this.#chunks.take(this.#chunkBytes)
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length)
  }

  /** Bytes of the current message so far, uncopied ones included. */
  get byteLength(): number {
    return this.position - this.start + this.#uncopiedBytes
  }

  /** Leaves room for a frame's size, which `finish` fills in. Comes first in a message. */
  beginFrame(): void {
    assert(this.position === this.start, 'the size of a frame comes before anything else')
    this.reserve(4)
    this.position += 4
    this.#isFrame = true
  }

  /** Ends the message and hands it over. The writer is then ready for the next one. */
  finish(): Written {
    const { byteLength } = this
    if (byteLength > maxFrameBytes) throw new EncodeError(`a message of ${byteLength} bytes fits no frame`)
    if (this.#isFrame) this.view.setInt32(this.start, byteLength - 4)
    const parts = this.#uncopied.length === 0 ? [this.bytes.subarray(this.start, this.position)] : this.#interleave()
    this.#reset()
    return { parts, byteLength }
  }

  /** `finish` for a writer that copies all: the message as one buffer. */
  finishBuffer(): Buffer {
    assert(this.#copiesAll, 'only a writer that copies all has its message in one buffer')
    return this.finish().parts[0] as Buffer
  }

  /** Drops what was written since the last `finish`. */
  abandon(): void {
    this.position = this.start
    this.#reset()
  }

  #reset(): void {
    this.start = this.position
    this.#isFrame = false
    this.#openTags = 0
    if (this.#uncopied.length === 0) return
    this.#uncopied = []
    this.#cuts = []
    this.#uncopiedBytes = 0
  }

  #interleave(): (Buffer | ExternalBytes)[] {
    const parts: (Buffer | ExternalBytes)[] = []
    let from = this.start
    for (let i = 0; i < this.#uncopied.length; i++) {
      const cut = this.start + this.#cuts[i]
      if (cut > from) parts.push(this.bytes.subarray(from, cut))
      parts.push(this.#uncopied[i])
      from = cut
    }
    if (this.position > from) parts.push(this.bytes.subarray(from, this.position))
    return parts
  }

  /** Makes sure that `size` bytes fit at `position`. May replace `bytes` and `view` and move `position` and `start`. */
  reserve(size: number): void {
    if (size > this.bytes.length - this.position) this.#moveToNewChunk(size)
  }

  #moveToNewChunk(size: number): void {
    const used = this.position - this.start
    const old = this.bytes
    // Doubling keeps the cost of copying a large message linear; a finished one is never moved.
    this.bytes = this.#chunks.take(Math.max(this.#chunkBytes, 2 * used + size))
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length)
    old.copy(this.bytes, 0, this.start, this.position)
    this.start = 0
    this.position = used
    this.#chunks.left(old)
  }

  bool(value: boolean): void {
    this.reserve(1)
    this.bytes[this.position++] = value ? 1 : 0
  }

  int8(value: number): void {
    if ((value << 24) >> 24 !== value) outOfRange('int8', value)
    this.reserve(1)
    this.bytes[this.position++] = value
  }

  int16(value: number): void {
    if ((value << 16) >> 16 !== value) outOfRange('int16', value)
    this.reserve(2)
    this.view.setInt16(this.position, value)
    this.position += 2
  }

  uint16(value: number): void {
    if ((value & 0xffff) !== value) outOfRange('uint16', value)
    this.reserve(2)
    this.view.setUint16(this.position, value)
    this.position += 2
  }

  int32(value: number): void {
    if ((value | 0) !== value) outOfRange('int32', value)
    this.reserve(4)
    this.view.setInt32(this.position, value)
    this.position += 4
  }

  uint32(value: number): void {
    if (value >>> 0 !== value) outOfRange('uint32', value)
    this.reserve(4)
    this.view.setUint32(this.position, value)
    this.position += 4
  }

  /** A safe integer or ±Infinity: see `int64` in `schema.ts`. */
  int64(value: number): void {
    this.reserve(8)
    setInt64(this.view, this.position, value)
    this.position += 8
  }

  bigint64(value: bigint): void {
    if (typeof value !== 'bigint' || BigInt.asIntN(64, value) !== value) outOfRange('bigint64', value)
    this.reserve(8)
    this.view.setBigInt64(this.position, value)
    this.position += 8
  }

  float64(value: number): void {
    if (typeof value !== 'number') outOfRange('float64', value)
    this.reserve(8)
    this.view.setFloat64(this.position, value)
    this.position += 8
  }

  uuid(value: string): void {
    if (value.length !== 22) outOfRange('uuid', value)
    this.reserve(16)
    const written = this.bytes.write(value, this.position, 16, 'base64url')
    if (written !== 16) outOfRange('uuid', value)
    this.position += 16
  }

  /** `value` is 0 to 2^32 - 1. */
  uvarint(value: number): void {
    if (value >>> 0 !== value) outOfRange('varint', value)
    this.reserve(5)
    for (; value > 0x7f; value >>>= 7) this.bytes[this.position++] = (value & 0x7f) | 0x80
    this.bytes[this.position++] = value
  }

  /** A length of int16 and UTF-8. */
  string(value: string): void {
    this.reserve(2 + 3 * value.length)
    const at = this.position
    const size = this.#text(value, at + 2)
    if (size > 0x7fff) throw new EncodeError(`a string of ${size} bytes is too long`)
    this.view.setInt16(at, size)
    this.position = at + 2 + size
  }

  /** As flexible versions have it: a varint of length + 1 and UTF-8. */
  compactString(value: string): void {
    const { length } = value
    if (3 * length < 0x7f) {
      this.reserve(1 + 3 * length)
      const at = this.position
      const size = this.#text(value, at + 1)
      this.bytes[at] = size + 1
      this.position = at + 1 + size
      return
    }
    this.uvarint(Buffer.byteLength(value) + 1)
    this.reserve(3 * length)
    this.position += this.#text(value, this.position)
  }

  /** Returns the number of bytes written at `at`, for which room was made. */
  #text(value: string, at: number): number {
    const { length } = value
    if (length > 12) return this.bytes.write(value, at)
    const { bytes } = this
    for (let i = 0; i < length; i++) {
      const unit = value.charCodeAt(i)
      if (unit > 0x7f) return this.bytes.write(value, at)
      bytes[at + i] = unit
    }
    return length
  }

  /** The bytes alone, without a length. Long ones are referenced, not copied, and must not change until they are sent. */
  raw(value: BytesInput): void {
    if (!('parts' in value)) {
      this.#rawPart(value)
      return
    }
    const before = this.byteLength
    for (const part of value.parts) this.#rawPart(part)
    assert(this.byteLength - before === value.byteLength, 'byteLength is the sum of the parts')
  }

  #rawPart(part: Buffer | ExternalBytes): void {
    const { length } = part
    const isBuffer = part instanceof Uint8Array
    if (isBuffer && (length < copyBelowBytes || this.#copiesAll || this.#openTags > 0)) {
      this.reserve(length)
      this.bytes.set(part, this.position)
      this.position += length
      return
    }
    assert(!this.#copiesAll && this.#openTags === 0, 'bytes outside of memory stand in no buffer and no tagged field')
    if (length === 0) return
    this.#uncopied.push(part)
    this.#cuts.push(this.position - this.start)
    this.#uncopiedBytes += length
  }

  /** Begins a tagged field whose size is not known yet; the tag itself is written already. Returns what `endTag` takes. */
  beginTag(): number {
    this.reserve(1)
    this.#openTags++
    return this.position++ - this.start
  }

  /** Puts the size in front of what was written since `beginTag`. */
  endTag(begun: number): void {
    this.#openTags--
    const size = this.position - this.start - begun - 1
    if (size > 0x7f) this.#widenTag(begun, size)
    else this.bytes[this.start + begun] = size
  }

  #widenTag(begun: number, size: number): void {
    let extra = 1
    for (let rest = size >>> 14; rest > 0; rest >>>= 7) extra++
    this.reserve(extra)
    const at = this.start + begun
    this.bytes.copyWithin(at + 1 + extra, at + 1, this.position)
    const end = this.position + extra
    this.position = at
    this.uvarint(size)
    this.position = end
  }
}

function outOfRange(type: string, value: unknown): never {
  throw new EncodeError(`${String(value)} is no ${type}`)
}

/** Splits a safe integer or ±Infinity into the eight bytes of an int64. */
export function setInt64(view: DataView, at: number, value: number): void {
  if (Number.isSafeInteger(value)) {
    view.setInt32(at, Math.floor(value / 0x1_0000_0000))
    view.setInt32(at + 4, value | 0)
  } else if (value === Number.POSITIVE_INFINITY) view.setBigInt64(at, 0x7fff_ffff_ffff_ffffn)
  else if (value === Number.NEGATIVE_INFINITY) view.setBigInt64(at, -0x8000_0000_0000_0000n)
  else outOfRange('int64', value)
}
