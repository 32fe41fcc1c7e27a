import assert from 'node:assert/strict'
import { BatchBuilder } from '../../../src/records/builder.ts'
import type { RecordHeader } from '../../../src/records/record.ts'
import { RawClient } from '../../end-to-end/raw-client.ts'
import { type Place, produce } from '../../end-to-end/requests.ts'
import { createUsableTopic, newProducerId } from '../side.ts'
import { untilLed } from './until-led.ts'
import { writeTxnMarkers } from './write-txn-markers.ts'

export interface NewRecord {
  readonly timestamp: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers?: readonly RecordHeader[]
}

/** An idempotent or transactional producer, as one partition knows it. */
export interface Producer {
  readonly id: number
  epoch: number
  nextSequence: number
  /** None: idempotent only. */
  readonly transactionalId: string | null
}

interface TopicOptions {
  readonly port: number
  readonly topic: string
  readonly configs: Readonly<Record<string, string>>
}

export interface AppendOptions {
  /** Kafka's number. */
  readonly codec?: number
  readonly producer?: Producer | undefined
}

/**
 * Has a broker write one partition batch by batch, as the caller wants them: producers' batches are laid out by their
 * clients, so it is the only way to have batches of every shape. Markers are asked for as a transaction coordinator does.
 */
export class LogWriter implements Disposable {
  readonly #client: RawClient
  readonly #place: Place
  readonly #builder = new BatchBuilder()

  static async create({ port, topic, configs }: TopicOptions): Promise<LogWriter> {
    const client = await RawClient.connect({ port })
    return new LogWriter(client, await createUsableTopic(client, topic, { configs }))
  }

  /** The topic is there already. */
  static async open({ port, topic }: Omit<TopicOptions, 'configs'>): Promise<LogWriter> {
    const client = await RawClient.connect({ port })
    await untilLed(client, topic)
    return new LogWriter(client, { topic })
  }

  private constructor(client: RawClient, place: Place) {
    this.#client = client
    this.#place = place
  }

  get topic(): string {
    return this.#place.topic
  }

  async newProducer({ transactional }: { readonly transactional: boolean }): Promise<Producer> {
    const id = await newProducerId(this.#client)
    return { id, epoch: 0, nextSequence: 0, transactionalId: transactional ? `${this.topic}-${id}` : null }
  }

  /** One batch; answers its base offset. */
  async append(records: readonly NewRecord[], { codec = 0, producer }: AppendOptions = {}): Promise<number> {
    this.#builder.reset()
    for (const { timestamp, key, value, headers } of records) this.#builder.append(timestamp, key, value, headers)
    const idempotent = producer && {
      producerId: producer.id,
      producerEpoch: producer.epoch,
      baseSequence: producer.nextSequence,
      isTransactional: producer.transactionalId !== null,
    }
    const bytes = Buffer.from(this.#builder.finish({ codec, ...idempotent }))
    const options = { version: 11, transactionalId: producer?.transactionalId ?? null }
    const { errorCode, baseOffset, errorMessage } = await produce(this.#client, this.#place, bytes, options)
    assert.equal(errorCode, 0, `${this.topic}: ${errorMessage}`)
    if (producer !== undefined) producer.nextSequence += records.length
    return baseOffset
  }

  /** Ends the producer's transaction with a marker. */
  async end({ id, epoch }: Producer, { commit }: { readonly commit: boolean }): Promise<void> {
    const topics = [{ name: this.topic, partitionIndexes: [this.#place.partition ?? 0] }]
    const marker = { producerId: id, producerEpoch: epoch, transactionResult: commit, topics, coordinatorEpoch: 0 }
    const { markers } = await this.#client.call(writeTxnMarkers, 1, { markers: [marker] })
    assert.equal(markers[0]!.topics[0]!.partitions[0]!.errorCode, 0)
  }

  [Symbol.dispose](): void {
    this.#client.close()
  }
}
