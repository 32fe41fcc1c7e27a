import type { Random } from '../../../base/random.ts'
import { seededRandom } from '../../../protocol/seeded-random.ts'

/** What a run draws from its seed. */
export class SimRandom implements Random {
  readonly #source: Random

  constructor(seed: number) {
    this.#source = seededRandom(seed)
  }

  below(bound: number): number {
    return this.#source.below(bound)
  }

  bytes(length: number): Buffer {
    return this.#source.bytes(length)
  }

  /** In [0, 1). */
  fraction(): number {
    return this.below(0x1_0000_0000) / 0x1_0000_0000
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
}
