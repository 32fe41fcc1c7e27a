import { assert } from '../base/assert.ts'

/** How many separate intervals are kept; beyond it the smallest is forgotten. */
const maxIntervals = 256

/** Sets of positions as half-open intervals. Adding one that continues the last is what usually happens. */
export class Intervals {
  /** from, to, from, to, ... growing, none touching the next. */
  #bounds: number[] = []

  get isEmpty(): boolean {
    return this.#bounds.length === 0
  }

  add(from: number, to: number): void {
    assert(from <= to, 'an interval does not end before it begins')
    if (from === to) return
    const last = this.#bounds.length - 1
    if (last < 0 || from > this.#bounds[last]) this.#bounds.push(from, to)
    else if (from >= this.#bounds[last - 1]) this.#bounds[last] = Math.max(this.#bounds[last], to)
    else this.#insert(from, to)
    if (this.#bounds.length > maxIntervals * 2) this.#forgetSmallest()
  }

  covers(from: number, to: number): boolean {
    return this.endOfCover(from) >= to
  }

  /** Whether any of it lies in an interval. */
  touches(from: number, to: number): boolean {
    return this.endOfCover(from) > from || this.nextBeginning(from) < to
  }

  /** The end of the interval that holds this position; the position itself when none does. */
  endOfCover(position: number): number {
    for (let at = this.#bounds.length - 2; at >= 0; at -= 2) {
      if (position >= this.#bounds[at]) return Math.max(position, this.#bounds[at + 1])
    }
    return position
  }

  /** The beginning of the first interval after this position; Infinity when there is none. */
  nextBeginning(position: number): number {
    for (let at = 0; at < this.#bounds.length; at += 2) if (this.#bounds[at] > position) return this.#bounds[at]
    return Number.POSITIVE_INFINITY
  }

  /** Forgets what lies between. */
  remove(from: number, to: number): void {
    if (from === to) return
    const kept: number[] = []
    for (let at = 0; at < this.#bounds.length; at += 2) {
      const start = this.#bounds[at]
      const end = this.#bounds[at + 1]
      if (start < Math.min(end, from)) kept.push(start, Math.min(end, from))
      if (Math.max(start, to) < end) kept.push(Math.max(start, to), end)
    }
    this.#bounds = kept
  }

  /** Forgets all from `end` on. */
  truncate(end: number): void {
    while (this.#bounds.length > 0 && this.#bounds[this.#bounds.length - 2] >= end) this.#bounds.length -= 2
    const last = this.#bounds.length - 1
    if (last >= 0) this.#bounds[last] = Math.min(this.#bounds[last], end)
  }

  #insert(from: number, to: number): void {
    const kept: number[] = []
    for (let at = 0; at < this.#bounds.length; at += 2) {
      const start = this.#bounds[at]
      const end = this.#bounds[at + 1]
      if (end < from || start > to) kept.push(start, end)
      else {
        from = Math.min(from, start)
        to = Math.max(to, end)
      }
    }
    let place = 0
    while (place < kept.length && kept[place] < from) place += 2
    kept.splice(place, 0, from, to)
    this.#bounds = kept
  }

  #forgetSmallest(): void {
    let smallest = 0
    for (let at = 2; at < this.#bounds.length; at += 2) {
      if (this.#bounds[at + 1] - this.#bounds[at] < this.#bounds[smallest + 1] - this.#bounds[smallest]) smallest = at
    }
    this.#bounds.splice(smallest, 2)
  }
}
