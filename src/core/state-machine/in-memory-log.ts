import { assert } from '../../base/assert.ts'
import { ErrorCode } from '../../base/error-code.ts'
import { readRecordCount, setBaseOffset } from '../../records/batch.ts'
import type { Refusal, Reservation } from '../log/partition-log.ts'
import type { ReplicatedLog } from './replicated-log.ts'

/**
 * A replicated log in memory, for tests of what runs on one: it holds the batches themselves, commits when it is told to,
 * refuses and fails when it is told to.
 */
export class InMemoryLog implements ReplicatedLog {
  readonly batches: Buffer[] = []
  maxBatchBytes = 1_048_588
  /** The next reservations are refused with this. */
  refusal: ErrorCode = ErrorCode.none
  #nextOffset = 0
  #highWatermark = 0
  #reserved: Reservation | undefined

  get nextOffset(): number {
    return this.#nextOffset
  }

  get highWatermark(): number {
    return this.#highWatermark
  }

  reserve(batch: Buffer): Reservation | Refusal {
    assert(this.#reserved === undefined, 'a reservation is appended in the turn in which it was made')
    if (this.refusal !== ErrorCode.none) return refused(this.refusal)
    if (batch.length > this.maxBatchBytes) return refused(ErrorCode.messageTooLarge)
    const baseOffset = this.#nextOffset
    setBaseOffset(batch, 0, baseOffset)
    const lastOffset = baseOffset + readRecordCount(batch, 0) - 1
    this.#reserved = { type: 'reserved', baseOffset, lastOffset, logAppendTimeMs: -1, bytes: batch }
    return this.#reserved
  }

  append(reservation: Reservation): void {
    assert(reservation === this.#reserved, 'what is appended was reserved')
    this.#reserved = undefined
    this.batches.push(reservation.bytes)
    this.#nextOffset = reservation.lastOffset + 1
  }

  /** A batch that someone else wrote: a broker that led before, a transaction coordinator. */
  appendForeign(batch: Buffer): void {
    const reservation = this.reserve(batch)
    assert(reservation.type === 'reserved', 'a test appends what the log takes')
    this.append(reservation)
  }

  /** Everything, or everything below `offset`. Whoever runs on the log has to be told. */
  commit(offset = this.#nextOffset): void {
    assert(offset >= this.#highWatermark && offset <= this.#nextOffset, 'the high watermark moves within the log')
    this.#highWatermark = offset
  }

  /** The writes of all batches that are not committed fail. Whoever runs on the log has to be told. */
  failUncommitted(): void {
    while (this.#nextOffset > this.#highWatermark) {
      const batch = this.batches.pop()
      assert(batch !== undefined, 'what is not committed is in the log')
      this.#nextOffset -= readRecordCount(batch, 0)
    }
  }
}

function refused(errorCode: ErrorCode): Refusal {
  return { type: 'refused', errorCode, message: undefined, recordErrors: [] }
}
