import type { OffsetMapSeed } from './offset-map.ts'

const rounds = 8
const blockBytes = 16

/**
 * A hash of 128 bits under a secret key: Chaskey, a MAC made for 32-bit machines (Mouha et al., 2014), with its 8 rounds. Two
 * keys of one log that collide would lose a record, so the hash is long, and nobody who does not know the seed can make
 * two that do. Keys of up to 16 bytes, which most are, take one run of the permutation.
 */
export class KeyHash {
  /** The seed, then the two subkeys for a last block that is full and for one that is not. */
  readonly #keys = new Int32Array(12)

  constructor(seed: OffsetMapSeed) {
    this.#keys.set(seed)
    doubleInto(this.#keys, 4)
    doubleInto(this.#keys, 8)
  }

  /** Of bytes [start, end), as four words from `to` on. `view` is of the same bytes. */
  into(words: Int32Array, to: number, bytes: Buffer, view: DataView, start: number, end: number): void {
    const keys = this.#keys
    let v0 = keys[0]
    let v1 = keys[1]
    let v2 = keys[2]
    let v3 = keys[3]
    let at = start
    let subkey = 8
    for (let isLast = false; !isLast; at += blockBytes) {
      const left = end - at
      isLast = left <= blockBytes
      if (left >= blockBytes) {
        v0 ^= view.getInt32(at, true)
        v1 ^= view.getInt32(at + 4, true)
        v2 ^= view.getInt32(at + 8, true)
        v3 ^= view.getInt32(at + 12, true)
        if (isLast) subkey = 4
      } else {
        // The last block is filled up with one bit and zeros.
        if (left >= 4) v0 ^= view.getInt32(at, true)
        if (left >= 8) v1 ^= view.getInt32(at + 4, true)
        if (left >= 12) v2 ^= view.getInt32(at + 8, true)
        let rest = 1
        for (let position = end - 1, first = at + (left & ~3); position >= first; position--) {
          rest = (rest << 8) | bytes[position]
        }
        if (left < 4) v0 ^= rest
        else if (left < 8) v1 ^= rest
        else if (left < 12) v2 ^= rest
        else v3 ^= rest
      }
      if (isLast) {
        v0 ^= keys[subkey]
        v1 ^= keys[subkey + 1]
        v2 ^= keys[subkey + 2]
        v3 ^= keys[subkey + 3]
      }
      for (let round = 0; round < rounds; round++) {
        v0 = (v0 + v1) | 0
        v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
        v0 = (v0 << 16) | (v0 >>> 16)
        v2 = (v2 + v3) | 0
        v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
        v0 = (v0 + v3) | 0
        v3 = ((v3 << 13) | (v3 >>> 19)) ^ v0
        v2 = (v2 + v1) | 0
        v1 = ((v1 << 7) | (v1 >>> 25)) ^ v2
        v2 = (v2 << 16) | (v2 >>> 16)
      }
    }
    words[to] = v0 ^ keys[subkey]
    words[to + 1] = v1 ^ keys[subkey + 1]
    words[to + 2] = v2 ^ keys[subkey + 2]
    words[to + 3] = v3 ^ keys[subkey + 3]
  }
}

/** Writes twice the four words before `at`, in the field of 2^128 elements. */
function doubleInto(words: Int32Array, at: number): void {
  const overflow = words[at - 1] < 0 ? 0x87 : 0
  words[at] = (words[at - 4] << 1) ^ overflow
  for (let word = 1; word < 4; word++) words[at + word] = (words[at - 4 + word] << 1) | (words[at - 5 + word] >>> 31)
}
