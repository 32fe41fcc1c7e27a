const twoTo32 = 0x1_0000_0000

/**
 * The int64 at `at` as a number. What a number cannot hold exactly becomes Infinity or -Infinity, never a rounded value:
 * callers refuse it as out of range.
 */
export function readInt64(bytes: Buffer, at: number): number {
  return exactInteger(bytes.readInt32BE(at) * twoTo32 + bytes.readUInt32BE(at + 4))
}

/** The value where it is exact, otherwise the infinity of its sign. */
export function exactInteger(value: number): number {
  if (Number.isSafeInteger(value)) return value
  return value > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
}

/** `value` is a safe integer. */
export function writeInt64(bytes: Buffer, at: number, value: number): void {
  const high = Math.floor(value / twoTo32)
  bytes.writeInt32BE(high, at)
  bytes.writeUInt32BE(value - high * twoTo32, at + 4)
}
