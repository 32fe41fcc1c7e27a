import { ErrorCode } from '../../base/error-code.ts'
import type { RecordError } from '../../core/log/partition-log.ts'
import type { Deadline } from '../deadlines.ts'
import type { Request } from '../network/request.ts'

/** What is answered for one partition of a Produce request; filled in while the request is worked on. */
export interface ProduceResult {
  index: number
  errorCode: ErrorCode
  baseOffset: number
  logAppendTimeMs: number
  logStartOffset: number
  recordErrors: { batchIndex: number; batchIndexErrorMessage: string | null }[]
  errorMessage: string | null
}

export function emptyProduceResult(index: number): ProduceResult {
  return {
    index,
    errorCode: ErrorCode.none,
    baseOffset: -1,
    logAppendTimeMs: -1,
    logStartOffset: -1,
    recordErrors: [],
    errorMessage: null,
  }
}

export function recordErrorsOf(errors: readonly RecordError[]): ProduceResult['recordErrors'] {
  return errors.map(error => ({ batchIndex: error.batchIndex, batchIndexErrorMessage: error.message ?? null }))
}

/** A Produce request whose partitions have not all been decided. Answers once, when the last one is. */
export class WaitingProduce {
  readonly request: Request
  readonly acks: number
  readonly #finish: (produce: WaitingProduce) => void
  #undecided = 1
  deadline: Deadline | undefined

  constructor(request: Request, acks: number, finish: (produce: WaitingProduce) => void) {
    this.request = request
    this.acks = acks
    this.#finish = finish
  }

  get isDecided(): boolean {
    return this.#undecided === 0
  }

  /** One more partition has to be decided before the answer. */
  expect(): void {
    this.#undecided++
  }

  /** One partition's result stands. Also called once by the handler, when it has begun all partitions. */
  decided(): void {
    if (--this.#undecided > 0) return
    this.deadline?.cancel()
    this.#finish(this)
  }
}

/** One partition's part of a Produce request. */
export interface ProduceItem {
  /** Valid until the handler returns; moved when the batch has to wait. */
  batch: Buffer
  readonly result: ProduceResult
  readonly produce: WaitingProduce
  /** The result stands; later news of this item are ignored. */
  isDecided: boolean
  /** What is waited for: this offset must be below the log end (acks 1) or the high watermark (acks all). */
  lastOffset: number
}

export function decide(item: ProduceItem, errorCode: ErrorCode, message: string | null = null): void {
  if (item.isDecided) return
  item.isDecided = true
  const { result } = item
  result.errorCode = errorCode
  result.errorMessage = message
  if (errorCode !== ErrorCode.none) {
    result.baseOffset = -1
    result.logAppendTimeMs = -1
  }
  item.produce.decided()
}

/** Those that wait, in the order of their offsets, for what ends at `end` now: they are answered and leave the list. */
export function decideReached(waiting: ProduceItem[], end: number): void {
  let count = 0
  while (count < waiting.length && (waiting[count].isDecided || waiting[count].lastOffset < end)) count++
  if (count === 0) return
  for (const item of waiting.splice(0, count)) decide(item, ErrorCode.none)
}
