import { BatchBuilder, maxRecordSize } from '../../records/builder.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { Closing, WakeUps, within } from '../cluster/waiting.ts'
import { closedError, invalidArgument, MillraceError, toMillraceError } from '../millrace-error.ts'
import type { PartitionQueue } from './partition-queue.ts'
import { ProducerBatch } from './producer-batch.ts'
import { type ProducerConfig, type ProducerOptions, producerConfig } from './producer-options.ts'
import { type ProducerRecord, partsOf, type RecordMetadata, type SendOutcome } from './producer-record.ts'
import { ProducerTopic } from './producer-topic.ts'
import { SendCall, SendError } from './send-call.ts'
import { Sender } from './sender.ts'

/** First size of a batch's buffer; it grows as needed, and large ones are kept for later batches. */
const firstBuilderBytes = 4096
/** Buffers that are kept for later batches. */
const maxIdleBuilders = 64

/** Something that waits until these batches and calls are over. */
interface Flush {
  readonly pending: Set<ProducerBatch | SendCall>
  readonly resolve: () => void
}

/**
 * Sends records to topics. Records that are sent in one turn, or while others are on their way, travel together. With
 * `idempotent`, which is the default, each is written once and those of a partition in the order of the calls, whatever
 * has to be repeated. Made by `client.producer()`.
 */
export class Producer {
  readonly #cluster: Cluster
  readonly #ended: (producer: Producer) => void
  readonly #config: ProducerConfig
  readonly #closing = new Closing()
  readonly #sender: Sender
  readonly #lane: string
  readonly #topics = new Map<string, ProducerTopic>()
  readonly #idleBuilders: BatchBuilder[] = []
  readonly #batches = new Set<ProducerBatch>()
  readonly #flushes = new Set<Flush>()
  readonly #room: WakeUps
  #bufferedBytes = 0
  #waitingRecords = 0
  readonly #stopListening: () => void
  /** Has the client's end no longer told. */
  readonly #forget: (() => void) | undefined

  /** `ended` is told once it is closed. */
  constructor(cluster: Cluster, options: ProducerOptions, ended: (producer: Producer) => void) {
    this.#ended = ended
    this.#cluster = cluster
    this.#config = producerConfig(options)
    this.#room = new WakeUps(cluster.io.clock)
    this.#lane = cluster.newLane('produce')
    this.#sender = new Sender({
      cluster,
      config: this.#config,
      lane: this.#lane,
      closing: this.#closing,
      ended: batch => this.#batchEnded(batch),
      replaced: (batch, halves) => this.#batchReplaced(batch, halves),
    })
    this.#stopListening = cluster.onUpdate(() => this.#sender.schedule())
    this.#forget = cluster.closing.onClose(() => this.#finish())
  }

  /** Bytes of records that are not acknowledged yet. */
  get bufferedBytes(): number {
    return this.#bufferedBytes
  }

  /**
   * Sends one record. Resolves with where it is once it is acknowledged as `acks` says; rejects with a `MillraceError`
   * when it cannot be written, or not within `deliveryTimeoutMs`. If its `outcomeUnknown` is true the record may be there.
   */
  async send(record: ProducerRecord): Promise<RecordMetadata> {
    const [metadata] = await this.#call(record.topic, [record])
    return metadata
  }

  /**
   * Sends many records; cheaper than one by one. Resolves with where each is, in their order. When some cannot be written,
   * rejects with a `SendError`, whose `results` says what became of each.
   */
  async sendMany(records: readonly ProducerRecord[]): Promise<readonly RecordMetadata[]> {
    const topic = records[0]?.topic
    if (topic === undefined) return []
    if (records.every(record => record.topic === topic)) return this.#call(topic, records)
    return this.#sendToSeveralTopics(records)
  }

  /** Sends at once what waits for company. Resolves when all that was handed in before is acknowledged or has failed. */
  async flush(): Promise<void> {
    const calls = [...this.#topics.values()].flatMap(({ waiting }) => waiting)
    const pending = new Set<ProducerBatch | SendCall>([...this.#batches, ...calls])
    if (pending.size === 0) return
    this.#sender.flushing++
    this.#sender.schedule()
    await new Promise<void>(resolve => {
      const flush: Flush = {
        pending,
        resolve: () => {
          this.#flushes.delete(flush)
          this.#sender.flushing--
          resolve()
        },
      }
      this.#flushes.add(flush)
    })
  }

  /** Sends what there is, for as long as `timeoutMs` (30,000 unless given) allows; fails the rest with `CLOSED`. */
  async close({ timeoutMs = 30_000 }: { readonly timeoutMs?: number } = {}): Promise<void> {
    if (this.#closing.isClosed) return
    const late = () => closedError('producer')
    await within(this.#cluster.io.clock, timeoutMs, this.flush(), late).catch(() => undefined)
    this.#finish()
  }

  /** Closes with the defaults, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #finish(): void {
    if (this.#closing.isClosed) return
    this.#closing.close()
    this.#ended(this)
    const error = closedError('producer')
    for (const { waiting, unwatch } of this.#topics.values()) {
      for (const call of waiting) this.#failCall(call, error)
      unwatch()
    }
    this.#sender.failAll(error)
    this.#stopListening()
    this.#forget?.()
    this.#cluster.closeLane(this.#lane)
    for (const { resolve } of [...this.#flushes]) resolve()
  }

  #call(topicName: string, records: readonly ProducerRecord[]): Promise<readonly RecordMetadata[]> {
    if (this.#closing.isClosed) return Promise.reject(closedError('producer'))
    if (typeof topicName !== 'string' || topicName === '')
      return Promise.reject(invalidArgument('a record needs a topic'))
    return new Promise((resolve, reject) => {
      const { maxBlockMs, deliveryTimeoutMs } = this.#config
      const blockedUntilMs = this.#cluster.nowMs + Math.min(maxBlockMs, deliveryTimeoutMs)
      const call = new SendCall(records, blockedUntilMs, { resolve, reject })
      const topic = this.#topic(topicName)
      if (topic.waiting.length === 0) this.#accept(topic, call)
      if (!call.isAccepted) this.#queueCall(topic, call)
    })
  }

  #sendToSeveralTopics(records: readonly ProducerRecord[]): Promise<readonly RecordMetadata[]> {
    return new Promise((resolve, reject) => {
      // One call that gathers the results, and one for each topic below it.
      const whole = new SendCall(records, Number.POSITIVE_INFINITY, { resolve, reject })
      const indexes = Map.groupBy(records.keys(), index => records[index].topic)
      for (const [topic, ofTopic] of indexes) {
        const part = ofTopic.map(index => records[index])
        const tell = (outcomes: readonly SendOutcome[]) => {
          for (const [i, outcome] of outcomes.entries()) whole.ended(ofTopic[i], outcome)
        }
        this.#call(topic, part).then(tell, (error: MillraceError) => {
          tell(error instanceof SendError ? error.results : part.map(() => error))
        })
      }
    })
  }

  #topic(name: string): ProducerTopic {
    let topic = this.#topics.get(name)
    if (topic === undefined) {
      const unwatch = this.#cluster.watch(name, { create: this.#config.createTopics })
      topic = new ProducerTopic(name, this.#config, this.#cluster.io.random, unwatch)
      this.#topics.set(name, topic)
    }
    return topic
  }

  /** Puts records into batches as long as the topic is known and there is room. */
  #accept(topic: ProducerTopic, call: SendCall): void {
    const state = this.#cluster.metadata.topic(topic.name)
    if (state === undefined || state.errorCode !== 0 || state.partitions.length === 0) return
    topic.update(state)
    const { wallMs } = this.#cluster.io.clock.now()
    while (!call.isAccepted) {
      const outcome = this.#append(topic, call, call.records[call.accepted], wallMs)
      if (outcome === 'noRoom') return
      const index = call.accepted++
      if (outcome instanceof MillraceError) call.ended(index, outcome)
    }
  }

  #append(
    topic: ProducerTopic,
    call: SendCall,
    record: ProducerRecord,
    wallMs: number,
  ): 'appended' | 'noRoom' | MillraceError {
    const parts = partsOf(record)
    if (parts instanceof MillraceError) return parts
    const { key, value, headers, timestamp } = parts
    const size = maxRecordSize(key, value, headers)
    const { maxRequestBytes, bufferBytes, batchBytes } = this.#config
    if (size > maxRequestBytes) return tooLarge(topic.name, size, maxRequestBytes)
    if (this.#bufferedBytes > 0 && this.#bufferedBytes + size > bufferBytes) return 'noRoom'
    const queue = topic.queueFor(record.partition, key, size)
    if (queue instanceof MillraceError) return queue
    const open = queue.openBatch
    const batch = open !== undefined && open.sizeBytes + size <= batchBytes ? open : this.#newBatch(queue)
    const before = batch.recordCount === 0 ? 0 : batch.sizeBytes
    batch.add(call, call.accepted, timestamp ?? wallMs, key, value, headers)
    this.#bufferedBytes += batch.sizeBytes - before
    if (batch.sizeBytes >= batchBytes) batch.state = 'sealed'
    return 'appended'
  }

  #newBatch(queue: PartitionQueue): ProducerBatch {
    const builder = this.#idleBuilders.pop() ?? new BatchBuilder(firstBuilderBytes)
    const batch = new ProducerBatch(builder, this.#cluster.nowMs)
    this.#batches.add(batch)
    queue.push(batch)
    this.#sender.activate(queue)
    return batch
  }

  #queueCall(topic: ProducerTopic, call: SendCall): void {
    // Without a bound, a program that does not await would fill the memory with what it wants to send.
    const records = call.records.length - call.accepted
    if (this.#waitingRecords > 0 && this.#waitingRecords + records > maxWaitingRecords) {
      call.failRest(bufferFull(this.#config.bufferBytes))
      return
    }
    this.#waitingRecords += records
    topic.waiting.push(call)
    if (topic.waiting.length === 1) void this.#serveWaiting(topic)
  }

  /** While calls wait for the topic or for room: brings the first ones on, and fails those whose time is over. */
  async #serveWaiting(topic: ProducerTopic): Promise<void> {
    while (topic.waiting.length > 0) {
      const call = topic.waiting[0]
      const leftMs = call.blockedUntilMs - this.#cluster.nowMs
      try {
        if (leftMs <= 0) throw bufferFull(this.#config.bufferBytes)
        const state = await this.#cluster.topic(topic.name, leftMs)
        if (this.#closing.isClosed) return
        const before = call.accepted
        if (state.errorCode === 0) this.#accept(topic, call)
        this.#waitingRecords -= call.accepted - before
        if (call.isAccepted) topic.waiting.shift()
        else await this.#room.next(leftMs)
      } catch (error) {
        if (this.#closing.isClosed) return
        topic.waiting.shift()
        this.#failCall(call, toMillraceError(error))
      }
    }
  }

  #failCall(call: SendCall, error: MillraceError): void {
    this.#waitingRecords -= call.records.length - call.accepted
    call.failRest(error)
    this.#noteEnd(call)
  }

  #batchEnded(batch: ProducerBatch): void {
    if (!this.#batches.delete(batch)) return
    this.#bufferedBytes -= batch.sizeBytes
    batch.builder.reset()
    if (this.#idleBuilders.length < maxIdleBuilders) this.#idleBuilders.push(batch.builder)
    this.#noteEnd(batch)
    this.#room.wake()
  }

  #batchReplaced(batch: ProducerBatch, halves: readonly ProducerBatch[]): void {
    for (const half of halves) {
      this.#batches.add(half)
      this.#bufferedBytes += half.sizeBytes
      for (const { pending } of this.#flushes) if (pending.has(batch)) pending.add(half)
    }
    this.#batchEnded(batch)
  }

  #noteEnd(ended: ProducerBatch | SendCall): void {
    for (const { pending, resolve } of [...this.#flushes]) {
      pending.delete(ended)
      if (pending.size === 0) resolve()
    }
  }
}

/** Records of calls that wait for room. A program that awaits its sends does not come near. */
const maxWaitingRecords = 1_000_000

function tooLarge(topic: string, size: number, limit: number): MillraceError {
  const text = `topic ${topic}: a record of about ${size} bytes is larger than maxRequestBytes, ${limit}`
  return new MillraceError('MESSAGE_TOO_LARGE', text)
}

function bufferFull(bufferBytes: number): MillraceError {
  const text = `records are handed in faster than brokers take them: bufferBytes (${bufferBytes}) is full. Await what send returns, or raise bufferBytes`
  return new MillraceError('BUFFER_FULL', text, { retriable: true })
}
