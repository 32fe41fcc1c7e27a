import type { Random } from '../../../base/random.ts'

/** A small seeded generator (sfc32): the same seed gives the same run. */
export class SimRandom implements Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number) {
    this.#a = seed | 0
    this.#b = (seed ^ 0x9e3779b9) | 0
    this.#c = 0x243f6a88
    for (let i = 0; i < 12; i++) this.#next()
  }

  below(bound: number): number {
    return Math.floor(this.fraction() * bound)
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length)
    for (let i = 0; i < length; i++) bytes[i] = this.#next() & 0xff
    return bytes
  }

  /** In [0, 1). */
  fraction(): number {
    return (this.#next() >>> 0) / 0x1_0000_0000
  }

  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  between(low: number, high: number): number {
    return low + this.fraction() * (high - low)
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]
  }

  #next(): number {
    const result = (this.#a + this.#b + this.#counter++) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + result
    this.#c |= 0
    return result
  }
}
