import { MillraceError } from '../millrace-error.ts'
import type { ProducerRecord, RecordMetadata, SendOutcome } from './producer-record.ts'

/** Some records of one call failed. `results` has what became of each, in the order of the call. */
export class SendError extends MillraceError {
  readonly results: readonly SendOutcome[]

  constructor(results: readonly SendOutcome[], first: MillraceError) {
    const failed = results.filter(result => result instanceof MillraceError).length
    const message =
      failed === results.length ? first.message : `${failed} of ${results.length} records: ${first.message}`
    super(first.code, message, {
      retriable: first.retriable,
      cause: first,
      errorCode: first.errorCode,
      outcomeUnknown: results.some(result => result instanceof MillraceError && result.outcomeUnknown),
    })
    this.results = results
  }
}

/** One call of `send`: how much of it is handed in, and what became of each record. */
export class SendCall {
  readonly records: readonly ProducerRecord[]
  /** Records up to here are in batches. */
  accepted = 0
  /** When it must be handed in wholly. */
  readonly blockedUntilMs: number
  readonly #results: SendOutcome[]
  #open: number
  #firstError: MillraceError | undefined
  readonly #resolve: (results: readonly RecordMetadata[]) => void
  readonly #reject: (error: MillraceError) => void

  constructor(
    records: readonly ProducerRecord[],
    blockedUntilMs: number,
    end: { resolve: (results: readonly RecordMetadata[]) => void; reject: (error: MillraceError) => void },
  ) {
    this.records = records
    this.blockedUntilMs = blockedUntilMs
    this.#results = new Array(records.length)
    this.#open = records.length
    this.#resolve = end.resolve
    this.#reject = end.reject
  }

  get isAccepted(): boolean {
    return this.accepted === this.records.length
  }

  ended(index: number, outcome: SendOutcome): void {
    this.#results[index] = outcome
    if (outcome instanceof MillraceError) this.#firstError ??= outcome
    if (--this.#open === 0) this.#end()
  }

  /** Fails all that is not handed in yet. */
  failRest(error: MillraceError): void {
    const from = this.accepted
    this.accepted = this.records.length
    for (let index = from; index < this.records.length; index++) this.ended(index, error)
  }

  #end(): void {
    if (this.#firstError === undefined) this.#resolve(this.#results as RecordMetadata[])
    else if (this.records.length === 1) this.#reject(this.#firstError)
    else this.#reject(new SendError(this.#results, this.#firstError))
  }
}
