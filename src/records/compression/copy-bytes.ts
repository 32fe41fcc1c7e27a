/** Fewer bytes than this are copied faster one by one than by a call. */
const callFromBytes = 32

/** Copies `length` bytes; the answer is the position after them in `target`. */
export function copyBytes(target: Buffer, to: number, source: Buffer, from: number, length: number): number {
  if (length >= callFromBytes) source.copy(target, to, from, from + length)
  else for (let index = 0; index < length; index++) target[to + index] = source[from + index]
  return to + length
}
