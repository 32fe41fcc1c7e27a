import type { Uuid } from '../../base/uuid.ts'
import type { History } from '../history/history.ts'
import { partitionKey } from './partition-truth.ts'

interface Cut {
  readonly at: number
  readonly from: number
}

/** What power cuts took, and what was damaged on purpose: the losses that are no fault of the broker. */
export class Cuts {
  readonly #cuts = new Map<string, Cut[]>()
  readonly #damaged = new Map<string, { readonly from: number; readonly to: number }[]>()

  constructor(history: History) {
    for (const { at, value } of history.marksOf('cut')) {
      const key = partitionKey(value.topicId ?? '', value.partition)
      this.#cuts.set(key, [...(this.#cuts.get(key) ?? []), { at, from: value.from }])
    }
    for (const { value } of history.marksOf('damaged')) {
      const key = partitionKey(value.topicId ?? '', value.partition)
      this.#damaged.set(key, [...(this.#damaged.get(key) ?? []), { from: value.from, to: value.to }])
    }
  }

  /** Whether a cut after `since` may have taken the record that was at this offset before. */
  mayHaveTaken(topicId: Uuid, partition: number, offset: number, since: number): boolean {
    return this.#of(topicId, partition).some(cut => cut.at >= since && cut.from <= offset)
  }

  /** How many cuts went below this offset by then: what was seen under different numbers may differ. */
  era(topicId: Uuid, partition: number, offset: number, at: number): number {
    return this.#of(topicId, partition).filter(cut => cut.at < at && cut.from <= offset).length
  }

  /** Whether the power was cut, or bytes were damaged, in that time. */
  anyBetween(topicId: Uuid, partition: number, { from, to }: { readonly from: number; readonly to: number }): boolean {
    const isDamaged = this.hasDamage(topicId, partition)
    return isDamaged || this.#of(topicId, partition).some(cut => cut.at >= from && cut.at <= to)
  }

  hasDamage(topicId: Uuid, partition: number): boolean {
    return this.#damaged.has(partitionKey(topicId, partition))
  }

  isDamaged(topicId: Uuid, partition: number, offset: number): boolean {
    const ranges = this.#damaged.get(partitionKey(topicId, partition)) ?? []
    return ranges.some(range => range.from <= offset && offset < range.to)
  }

  isDamagedBehind(topicId: Uuid, partition: number, offset: number): boolean {
    const ranges = this.#damaged.get(partitionKey(topicId, partition)) ?? []
    return ranges.some(range => range.from > offset)
  }

  #of(topicId: Uuid, partition: number): readonly Cut[] {
    return this.#cuts.get(partitionKey(topicId, partition)) ?? []
  }
}
