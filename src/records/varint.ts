/**
 * Zig-zag varints of record batch v2: 7 bits a byte, low group first, at most 5 bytes for an int32 and 10 for an int64.
 *
 * Reading goes through a cursor, so that it needs neither an exception nor an object per value: a value that is cut off
 * or too long sets `failed` and reads as 0, and the caller looks at `failed` once per record.
 */
export class Cursor {
  bytes: Buffer
  position: number
  /** First position that may not be read. */
  end: number
  failed = false

  constructor(bytes: Buffer, position = 0, end = bytes.length) {
    this.bytes = bytes
    this.position = position
    this.end = end
  }

  /** Goes to `position` of other bytes, and forgets an earlier failure. */
  reset(bytes: Buffer, position: number, end: number): void {
    this.bytes = bytes
    this.position = position
    this.end = end
    this.failed = false
  }

  byte(): number {
    if (this.position < this.end) return this.bytes[this.position++]
    this.failed = true
    return 0
  }

  /** A zig-zag int32. As in Kafka, bits of the fifth byte that do not fit are dropped. */
  varint(): number {
    const at = this.position
    if (at + 1 < this.end) {
      const first = this.bytes[at]
      if (first < 0x80) {
        this.position = at + 1
        return (first >>> 1) ^ -(first & 1)
      }
      const second = this.bytes[at + 1]
      if (second < 0x80) {
        this.position = at + 2
        return (((first & 0x7f) | (second << 7)) >>> 1) ^ -(first & 1)
      }
    }
    return this.#longVarint()
  }

  #longVarint(): number {
    let raw = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte()
      raw |= (byte & 0x7f) << shift
      if (byte < 0x80) return (raw >>> 1) ^ -(raw & 1)
    }
    this.failed = true
    return 0
  }

  /** A zig-zag int64, exact. */
  varlong(): bigint {
    let raw = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte()
      raw |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return unzigzag64(raw)
    }
    this.failed = true
    return 0n
  }

  /**
   * A zig-zag int64 as a number where 7 bytes hold it (48 bits and a sign: timestamp deltas of 8,900 years);
   * otherwise undefined, with the position unchanged, for `varlong` to read.
   */
  shortVarlong(): number | undefined {
    const start = this.position
    if (start + 1 < this.end) {
      const first = this.bytes[start]
      if (first < 0x80) {
        this.position = start + 1
        return (first >>> 1) ^ -(first & 1)
      }
      const second = this.bytes[start + 1]
      if (second < 0x80) {
        this.position = start + 2
        return (((first & 0x7f) | (second << 7)) >>> 1) ^ -(first & 1)
      }
    }
    return this.#longShortVarlong()
  }

  #longShortVarlong(): number | undefined {
    const start = this.position
    let low = 0
    let scale = 1
    for (let count = 0; count < 7; count++) {
      const byte = this.byte()
      low += (byte & 0x7f) * scale
      if (byte < 0x80) return low % 2 === 0 ? low / 2 : -(low + 1) / 2
      scale *= 128
    }
    this.position = start
    return undefined
  }
}

function unzigzag64(raw: bigint): bigint {
  return BigInt.asIntN(64, (BigInt.asUintN(64, raw) >> 1n) ^ -(raw & 1n))
}

/** The position after the value. There must be 5 bytes of room. */
export function writeVarint(bytes: Buffer, at: number, value: number): number {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0
  while (rest >= 0x80) {
    bytes[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  bytes[at++] = rest
  return at
}

/** As `writeVarint` for an int64 that is a safe integer below 2^52. There must be 10 bytes of room. */
export function writeVarlong(bytes: Buffer, at: number, value: number): number {
  let rest = value < 0 ? -value * 2 - 1 : value * 2
  while (rest >= 0x8000_0000) {
    bytes[at++] = (rest % 128) | 0x80
    rest = Math.floor(rest / 128)
  }
  let low = rest | 0
  while (low >= 0x80) {
    bytes[at++] = (low & 0x7f) | 0x80
    low >>>= 7
  }
  bytes[at++] = low
  return at
}

/** As `writeVarlong` for any int64. */
export function writeBigVarlong(bytes: Buffer, at: number, value: bigint): number {
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n))
  while (rest >= 0x80n) {
    bytes[at++] = Number(rest & 0x7fn) | 0x80
    rest >>= 7n
  }
  bytes[at++] = Number(rest)
  return at
}

/** How many bytes `writeVarint` takes for an int32. */
export function varintSize(value: number): number {
  const raw = ((value << 1) ^ (value >> 31)) >>> 0
  if (raw < 0x80) return 1
  if (raw < 0x4000) return 2
  if (raw < 0x20_0000) return 3
  return raw < 0x1000_0000 ? 4 : 5
}
