import type { Fields, Infer, Input, Message } from '../../src/protocol/schema.ts'
import { api } from '../end-to-end/api.ts'
import { type Call, RawClient } from '../end-to-end/raw-client.ts'
import { createTopic, type Place } from '../end-to-end/requests.ts'
import { untilCoordinated } from '../end-to-end/typical-requests.ts'
import { Normalizer, type Plain } from './normalize.ts'

export interface Told {
  readonly label: string
  readonly answer: Plain
}

interface OpenOptions {
  readonly name: string
  readonly port: number
  readonly prefix: string
  readonly wording: boolean
}

/** One of the two brokers, and what it answered to the requests of one scenario. */
export class Side {
  readonly name: string
  readonly port: number
  /** Stands in front of every name that a scenario uses, so that scenarios do not meet. */
  readonly prefix: string
  readonly told: Told[] = []
  client: RawClient
  readonly #normalizer: Normalizer
  readonly #clients: RawClient[] = []

  static async open({ name, port, prefix, wording }: OpenOptions): Promise<Side> {
    const client = await RawClient.connect({ port })
    const { clusterId, brokers } = await client.call(api.metadata, 12, { topics: [] })
    const normalizer = new Normalizer({ prefix, clusterId: clusterId ?? '', host: brokers[0].host, port, wording })
    return new Side(name, port, prefix, client, normalizer)
  }

  private constructor(name: string, port: number, prefix: string, client: RawClient, normalizer: Normalizer) {
    this.name = name
    this.port = port
    this.prefix = prefix
    this.client = client
    this.#normalizer = normalizer
    this.#clients.push(client)
  }

  /** A name of a topic, group or client that nobody else uses. */
  named(name: string): string {
    return `${this.prefix}${name}`
  }

  async anotherClient(clientId?: string): Promise<RawClient> {
    const client = await RawClient.connect({ port: this.port, clientId })
    this.#clients.push(client)
    return client
  }

  async createTopic(name: string, options: TopicOptions = {}): Promise<Required<Place>> {
    return await createUsableTopic(this.client, this.named(name), options)
  }

  /** Asks, and remembers the answer under the label. The end of the connection is an answer too. */
  async ask<Q extends Fields, A extends Fields>(
    label: string,
    call: Call<Q, A>,
    version: number,
    body: Input<Message<Q>>,
    client = this.client,
  ): Promise<Infer<Message<A>> | undefined> {
    const correlationId = client.send(call.request, version, body)
    return await this.hear(label, call.response, version, correlationId, client)
  }

  /** Waits for the answer to a request that was sent before. */
  async hear<A extends Fields>(
    label: string,
    response: Message<A>,
    version: number,
    correlationId: number,
    client = this.client,
  ): Promise<Infer<Message<A>> | undefined> {
    try {
      const answer = await client.answer(response, version, correlationId)
      this.tell(label, answer)
      return answer
    } catch (error) {
      if (!client.isClosed) throw new Error(`${this.name}, ${label}`, { cause: error })
      this.tell(label, 'CLOSED')
      if (client === this.client) this.client = await this.anotherClient()
      return undefined
    }
  }

  tell(label: string, answer: unknown): void {
    this.told.push({ label, answer: this.#normalizer.plain(answer) })
  }

  close(): void {
    for (const client of this.#clients) client.close()
  }
}

type TopicOptions = Parameters<typeof createTopic>[2]

/** Kafka says that a topic is there before its partitions have leaders. */
export async function createUsableTopic(client: RawClient, name: string, options: TopicOptions = {}) {
  const place = await createTopic(client, name, options)
  const partitions = Array.from({ length: options.partitions ?? 1 }, (_, partitionIndex) => {
    return { partitionIndex, timestamp: -1n }
  })
  for (let tries = 0; tries < 200; tries++) {
    const { topics } = await client.call(api.listOffsets, 7, { replicaId: -1, topics: [{ name, partitions }] })
    if (topics[0].partitions.every(partition => partition.errorCode === 0)) return place
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  throw new Error(`${name} has no leaders`)
}

/** Kafka has none to give until it has asked its controller for some, and creates the groups' topic when it is asked for one. */
export async function untilReady(client: RawClient): Promise<void> {
  await untilCoordinated(client, 'anybody')
  await newProducerId(client)
}

export async function newProducerId(client: RawClient): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await client.call(api.initProducerId, 4, { transactionalId: null, transactionTimeoutMs: 1 })
    if (answer.errorCode === 0) return answer.producerId
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  throw new Error('no producer id')
}
