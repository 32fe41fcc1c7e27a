import { ProtocolError } from './protocol-error.ts'

/**
 * Elements that all lists of one message may hold together, unless its reader says otherwise. A frame of 100 MiB of
 * one-byte elements would otherwise become gigabytes of objects. A Metadata answer for 200,000 partitions has about 2 M.
 */
export const defaultMaxElements = 1 << 22

/**
 * A place in a buffer from which values are read. Every read checks the bytes left and throws ProtocolError when they
 * do not suffice. Bytes that are read share the buffer's memory.
 */
export class Reader {
  readonly buffer: Buffer
  position: number
  readonly end: number
  readonly maxElements: number

  constructor(buffer: Buffer, position = 0, end: number = buffer.length, maxElements: number = defaultMaxElements) {
    this.buffer = buffer
    this.position = position
    this.end = end
    this.maxElements = maxElements
  }

  get left(): number {
    return this.end - this.position
  }

  /** Moves on by `size` bytes and returns where they begin. */
  take(size: number, what = 'value'): number {
    const at = this.position
    if (size > this.end - at) tooShort(at, size, this.end, what)
    this.position = at + size
    return at
  }

  bool(): boolean {
    return this.buffer[this.take(1)] !== 0
  }

  int8(): number {
    return this.buffer.readInt8(this.take(1))
  }

  int16(): number {
    return this.buffer.readInt16BE(this.take(2))
  }

  uint16(): number {
    return this.buffer.readUInt16BE(this.take(2))
  }

  int32(): number {
    return this.buffer.readInt32BE(this.take(4))
  }

  uint32(): number {
    return this.buffer.readUInt32BE(this.take(4))
  }

  /** A safe integer or ±Infinity: see `int64` in `schema.ts`. */
  int64(): number {
    const at = this.take(8)
    return int64FromHalves(this.buffer.readInt32BE(at), this.buffer.readUInt32BE(at + 4))
  }

  bigint64(): bigint {
    return this.buffer.readBigInt64BE(this.take(8))
  }

  float64(): number {
    return this.buffer.readDoubleBE(this.take(8))
  }

  uuid(): string {
    const at = this.take(16)
    return this.buffer.toString('base64url', at, at + 16)
  }

  /** An unsigned varint of at most 32 bits in at most five bytes. */
  uvarint(): number {
    return readUvarint(this, this.position, this.end, 'varint')
  }

  text(size: number): string {
    const at = this.take(size, 'string')
    return this.buffer.toString('utf8', at, at + size)
  }

  bytes(size: number): Buffer {
    const at = this.take(size, 'bytes')
    return this.buffer.subarray(at, at + size)
  }

  /** Skips a tagged section, whatever is in it. */
  skipTags(): void {
    this.position = skipTags(this, this.position, this.end)
  }
}

export function tooShort(at: number, size: number, end: number, what: string): never {
  throw new ProtocolError(`${what} needs ${size} bytes, ${end - at} are left`, at)
}

/** Reads at `at` instead of the reader's own position, which it leaves behind the varint. Returns 0 to 2^32 - 1. */
export function readUvarint(reader: Reader, at: number, end: number, what: string): number {
  const { buffer } = reader
  let value = 0
  for (let shift = 0; shift <= 28; shift += 7) {
    if (at >= end) tooShort(at, 1, end, what)
    const byte = buffer[at++]
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) {
      reader.position = at
      return value >>> 0
    }
  }
  throw new ProtocolError(`${what} has a varint of more than five bytes`, at - 5)
}

/** Skips a tagged section at `at` and returns where it ends. */
export function skipTags(reader: Reader, at: number, end: number): number {
  if (at < end && reader.buffer[at] === 0) return at + 1
  let left = readUvarint(reader, at, end, 'tag count')
  for (; left > 0; left--) {
    readUvarint(reader, reader.position, end, 'tag')
    const size = readUvarint(reader, reader.position, end, 'tag size')
    if (size > end - reader.position) tooShort(reader.position, size, end, 'tagged field')
    reader.position += size
  }
  return reader.position
}

/** Joins the halves of an int64. What is not a safe integer becomes ±Infinity. */
export function int64FromHalves(high: number, low: number): number {
  const value = high * 0x1_0000_0000 + low
  if (Number.isSafeInteger(value)) return value
  return high < 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}
