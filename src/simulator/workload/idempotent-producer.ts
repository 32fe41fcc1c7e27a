import { ErrorCode } from '../../base/error-code.ts'
import { initProducerIdApi } from '../wire/requests.ts'
import { type SendResult, sendBatch } from './send-batch.ts'
import { type RecordShape, UniqueRecords, type UnsentBatch } from './unique-records.ts'
import { type PartitionTarget, pickPartition, think, type Workplace } from './workplace.ts'

interface Batch {
  readonly unsent: UnsentBatch
  readonly codec: number
  readonly sequence: number
  attempt: number
}

interface Identity {
  readonly id: number
  readonly epoch: number
}

export interface IdempotentOptions {
  readonly shape: RecordShape
  readonly codecs: readonly number[]
  readonly thinkMs: number
  /** Chance that a batch that was acknowledged is sent once more, later. */
  readonly repeatRate: number
}

/** Batches that may be on their way at once: what brokers remember of a producer. */
const window = 5
/** Times that a batch is tried before its producer gives up what it wanted. */
const maxAttempts = 30
/** Most ids that are asked for in one go; a block has a thousand. */
const idsAtOnce = 300

/** Idempotent producers, one after the other: each writes to one partition, with retries in order. */
export async function runIdempotentProducer(at: Workplace, options: IdempotentOptions): Promise<void> {
  const records = new UniqueRecords(at.process, at.random, options.shape)
  while (!at.isStopping()) {
    await think(at, options.thinkMs)
    const target = await pickPartition(at)
    const identity = target && (await initProducer(at))
    if (identity !== undefined) await new IdempotentRun(at, options, target!, identity, records).run()
  }
}

/** Producers that come and go without writing anything, so many that the broker uses up one block of ids after the other. */
export async function runIdCollector(at: Workplace): Promise<void> {
  while (!at.isStopping()) {
    await think(at, 1000)
    for (let left = at.random.between(1, idsAtOnce); left > 0 && !at.isStopping(); left--)
      if ((await initProducer(at)) === undefined) break
  }
}

async function initProducer(at: Workplace): Promise<Identity | undefined> {
  const line = await at.client.line(initProducerIdApi)
  if (line === undefined) return undefined
  const call = at.history.begin(at.process, 'initProducer', { id: -1, epoch: -1 })
  const result = await line.send({ transactionalId: null, transactionTimeoutMs: 60_000 }, { timeoutMs: 6000 })
  if (result.type === 'lost') at.history.info(call, result.reason)
  else if (result.answer.errorCode !== ErrorCode.none) at.history.info(call, `error ${result.answer.errorCode}`)
  else {
    const identity = { id: result.answer.producerId, epoch: result.answer.producerEpoch }
    at.history.ok(call, identity)
    return identity
  }
  return undefined
}

/** One producer's time: batches with ascending sequences, resent in order until each is answered. */
class IdempotentRun {
  readonly #at: Workplace
  readonly #options: IdempotentOptions
  readonly #target: PartitionTarget
  readonly #identity: Identity
  readonly #records: UniqueRecords
  #unresolved: Batch[] = []
  readonly #acknowledged: Batch[] = []
  #nextSequence = 0
  #batchesLeft: number

  constructor(
    at: Workplace,
    options: IdempotentOptions,
    target: PartitionTarget,
    identity: Identity,
    records: UniqueRecords,
  ) {
    this.#at = at
    this.#options = options
    this.#target = target
    this.#identity = identity
    this.#records = records
    this.#batchesLeft = at.random.between(1, 30)
  }

  async run(): Promise<void> {
    const { random } = this.#at
    for (;;) {
      if (!this.#at.isStopping()) this.#fill()
      if (this.#unresolved.length === 0) return
      const round = this.#unresolved.map(batch => this.#send(batch))
      if (random.chance(this.#options.repeatRate)) void this.#repeat()
      if (this.#take(await Promise.all(round)) === 'over') return
      if (this.#unresolved.length > 0) await think(this.#at, random.chance(0.05) ? 5000 : 100)
      else await think(this.#at, this.#options.thinkMs)
    }
  }

  #fill(): void {
    const { random, client } = this.#at
    const count = random.between(1, window)
    while (this.#unresolved.length < count && this.#batchesLeft > 0) {
      this.#batchesLeft--
      const areKeyed = this.#at.isCompacted(this.#target.topic.name)
      const unsent = this.#records.draw(client.io.clock.now().wallMs, { areKeyed })
      this.#unresolved.push({
        unsent,
        codec: random.pick(this.#options.codecs),
        sequence: this.#nextSequence,
        attempt: 0,
      })
      this.#nextSequence += unsent.seen.length
    }
  }

  #send(batch: Batch): Promise<SendResult> {
    const { unsent, codec, sequence } = batch
    const producer = { ...this.#identity, sequence }
    return sendBatch(this.#at, this.#target, unsent, { acks: -1, codec, attempt: ++batch.attempt, producer })
  }

  /** As a reply that came when nobody waited any more makes a client do. */
  async #repeat(): Promise<void> {
    if (this.#acknowledged.length > 0) await this.#send(this.#at.random.pick(this.#acknowledged))
  }

  /** Batches are resolved in their order; the first that is not keeps all after it. */
  #take(results: readonly SendResult[]): 'goOn' | 'over' {
    const sent = this.#unresolved
    this.#unresolved = []
    for (const [index, result] of results.entries()) {
      const batch = sent[index]!
      if (
        result.type === 'ok' ||
        (result.type === 'refused' && result.errorCode === ErrorCode.duplicateSequenceNumber)
      ) {
        this.#acknowledged.push(batch)
        if (this.#acknowledged.length > window + 1) this.#acknowledged.shift()
        continue
      }
      // After one that failed, those behind it are out of order and have to be sent again.
      const isFirst = this.#unresolved.length === 0
      if (isFirst && result.type === 'refused' && endsProducer(result.errorCode)) return 'over'
      this.#unresolved.push(batch)
    }
    return this.#unresolved.some(batch => batch.attempt >= maxAttempts) ? 'over' : 'goOn'
  }
}

/** Errors that another try of the same batch does not mend. */
function endsProducer(errorCode: ErrorCode): boolean {
  return !retried.has(errorCode)
}

const retried: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.requestTimedOut,
  ErrorCode.notLeaderOrFollower,
  ErrorCode.leaderNotAvailable,
  ErrorCode.notEnoughReplicas,
  ErrorCode.notEnoughReplicasAfterAppend,
  ErrorCode.kafkaStorageError,
])
