import type { RecordRules } from './record-walk.ts'
import { RecordWalk } from './record-walk.ts'

/** What of the records is looked at in one turn: of the smallest ones, a few milliseconds. */
const sliceBytes = 256 * 1024

/**
 * Walks the unpacked records of one large batch a slice at a time, so that it does not hold up the loop. Each `step` gets the
 * same bytes; when there is no next one, `walk` says what was found, and `isMalformed` whether they are no records at all.
 */
export class LargeBatchCheck {
  readonly walk = new RecordWalk()
  #position = 0
  #isDone = false
  #isMalformed = false

  constructor(rules: RecordRules) {
    this.walk.start(rules)
  }

  get isMalformed(): boolean {
    return this.#isMalformed
  }

  /** Whether there is more to look at. */
  step(records: Buffer): boolean {
    if (this.#isDone) return false
    let end = Math.min(records.length, this.#position + sliceBytes)
    let next = this.walk.feed(records, this.#position, end)
    // One record is longer than a slice.
    while (next === this.#position && end < records.length) {
      end = Math.min(records.length, this.#position + 2 * (end - this.#position))
      next = this.walk.feed(records, this.#position, end)
    }
    const isStuck = next <= this.#position || this.walk.isComplete
    this.#position = next
    this.#isDone = isStuck || next === records.length
    if (this.#isDone) this.#isMalformed = next !== records.length || !this.walk.isComplete
    return !this.#isDone
  }
}
