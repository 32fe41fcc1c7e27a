import { assert } from '../../base/assert.ts'
import { ErrorCode, isRetriable } from '../../base/error-code.ts'
import { addToSequence } from '../../records/batch.ts'
import { brokerError, type MillraceError } from '../millrace-error.ts'
import type { ProducerBatch } from './producer-batch.ts'
import { defaultMaxLingerMs } from './producer-options.ts'

/** Who the brokers take this producer for. Sequences count within one of these and one partition. */
export interface ProducerIdentity {
  readonly producerId: number
  readonly producerEpoch: number
}

export interface QueueOptions {
  readonly topic: string
  readonly partition: number
  readonly idempotent: boolean
  /** Of one partition. Without idempotence it is one, or a repetition could overtake. */
  readonly maxInFlight: number
  /** undefined: open batches leave at once while nothing is in flight. */
  readonly lingerMs: number | undefined
  readonly deliveryTimeoutMs: number
}

export interface Answer {
  readonly errorCode: ErrorCode
  readonly errorMessage: string | null
}

/** What is to be done with a batch after an answer. `split`: it is too large; put two in its place. */
export type Verdict =
  | { readonly type: 'succeeded' }
  | { readonly type: 'again'; readonly error: MillraceError }
  | { readonly type: 'split' }
  | { readonly type: 'failed'; readonly error: MillraceError }

/**
 * The batches of one partition, in their order: which may be sent now, and what an answer means. Pure: it sends nothing.
 *
 * With idempotence each batch gets a sequence when it is first sent, and several may be in flight: the broker refuses one
 * that arrives before its predecessor (`outOfOrderSequenceNumber`), and it is sent again. Only the *first* batch of the
 * queue can be refused for good in that way: what came before it is acknowledged or given up, so the broker will never have
 * what it misses. Then, and when a batch in the middle has failed for good, the sequences begin anew in the next epoch of the
 * producer (KIP-360). Before that, every batch that may have been appended already is sent once more under its old sequence:
 * the broker recognises it, or says that it is not there. So nothing is written twice.
 */
export class PartitionQueue {
  readonly topic: string
  readonly partition: number
  readonly #options: QueueOptions
  readonly #batches: ProducerBatch[] = []
  /** Under which identity the sequences count; undefined until the first batch is sent. */
  identity: ProducerIdentity | undefined
  #nextSequence = 0
  #needsReset = false
  /** The next identity must be one with a new producer id. */
  #isFenced = false

  constructor(options: QueueOptions) {
    this.topic = options.topic
    this.partition = options.partition
    this.#options = options
  }

  get batches(): readonly ProducerBatch[] {
    return this.#batches
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0
  }

  get inFlightCount(): number {
    let count = 0
    for (const { state } of this.#batches) if (state === 'inFlight') count++
    return count
  }

  /** The batch that takes records; undefined when a new one is needed. */
  get openBatch(): ProducerBatch | undefined {
    const last = this.#batches.at(-1)
    return last?.state === 'open' ? last : undefined
  }

  push(batch: ProducerBatch): void {
    const { openBatch } = this
    if (openBatch !== undefined) openBatch.state = 'sealed'
    this.#batches.push(batch)
  }

  /** The batch that may be sent, or made ready to be sent, now. */
  next(nowMs: number, isFlushing: boolean): ProducerBatch | undefined {
    const index = this.#needsReset ? this.#nextUncertain() : this.#nextInOrder()
    const batch = this.#batches[index]
    if (batch === undefined || batch.state === 'compressing') return undefined
    return this.#readyAtMs(batch, isFlushing) <= nowMs ? batch : undefined
  }

  /** When `next` may have something, if nothing else happens; Infinity when only an answer can bring it about. */
  nextReadyMs(isFlushing: boolean): number {
    const index = this.#needsReset ? this.#nextUncertain() : this.#nextInOrder()
    const batch = this.#batches[index]
    if (batch === undefined || batch.state === 'compressing') return Number.POSITIVE_INFINITY
    return this.#readyAtMs(batch, isFlushing)
  }

  #nextInOrder(): number {
    const index = this.#batches.findIndex(({ state }) => state !== 'inFlight')
    if (index <= 0) return index
    // What is sent again goes alone and first; what is new may follow what is in flight.
    const isAgain = this.#batches[index].attempts > 0
    return isAgain || index >= this.#options.maxInFlight ? -1 : index
  }

  #nextUncertain(): number {
    if (this.inFlightCount > 0) return -1
    return this.#batches.findIndex(({ isUncertain }) => isUncertain)
  }

  #readyAtMs(batch: ProducerBatch, isFlushing: boolean): number {
    if (batch.state !== 'open' || isFlushing) return batch.notBeforeMs
    const { lingerMs } = this.#options
    if (lingerMs !== undefined) return batch.createdMs + lingerMs
    return this.#batches.length === 1 ? batch.createdMs : batch.createdMs + defaultMaxLingerMs
  }

  /** Everything that an answer could still change is known, and the sequences may begin anew. */
  get isResetDue(): boolean {
    return this.#needsReset && this.inFlightCount === 0 && this.#nextUncertain() < 0
  }

  get needsNewProducerId(): boolean {
    return this.#isFenced
  }

  /** Begins the sequences anew under an identity that this partition has not seen. */
  reset(identity: ProducerIdentity): void {
    assert(this.isResetDue, 'sequences begin anew when nothing is uncertain')
    assert(identity !== this.identity, 'sequences begin anew under a new identity')
    this.identity = identity
    this.#nextSequence = 0
    this.#needsReset = false
    this.#isFenced = false
    for (const batch of this.#batches) {
      batch.baseSequence = -1
      batch.notBeforeMs = Number.NEGATIVE_INFINITY
    }
  }

  /** The batch goes out now. */
  sent(batch: ProducerBatch, identity: ProducerIdentity | undefined): void {
    assert(batch.state === 'sealed' || batch.state === 'open', 'a batch is sent by one request at a time')
    batch.state = 'inFlight'
    batch.attempts++
    if (!this.#options.idempotent) return
    this.identity ??= identity
    assert(this.identity !== undefined, 'an idempotent producer knows who it is before it sends')
    if (batch.baseSequence >= 0) return
    batch.baseSequence = this.#nextSequence
    this.#nextSequence = addToSequence(this.#nextSequence, batch.recordCount)
  }

  /** The codec is done. False when the batch was given up meanwhile: it is out. */
  compressed(batch: ProducerBatch, output: Buffer): boolean {
    assert(batch.state === 'compressing', 'a batch is compressed once')
    batch.state = 'sealed'
    batch.compressed = output
    if (!this.#batches.includes(batch)) return false
    if (batch.isGivenUp) this.#drop(batch)
    return !batch.isGivenUp
  }

  /** The request came to nothing. `wasSent`: the broker may have got it. */
  lost(batch: ProducerBatch, wasSent: boolean, error: MillraceError): Verdict {
    assert(batch.state === 'inFlight', 'only what is in flight can be lost')
    batch.state = 'sealed'
    if (wasSent) batch.isUncertain = true
    if (!error.retriable) return this.#failed(batch, error)
    return this.#again(batch, error)
  }

  answered(batch: ProducerBatch, { errorCode, errorMessage }: Answer): Verdict {
    assert(batch.state === 'inFlight', 'only what is in flight is answered')
    batch.state = 'sealed'
    if (errorCode === ErrorCode.none || errorCode === ErrorCode.duplicateSequenceNumber) {
      this.#remove(batch)
      return { type: 'succeeded' }
    }
    const error = brokerError(errorCode, `${this.topic}-${this.partition}`, errorMessage)
    if (this.#options.idempotent) {
      const isOutOfOrder = errorCode === ErrorCode.outOfOrderSequenceNumber || errorCode === ErrorCode.unknownProducerId
      if (isOutOfOrder) return this.#outOfOrder(batch, error)
      if (errorCode === ErrorCode.invalidProducerEpoch && !batch.isUncertain) return this.#fenced(batch, error)
    }
    if (error.outcomeUnknown || mayBeAppended.has(errorCode)) batch.isUncertain = true
    if (errorCode === ErrorCode.messageTooLarge && batch.recordCount > 1 && !batch.isGivenUp) return { type: 'split' }
    return isRetriable(errorCode) ? this.#again(batch, error) : this.#failed(batch, error)
  }

  replace(batch: ProducerBatch, halves: readonly ProducerBatch[]): void {
    const index = this.#batches.indexOf(batch)
    assert(index >= 0, 'a batch that is split is in its queue')
    this.#batches.splice(index, 1, ...halves)
    const [first, second] = halves
    if (first.baseSequence >= 0) second.baseSequence = addToSequence(first.baseSequence, first.recordCount)
    // They count as sent: what follows them has been sent, and must not go before them.
    for (const half of halves) half.attempts = batch.attempts
  }

  /** Takes out the batches whose time is over. Those in flight stay, given up, until their answer comes. */
  expire(nowMs: number): ProducerBatch[] {
    const limitMs = nowMs - this.#options.deliveryTimeoutMs
    if (!(this.#batches[0]?.createdMs <= limitMs)) return []
    const expired = this.#batches.filter(batch => batch.createdMs <= limitMs && !batch.isGivenUp)
    return expired.filter(batch => {
      if (batch.state === 'inFlight') batch.isUncertain = true
      else if (batch.state !== 'compressing') this.#drop(batch)
      return true
    })
  }

  /** When the next batch has to be given up. */
  nextExpiryMs(): number {
    const oldest = this.#batches.find(({ isGivenUp }) => !isGivenUp)
    return oldest === undefined ? Number.POSITIVE_INFINITY : oldest.createdMs + this.#options.deliveryTimeoutMs
  }

  /** Takes out everything, for a producer that is closed or has failed for good. */
  takeAll(): ProducerBatch[] {
    return this.#batches.splice(0)
  }

  #outOfOrder(batch: ProducerBatch, error: MillraceError): Verdict {
    batch.isUncertain = false
    if (this.#batches[0] === batch) this.#needsReset = true
    return this.#again(batch, error)
  }

  #fenced(batch: ProducerBatch, error: MillraceError): Verdict {
    this.#needsReset = true
    this.#isFenced = true
    return this.#again(batch, error)
  }

  #again(batch: ProducerBatch, error: MillraceError): Verdict {
    batch.lastError = error
    if (!batch.isGivenUp) return { type: 'again', error }
    this.#drop(batch)
    return { type: 'failed', error }
  }

  #failed(batch: ProducerBatch, error: MillraceError): Verdict {
    this.#drop(batch)
    return { type: 'failed', error }
  }

  /** Takes out a batch that was not acknowledged, and sees to the gap that it may leave among the sequences. */
  #drop(batch: ProducerBatch): void {
    const index = this.#remove(batch)
    if (batch.baseSequence < 0 || this.#needsReset) return
    const isLast = !this.#batches.slice(index).some(({ baseSequence }) => baseSequence >= 0)
    // Nobody knows whether it is there. If not, the broker will refuse what follows, as the first of the queue.
    if (batch.isUncertain) return
    if (isLast) this.#nextSequence = batch.baseSequence
    else this.#needsReset = true
  }

  #remove(batch: ProducerBatch): number {
    const index = this.#batches.indexOf(batch)
    assert(index >= 0, 'a batch that ends is in its queue')
    this.#batches.splice(index, 1)
    return index
  }
}

/** A leader answers so, too, when it had appended the batch and ceased to lead before its followers had it. */
const mayBeAppended: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.notLeaderOrFollower,
  ErrorCode.unknownTopicOrPartition,
  ErrorCode.unknownTopicId,
])
