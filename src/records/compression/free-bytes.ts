/** Small buffers may be parts of one that they share; none of this size is. */
const neverShared = 256 * 1024

/**
 * Gives the memory of bytes back at once, where the garbage collector would do so some time. They must be the only ones in
 * their memory, and nobody may use them again.
 */
export function freeBytes(bytes: Buffer): void {
  const memory = bytes.buffer
  const isAlone = memory.byteLength === bytes.length || memory.byteLength >= neverShared
  if (isAlone && memory instanceof ArrayBuffer) memory.transfer(0)
}
