import type { FoundBatch } from './segment-scan.ts'
import type { BatchPlace } from './stored-batch.ts'

/** What a read has found where bytes are no batch. It holds until the file is cut. */
export interface KnownDamage {
  readonly position: number
  /** What was known of the place. */
  readonly from: number
  readonly isAfterKnown: boolean
  /** How often the file had been cut. */
  readonly cuts: number
  readonly reason: string
  /** The first batch behind it; undefined when none begins before `searchedTo`. */
  readonly behind: FoundBatch | undefined
  readonly searchedTo: number
}

/** Enough for a file that is worth reading; the oldest is forgotten, and found again by a search. */
const maxKnown = 16

/** Damage that reads have met in one segment: a consumer that stands before it asks again and again. */
export class DamageMemory {
  readonly #known: KnownDamage[] = []

  add(damage: KnownDamage): void {
    const at = this.#known.findIndex(one => one.position === damage.position)
    if (at >= 0) this.#known.splice(at, 1)
    this.#known.push(damage)
    if (this.#known.length > maxKnown) this.#known.shift()
  }

  /** What is known of the bytes at the position as a batch for this place. */
  find(position: number, { from, isAfterKnown }: BatchPlace, cuts: number): KnownDamage | undefined {
    const known = this.#known.find(one => one.position === position)
    const isSame = known?.from === from && known.isAfterKnown === isAfterKnown && known.cuts === cuts
    return isSame ? known : undefined
  }
}
