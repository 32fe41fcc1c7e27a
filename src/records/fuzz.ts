/** A small seeded generator (xorshift32): the same seed makes the same cases on every machine. */
export class SeededChoice {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) | 1
  }

  /** A whole number in [0, bound). */
  below(bound: number): number {
    this.#state ^= this.#state << 13
    this.#state ^= this.#state >>> 17
    this.#state ^= this.#state << 5
    return (this.#state >>> 0) % bound
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length)
    for (let at = 0; at < length; at++) bytes[at] = this.below(256)
    return bytes
  }
}

export function seededBytes(seed: number, length: number): Buffer {
  return new SeededChoice(seed).bytes(length)
}
