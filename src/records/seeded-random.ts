import type { Random } from '../base/random.ts'

/** A small generator (xorshift32) for tests and fuzzing: the same seed makes the same cases on every machine. */
export class SeededRandom implements Random {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) | 1
  }

  below(bound: number): number {
    this.#state ^= this.#state << 13
    this.#state ^= this.#state >>> 17
    this.#state ^= this.#state << 5
    return (this.#state >>> 0) % bound
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length)
    for (let at = 0; at < length; at++) bytes[at] = this.below(256)
    return bytes
  }
}
