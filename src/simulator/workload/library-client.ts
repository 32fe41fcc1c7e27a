import { Client } from '../../client/client.ts'
import type { ConsumedBatch } from '../../client/consumer/consumed-batch.ts'
import type { Consumer } from '../../client/consumer/consumer.ts'
import { MillraceError } from '../../client/millrace-error.ts'
import type { Compression } from '../../client/producer/producer-options.ts'
import type { Endpoint } from '../../io/network.ts'
import { seenRecord } from '../wire/seen-records.ts'
import { type RecordShape, UniqueRecords } from './unique-records.ts'
import { think, type Workplace } from './workplace.ts'

/** What our own client promises of each call, beside its timeout. */
const graceMs = 1000

export interface LibraryOptions {
  readonly endpoint: Endpoint
  readonly shape: RecordShape
  readonly thinkMs: number
}

function clientOf(at: Workplace, { endpoint }: LibraryOptions): Client {
  const servers = `${endpoint.host}:${endpoint.port}`
  const timeouts = { connectTimeoutMs: 3000, requestTimeoutMs: 5000, apiTimeoutMs: 10_000 }
  return new Client({ bootstrapServers: servers, clientId: at.process, ...timeouts }, at.client.io)
}

/** Our own producer, as applications use it. */
export async function runLibraryProducer(at: Workplace, options: LibraryOptions): Promise<void> {
  const { random } = at
  const records = new UniqueRecords(at.process, random, options.shape)
  while (!at.isStopping()) {
    await think(at, options.thinkMs)
    const topics = await at.client.topics([random.pick(at.topicNames)])
    const topic = topics?.[0]
    if (topic === undefined) continue
    const client = clientOf(at, options)
    const deliveryTimeoutMs = random.pick([6000, 20_000])
    const compression = random.pick<Compression>(['none', 'gzip', 'snappy', 'lz4', 'zstd'])
    const producer = client.producer({
      compression,
      deliveryTimeoutMs,
      maxBlockMs: 5000,
      requestTimeoutMs: 3000,
      createTopics: false,
    })
    const calls: Promise<void>[] = []
    for (let left = random.between(1, 40); left > 0 && !at.isStopping(); left--) {
      const areKeyed = at.isCompacted(topic.name)
      const [content] = records.draw(at.client.io.clock.now().wallMs, { areKeyed }).content
      const partition = random.below(topic.partitionCount)
      const record = { topic: topic.name, partition, ...content! }
      const sent = { content: content!, topic: topic.name, partition, timeoutMs: deliveryTimeoutMs + 5000 }
      calls.push(send(at, () => producer.send(record), sent))
      if (random.chance(0.5)) await think(at, options.thinkMs)
    }
    await Promise.all(calls)
    await bounded(at, 'producer.close', 5000, () => producer.close({ timeoutMs: 5000 }))
    client.destroy()
  }
}

interface LibrarySend {
  readonly content: Parameters<typeof seenRecord>[0]
  readonly topic: string
  readonly partition: number
  readonly timeoutMs: number
}

async function send(
  at: Workplace,
  act: () => Promise<{ readonly offset: number }>,
  { content, topic, partition, timeoutMs }: LibrarySend,
): Promise<void> {
  const seen = seenRecord(content)
  const call = at.history.begin(at.process, 'send', {
    ...{ topic, topicId: undefined, partition, acks: -1, records: [seen], attempt: 1 },
    // Its sequences are the client's own affair; that there are some says that no value may be there twice.
    producer: { id: -1, epoch: -1, sequence: -1 },
  })
  await bounded(at, 'producer.send', timeoutMs, async () => {
    try {
      const { offset } = await act()
      if (offset < 0) at.history.info(call, 'the offset is not known any more')
      else at.history.ok(call, { baseOffset: offset })
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error
      // Whether an earlier try may have been written is said by the client.
      if (error.outcomeUnknown) at.history.info(call, error.code)
      else at.history.fail(call, error.code)
    }
  })
}

/** Our own consumer without a group: reads one partition from its beginning, in whole. */
export async function runLibraryReader(at: Workplace, options: LibraryOptions): Promise<void> {
  const { random } = at
  while (!at.isStopping()) {
    await think(at, options.thinkMs)
    const topics = await at.client.topics([random.pick(at.topicNames)])
    const topic = topics?.[0]
    if (topic === undefined) continue
    const client = clientOf(at, options)
    const consumer = client.consumer({
      offsetReset: 'earliest',
      maxRecords: random.pick([1, 10, 1000]),
      fetchMaxWaitMs: 100,
    })
    const partition = random.below(topic.partitionCount)
    consumer.assign([{ topic: topic.name, partition, offset: 'earliest' }])
    await new Reading(at, consumer, {}).run(random.between(5, 40))
    await bounded(at, 'consumer.close', 5000, () => consumer.close({ timeoutMs: 5000 }))
    client.destroy()
  }
}

/** Our own consumer in a group, with others of its kind. */
export async function runLibraryMember(
  at: Workplace,
  options: LibraryOptions & { readonly group: string },
): Promise<void> {
  const { random } = at
  while (!at.isStopping()) {
    await think(at, options.thinkMs)
    const client = clientOf(at, options)
    const autoCommit = random.chance(0.5)
    const consumer = client.consumer({
      ...{ groupId: options.group, offsetReset: 'earliest', fetchMaxWaitMs: 100 },
      ...{ autoCommit, autoCommitIntervalMs: 700 },
      ...{ sessionTimeoutMs: 6000, heartbeatIntervalMs: 1000, maxPollIntervalMs: 6000 },
      assignors: random.pick([['cooperative-sticky'], ['range'], ['cooperative-sticky', 'range']] as const),
    })
    consumer.subscribe(at.topicNames)
    await new Reading(at, consumer, { group: options.group, autoCommit }).run(random.between(10, 100))
    if (random.chance(0.8)) await bounded(at, 'consumer.close', 5000, () => consumer.close({ timeoutMs: 5000 }))
    client.destroy()
  }
}

/** What one consumer is handed out, and what it commits. */
class Reading {
  readonly #at: Workplace
  readonly #consumer: Consumer
  readonly #group: string | undefined
  readonly #autoCommits: boolean
  readonly #since: number
  /** By partition: where the last records ended. */
  readonly #ends = new Map<string, number>()

  constructor(at: Workplace, consumer: Consumer, { group, autoCommit }: { group?: string; autoCommit?: boolean }) {
    this.#at = at
    this.#consumer = consumer
    this.#group = group
    this.#autoCommits = autoCommit === true
    this.#since = at.history.length
  }

  async run(polls: number): Promise<void> {
    const at = this.#at
    for (let left = polls; left > 0 && !at.isStopping(); left--) {
      let last: ConsumedBatch | undefined
      await bounded(at, 'consumer.poll', 300, async () => {
        try {
          const batches = await this.#consumer.poll({ timeoutMs: 300 })
          for (const batch of batches) this.#note(batch)
          last = batches.at(-1)
        } catch (error) {
          if (!(error instanceof MillraceError)) throw error
        }
      })
      if (last !== undefined && this.#group !== undefined && at.random.chance(0.2))
        await this.#commit(last, this.#group)
    }
  }

  #note({ topic, partition, records, highWatermark, nextOffset }: ConsumedBatch): void {
    const [first] = records
    if (first === undefined) return
    const { history } = this.#at
    const key = `${topic} ${partition}`
    const end = this.#ends.get(key)
    const call = history.begin(this.#at.process, 'poll', {
      ...{
        topic,
        topicId: undefined,
        partition,
        offset: first.offset,
        since: this.#since,
        isolation: 'readUncommitted',
      },
      // In a group the partition may have been somebody else's meanwhile.
      ...(end !== undefined && this.#group === undefined && { after: end }),
      ...(end === undefined && this.#group !== undefined && { beginsFor: this.#group }),
      ...(this.#autoCommits && this.#group !== undefined && { commitsFor: this.#group }),
    })
    const seen = records.map(record => ({ offset: record.offset, ...seenRecord(record, true) }))
    history.ok(call, { records: seen, highWatermark, lastStableOffset: -1, logStartOffset: -1 })
    this.#ends.set(key, nextOffset)
  }

  async #commit({ topic, partition, nextOffset: offset }: ConsumedBatch, group: string): Promise<void> {
    const { history, process } = this.#at
    const target = { topic, topicId: undefined, partition }
    const nobody = { group, member: '', generation: -1, token: '' }
    const call = history.begin(process, 'commit', { ...nobody, ...target, offset, since: this.#since })
    await bounded(this.#at, 'consumer.commit', 10_000, async () => {
      try {
        await this.#consumer.commit([{ topic, partition, offset }])
        history.ok(call, {})
      } catch (error) {
        if (!(error instanceof MillraceError)) throw error
        history.info(call, error.code)
      }
    })
  }
}

/** Every call of the client ends by its timeout, whatever becomes of the broker (I66). */
async function bounded(at: Workplace, what: string, timeoutMs: number, act: () => Promise<void>): Promise<void> {
  const call = at.history.begin(at.process, 'clientCall', { what, timeoutMs })
  const alarm = at.client.io.clock.after(timeoutMs + graceMs, () =>
    at.complain('I66', `${what} has not ended after ${timeoutMs} ms`),
  )
  await act()
  alarm.cancel()
  at.history.ok(call, {})
}
