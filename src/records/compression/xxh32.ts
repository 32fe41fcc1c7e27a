const prime1 = 0x9e3779b1
const prime2 = 0x85ebca77
const prime3 = 0xc2b2ae3d
const prime4 = 0x27d4eb2f
const prime5 = 0x165667b1

/** The 32-bit xxHash of bytes[start, end) with seed 0, unsigned: what LZ4 frames use for their checksums. */
export function xxh32(bytes: Buffer, start = 0, end = bytes.length): number {
  let at = start
  let hash = prime5
  if (end - start >= 16) {
    let lane1 = (prime1 + prime2) | 0
    let lane2 = prime2
    let lane3 = 0
    let lane4 = -prime1 | 0
    for (const last = end - 16; at <= last; at += 16) {
      lane1 = round(lane1, bytes.readInt32LE(at))
      lane2 = round(lane2, bytes.readInt32LE(at + 4))
      lane3 = round(lane3, bytes.readInt32LE(at + 8))
      lane4 = round(lane4, bytes.readInt32LE(at + 12))
    }
    hash = (rotate(lane1, 1) + rotate(lane2, 7) + rotate(lane3, 12) + rotate(lane4, 18)) | 0
  }
  hash = (hash + end - start) | 0
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(rotate((hash + Math.imul(bytes.readInt32LE(at), prime3)) | 0, 17), prime4)
  }
  for (; at < end; at++) {
    hash = Math.imul(rotate((hash + Math.imul(bytes[at], prime5)) | 0, 11), prime1)
  }
  hash = Math.imul(hash ^ (hash >>> 15), prime2)
  hash = Math.imul(hash ^ (hash >>> 13), prime3)
  return (hash ^ (hash >>> 16)) >>> 0
}

function round(lane: number, word: number): number {
  return Math.imul(rotate((lane + Math.imul(word, prime2)) | 0, 13), prime1)
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}
