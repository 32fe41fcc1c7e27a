import { assert } from '../../base/assert.ts'
import type { Random } from '../../base/random.ts'

/**
 * A named stream of chance (the generator sfc32, seeded with a hash of seed and name). Streams are independent: a draw
 * more in one changes nothing in another, which keeps a run recognisable when a part of it is changed or left out.
 */
export class SeededRandom implements Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: string, stream: string) {
    const text = `${seed}\n${stream}`
    this.#a = hashText(text, 0x9e3779b9)
    this.#b = hashText(text, 0x243f6a88)
    this.#c = hashText(text, 0xb7e15162)
    for (let round = 0; round < 12; round++) this.uint32()
  }

  /** A whole number in [0, 2^32). */
  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  below(bound: number): number {
    assert(Number.isInteger(bound) && bound >= 1 && bound <= 2 ** 48, 'a bound is a whole number from 1 to 2^48')
    if (bound <= 2 ** 32) return Math.floor((this.uint32() / 2 ** 32) * bound)
    return ((this.uint32() & 0xffff) * 2 ** 32 + this.uint32()) % bound
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length)
    for (let i = 0; i < length; i++) bytes[i] = this.uint32() & 0xff
    return bytes
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  /** True with this probability. Zero and less draw nothing, so an unused fault leaves the stream as it was. */
  chance(probability: number): boolean {
    return probability > 0 && this.uint32() < probability * 2 ** 32
  }

  pick<T>(items: readonly T[]): T {
    assert(items.length > 0, 'there is something to pick from')
    return items[this.below(items.length)] as T
  }

  /** A copy in random order. */
  shuffled<T>(items: readonly T[]): T[] {
    const copy = [...items]
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.below(i + 1)
      const moved = copy[i] as T
      copy[i] = copy[j] as T
      copy[j] = moved
    }
    return copy
  }

  /**
   * A delay in whole microseconds that is mostly about `typicalUs` and now and then up to 64 times that: each doubling
   * is four times as rare. No logarithm, whose last bit differs between engines.
   */
  delayUs(typicalUs: number): number {
    let scale = typicalUs
    for (let doubling = 0; doubling < 6 && this.chance(0.25); doubling++) scale *= 2
    return this.below(Math.max(1, Math.floor(scale * 1.5))) + Math.floor(scale / 4)
  }
}

/** 32 bits of a text: multiply and fold for each character, then the bits are mixed. */
function hashText(text: string, start: number): number {
  let hash = start
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    hash = (hash << 13) | (hash >>> 19)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) | 0
}
