import type { Random } from '../base/random.ts'

/** Chance that can be had again: the same seed gives the same numbers. For tests and fuzzers; not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  // splitmix32
  const next = (): number => {
    state = (state + 0x9e37_79b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0_aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a_2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
  return {
    below: bound => Math.floor(((next() >>> 11) / 0x20_0000 + next() / 0x20_0000 / 0x1_0000_0000) * bound),
    bytes(length) {
      const bytes = Buffer.alloc(length)
      for (let i = 0; i < length; i++) bytes[i] = next()
      return bytes
    },
  }
}
