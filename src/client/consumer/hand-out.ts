import { ErrorCode } from '../../base/error-code.ts'
import { MillraceError } from '../millrace-error.ts'
import type { AssignedPartition } from './assigned-partition.ts'
import type { Assignment } from './assignment.ts'
import { ConsumedBatch } from './consumed-batch.ts'

/** A batch in the hands of the application. */
interface OutBatch {
  readonly batch: ConsumedBatch
  readonly assigned: AssignedPartition
  readonly sinceMs: number
}

/**
 * Gives batches to the application, and knows which it still works on. A partition has one batch out at most, unless the
 * application asks for more itself; so its records are worked on in order.
 */
export class HandOut {
  readonly #assignment: Assignment
  readonly #out = new Set<OutBatch>()
  #waiters: { readonly isDone: () => boolean; readonly resolve: () => void }[] = []

  constructor(assignment: Assignment) {
    this.#assignment = assignment
  }

  /** The next batch of a partition that has records ready, is not paused, and has none out. Throws `CORRUPT_MESSAGE`. */
  take(maxRecords: number, nowMs: number): ConsumedBatch | undefined {
    for (const assigned of this.#assignment) {
      if (!assigned.hasReady || assigned.isPaused || assigned.isHeld || this.#isOut(assigned)) continue
      const records = assigned.take(maxRecords)
      if (!Array.isArray(records)) {
        assigned.dropBuffer()
        assigned.failed(nowMs, () => giveUpPauseMs)
        throw corrupt(assigned, records.offset, records.reason)
      }
      if (records.length === 0) continue
      const batch = new ConsumedBatch(assigned, records, assigned.position!)
      this.#out.add({ batch, assigned, sinceMs: nowMs })
      this.#assignment.moveToEnd(assigned)
      return batch
    }
    return undefined
  }

  /** The application is done with the batch, or (`false`) gives it back as it is. */
  returned(batch: ConsumedBatch, isDone: boolean): void {
    for (const out of this.#out) if (out.batch === batch) this.#out.delete(out)
    if (isDone) batch.confirm()
    this.#wake()
  }

  /** Since when the application has had the batch that it has had longest; undefined when it has none. */
  get oldestSinceMs(): number | undefined {
    let oldest: number | undefined
    for (const { sinceMs } of this.#out) if (oldest === undefined || sinceMs < oldest) oldest = sinceMs
    return oldest
  }

  /** Resolves when the application works on nothing of these partitions. They should be held meanwhile. */
  whenIdle(partitions: ReadonlySet<AssignedPartition>): Promise<void> {
    const isDone = () => ![...this.#out].some(({ assigned }) => partitions.has(assigned))
    if (isDone()) return Promise.resolve()
    return new Promise(resolve => {
      this.#waiters.push({ isDone, resolve })
    })
  }

  #isOut(assigned: AssignedPartition): boolean {
    for (const out of this.#out) if (out.assigned === assigned) return true
    return false
  }

  #wake(): void {
    const done = this.#waiters.filter(({ isDone }) => isDone())
    this.#waiters = this.#waiters.filter(waiter => !done.includes(waiter))
    for (const { resolve } of done) resolve()
  }
}

/** How often an application that does not mind is told that a partition cannot go on. */
const giveUpPauseMs = 5000

function corrupt({ name }: AssignedPartition, offset: number, reason: string): MillraceError {
  const text = `${name}: the batch at offset ${offset} cannot be read: ${reason}. Seek past it, or look at the broker's disk`
  return new MillraceError('CORRUPT_MESSAGE', text, { errorCode: ErrorCode.corruptMessage, retriable: true })
}
