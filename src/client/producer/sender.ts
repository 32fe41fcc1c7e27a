import { countOf } from '../../base/count-of.ts'
import { ErrorCode, needsMetadata } from '../../base/error-code.ts'
import { zeroUuid } from '../../base/uuid.ts'
import type { Timer } from '../../io/clock.ts'
import type { ProduceResponse } from '../../protocol/messages/produce.ts'
import { batchHeaderBytes } from '../../records/batch.ts'
import { Codec } from '../../records/compression/codec.ts'
import { compressSync } from '../../records/compression/compress.ts'
import { RecordReader } from '../../records/record.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { NodeGate } from '../cluster/node-gate.ts'
import type { Closing } from '../cluster/waiting.ts'
import { MillraceError, toMillraceError } from '../millrace-error.ts'
import { IdentitySource } from './identity-source.ts'
import type { PartitionQueue, Verdict } from './partition-queue.ts'
import {
  answerFor,
  type BatchAnswer,
  lastVersionWithNames,
  produceApi,
  produceBody,
  type SentBatch,
} from './produce-request.ts'
import type { ProducerBatch } from './producer-batch.ts'
import type { ProducerConfig } from './producer-options.ts'

/** How much longer than the broker may take the answer may be on its way. */
const answerGraceMs = 5000
/** Batches of the slow codecs are compressed off the loop from this size on. */
const computeFromBytes = 32 * 1024

export interface SenderOptions {
  readonly cluster: Cluster
  readonly config: ProducerConfig
  readonly lane: string
  readonly closing: Closing
  /** A batch is over, one way or the other: its memory is free. */
  readonly ended: (batch: ProducerBatch) => void
  /** A batch was too large for its broker; these stand in its place. */
  readonly replaced: (batch: ProducerBatch, halves: readonly ProducerBatch[]) => void
}

/**
 * Brings the batches of all partitions to their leaders. It looks at all queues once in a turn in which something
 * happened, and sends what may be sent; it never waits for one of them.
 */
export class Sender {
  readonly #options: SenderOptions
  readonly #cluster: Cluster
  readonly #config: ProducerConfig
  readonly #identity: IdentitySource
  /** Queues that have batches. */
  readonly #active = new Set<PartitionQueue>()
  readonly #inFlight = new Map<number, number>()
  readonly #gate: NodeGate
  #isScheduled = false
  #timer: Timer | undefined
  /** Callers that wait for everything to be sent. */
  flushing = 0

  constructor(options: SenderOptions) {
    this.#options = options
    this.#cluster = options.cluster
    this.#config = options.config
    this.#identity = new IdentitySource(options.cluster, options.closing, options.lane, () => this.schedule())
    this.#gate = new NodeGate(options.cluster, options.lane, () => this.schedule())
    options.closing.onClose(() => this.#timer?.cancel())
  }

  /** The queue has got a batch. */
  activate(queue: PartitionQueue): void {
    this.#active.add(queue)
    this.schedule()
  }

  /** Looks at the queues at the end of this turn. */
  schedule(): void {
    if (this.#isScheduled || this.#options.closing.isClosed) return
    this.#isScheduled = true
    this.#cluster.io.clock.nextTurn(() => {
      this.#isScheduled = false
      if (!this.#options.closing.isClosed) this.#run()
    })
  }

  /** Gives up everything. */
  failAll(error: MillraceError): void {
    for (const queue of this.#active) for (const batch of queue.takeAll()) this.#end(batch, error)
    this.#active.clear()
  }

  #run(): void {
    this.#timer?.cancel()
    const nowMs = this.#cluster.nowMs
    const { fatalError } = this.#identity
    if (fatalError !== undefined) this.failAll(fatalError)
    for (const queue of this.#active) this.#expire(queue, nowMs)
    if (this.#config.idempotent) this.#beginAnewWhereDue()
    while (this.#sendRound(nowMs));
    this.#armTimer(nowMs)
  }

  #expire(queue: PartitionQueue, nowMs: number): void {
    for (const batch of queue.expire(nowMs)) this.#end(batch, this.#tooLate(queue, batch))
    if (queue.isEmpty) this.#active.delete(queue)
  }

  #beginAnewWhereDue(): void {
    for (const queue of this.#active) {
      if (!queue.isResetDue) continue
      const identity = this.#identity.after(queue.identity, queue.needsNewProducerId)
      if (identity !== undefined) queue.reset(identity)
    }
  }

  /** Sends at most one request to each node. Returns whether there may be more to send. */
  #sendRound(nowMs: number): boolean {
    if (this.#config.idempotent && this.#identity.current === undefined) return false
    const requests = new Map<number, SentBatch[]>()
    const bytes = new Map<number, number>()
    for (const queue of this.#active) {
      const batch = queue.next(nowMs, this.flushing > 0)
      if (batch === undefined || !this.#isCompressed(queue, batch)) continue
      const nodeId = this.#cluster.leaderOf(queue.topic, queue.partition)?.leaderId
      if (nodeId === undefined || !this.#gate.isOpen(nodeId)) continue
      if ((this.#inFlight.get(nodeId) ?? 0) >= this.#config.maxInFlight) continue
      const total = (bytes.get(nodeId) ?? 0) + batch.sentBytes
      if (total > this.#config.maxRequestBytes && bytes.has(nodeId)) continue
      bytes.set(nodeId, total)
      const request = requests.get(nodeId) ?? []
      requests.set(nodeId, request)
      request.push(this.#prepare(queue, batch))
    }
    for (const [nodeId, sent] of requests) void this.#send(nodeId, sent)
    return requests.size > 0
  }

  #isCompressed(queue: PartitionQueue, batch: ProducerBatch): boolean {
    const { codec, compressionLevel: level } = this.#config
    if (codec === Codec.none || batch.compressed !== undefined) return true
    batch.state = 'sealed'
    const { records } = batch.builder
    const isSlow = codec === Codec.gzip || codec === Codec.zstd
    if (!isSlow || records.length < computeFromBytes) {
      batch.compressed = compressSync(codec, records, level)
      return true
    }
    batch.state = 'compressing'
    void this.#cluster.io.compute.run({ type: 'compress', codec, level, input: records }).then(result => {
      const output = result.type === 'done' ? result.output : compressSync(codec, records, level)
      if (queue.compressed(batch, output)) this.schedule()
      else this.#options.ended(batch)
    })
    return false
  }

  #prepare(queue: PartitionQueue, batch: ProducerBatch): SentBatch {
    queue.sent(batch, this.#config.idempotent ? this.#identity.current : undefined)
    const { codec, compressionLevel: level } = this.#config
    const { identity } = queue
    const bytes = batch.encode({
      codec,
      level,
      producerId: identity?.producerId ?? -1,
      producerEpoch: identity?.producerEpoch ?? -1,
      baseSequence: batch.baseSequence,
    })
    return { queue, batch, topicId: this.#cluster.metadata.topic(queue.topic)?.topicId ?? zeroUuid, bytes }
  }

  async #send(nodeId: number, sent: readonly SentBatch[]): Promise<void> {
    this.#inFlight.set(nodeId, (this.#inFlight.get(nodeId) ?? 0) + 1)
    const { acks, requestTimeoutMs } = this.#config
    const hasIds = sent.every(({ topicId }) => topicId !== zeroUuid)
    try {
      const response = await this.#cluster.send(
        nodeId,
        produceApi,
        produceBody(sent, { acks, timeoutMs: requestTimeoutMs }),
        {
          lane: this.#options.lane,
          timeoutMs: requestTimeoutMs + answerGraceMs,
          expectsAnswer: acks !== 0,
          ...(hasIds ? {} : { maxVersion: lastVersionWithNames }),
        },
      )
      for (const one of sent) this.#answered(one, acks === 0 ? notAcknowledged : answerFor(one, response), response)
    } catch (thrown) {
      const error = toMillraceError(thrown)
      for (const one of sent) {
        if (this.#isOver(one)) this.#options.ended(one.batch)
        else this.#judge(one, one.queue.lost(one.batch, error.outcomeUnknown, error))
      }
    }
    this.#inFlight.set(nodeId, this.#inFlight.get(nodeId)! - 1)
    this.schedule()
  }

  /** The producer has let go of everything meanwhile. */
  #isOver({ queue, batch }: SentBatch): boolean {
    return !queue.batches.includes(batch)
  }

  #answered(sent: SentBatch, answer: BatchAnswer, response: ProduceResponse | undefined): void {
    const { queue, batch } = sent
    if (this.#isOver(sent)) {
      this.#options.ended(batch)
      return
    }
    const verdict = queue.answered(batch, answer)
    if (verdict.type === 'succeeded') {
      batch.succeed(queue.topic, queue.partition, answer)
      this.#ended(queue, batch)
    } else this.#judge(sent, verdict)
    if (!needsMetadata(answer.errorCode)) return
    const brokers = response?.nodeEndpoints ?? []
    if (this.#cluster.learnLeader(queue.topic, queue.partition, answer.currentLeader, brokers)) {
      batch.notBeforeMs = Number.NEGATIVE_INFINITY
    } else this.#cluster.requestRefresh()
  }

  #judge({ queue, batch }: SentBatch, verdict: Verdict): void {
    switch (verdict.type) {
      case 'again':
        batch.notBeforeMs = this.#cluster.nowMs + this.#cluster.retryDelayMs(batch.attempts)
        return
      case 'split': {
        const halves = batch.split(recordsOf(batch))
        queue.replace(batch, halves)
        this.#options.replaced(batch, halves)
        return
      }
      case 'failed':
        batch.fail(withOutcome(verdict.error, batch))
        this.#ended(queue, batch)
        return
      case 'succeeded':
        return
    }
  }

  #ended(queue: PartitionQueue, batch: ProducerBatch): void {
    this.#options.ended(batch)
    if (queue.isEmpty) this.#active.delete(queue)
  }

  /** Tells the calls. The memory of a batch in flight is still in use. */
  #end(batch: ProducerBatch, error: MillraceError): void {
    batch.fail(error)
    if (batch.state === 'open' || batch.state === 'sealed') this.#options.ended(batch)
  }

  #tooLate({ topic, partition }: PartitionQueue, batch: ProducerBatch): MillraceError {
    const { deliveryTimeoutMs } = this.#config
    const cause = batch.lastError ?? this.#identity.lastError
    const why = cause === undefined ? this.#whyNotSent(topic, partition) : `: ${cause.message}`
    const records = `${countOf(batch.recordCount, 'record')} for ${topic}-${partition}`
    const was = batch.recordCount === 1 ? 'was' : 'were'
    const text = `${records} ${was} not acknowledged within ${deliveryTimeoutMs} ms${why}`
    const outcomeUnknown = batch.isUncertain || batch.state === 'inFlight'
    return new MillraceError('TIMED_OUT', text, { retriable: true, outcomeUnknown, cause })
  }

  #whyNotSent(topic: string, partition: number): string {
    const state = this.#cluster.metadata.partition(topic, partition)
    if (state === undefined || state.leaderId < 0) return ': the partition has no leader'
    return `: its leader, broker ${state.leaderId}, could not be reached`
  }

  #armTimer(nowMs: number): void {
    let nextMs = Number.POSITIVE_INFINITY
    for (const queue of this.#active) {
      const readyMs = queue.nextReadyMs(this.flushing > 0)
      // What is ready and was not sent waits for an event: a connection, an answer, a leader.
      if (readyMs > nowMs && readyMs < nextMs) nextMs = readyMs
      nextMs = Math.min(nextMs, queue.nextExpiryMs())
    }
    if (nextMs < Number.POSITIVE_INFINITY) {
      this.#timer = this.#cluster.io.clock.after(Math.max(0, nextMs - nowMs), () => this.#run())
    }
  }
}

/** What stands for the answer with acks=0. */
const notAcknowledged: BatchAnswer = {
  errorCode: ErrorCode.none,
  errorMessage: null,
  baseOffset: -1,
  logAppendTimeMs: -1,
  currentLeader: { leaderId: -1, leaderEpoch: -1 },
}

function* recordsOf(batch: ProducerBatch) {
  // A header of its own: the record reader takes the count from it.
  const bytes = batch.builder.finish()
  const reader = new RecordReader(bytes, 0, bytes.length, bytes.subarray(batchHeaderBytes))
  for (let record = reader.next(); record !== undefined; record = reader.next()) yield record
}

/** A batch that may be there from an earlier attempt has failed in another way than one that cannot be. */
function withOutcome(error: MillraceError, batch: ProducerBatch): MillraceError {
  if (error.outcomeUnknown || !batch.isUncertain) return error
  const { code, message, retriable, errorCode } = error
  return new MillraceError(code, message, { cause: error, retriable, errorCode, outcomeUnknown: true })
}
