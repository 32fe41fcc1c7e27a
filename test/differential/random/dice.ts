import { seededRandom } from '../../../src/protocol/seeded-random.ts'

/** Chance that falls alike on both sides. */
export class Dice {
  readonly #random: ReturnType<typeof seededRandom>

  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }

  /** Both ends included. */
  from(least: number, most: number): number {
    return least + this.#random.below(most - least + 1)
  }

  chance(of: number): boolean {
    return this.#random.below(1_000_000) < of * 1_000_000
  }

  of<T>(items: readonly T[]): T {
    return items[this.#random.below(items.length)]
  }

  weighted<const T extends Readonly<Record<string, number>>>(weights: T): keyof T & string {
    const names = Object.keys(weights)
    let left = (this.#random.below(1_000_000) / 1_000_000) * names.reduce((sum, name) => sum + weights[name], 0)
    for (const name of names) {
      left -= weights[name]
      if (left < 0) return name
    }
    return names.at(-1)!
  }
}
