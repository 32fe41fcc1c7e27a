import assert from 'node:assert/strict'
import { zeroUuid } from '../base/uuid.ts'
import { loadConfig } from '../config/load-config.ts'
import { createTopicsRequest, createTopicsResponse } from '../protocol/messages/create-topics.ts'
import { deleteTopicsRequest, deleteTopicsResponse } from '../protocol/messages/delete-topics.ts'
import { fetchRequest, fetchResponse } from '../protocol/messages/fetch.ts'
import { produceRequest, produceResponse } from '../protocol/messages/produce.ts'
import type { Fields, Infer, Input, Message } from '../protocol/schema.ts'
import { BatchBuilder } from '../records/builder.ts'
import type { SimulatedNode } from '../simulator/io/simulated-node.ts'
import { World } from '../simulator/io/world.ts'
import { type Api, WireConnection } from '../simulator/wire/wire-connection.ts'
import { Broker } from './broker.ts'

const answerTimeoutMs = 20_000

export interface BrokerHostOptions {
  readonly seed?: number
  readonly overrides?: readonly string[]
  readonly logDirs?: readonly string[]
}

/** A simulated host on which the real broker is started, killed and started again, and a client that asks it things. */
export class BrokerHost {
  readonly world: World
  readonly node: SimulatedNode
  readonly #clientNode: SimulatedNode
  readonly #clientIo: ReturnType<SimulatedNode['start']>
  readonly #overrides: readonly string[]
  /** From the next start on. */
  logDirs: readonly string[]
  broker!: Broker
  /** Why the broker has stopped itself, if it has. */
  failure: Error | undefined
  #connection: WireConnection | undefined

  constructor({ seed = 1, overrides = [], logDirs = ['/data'] }: BrokerHostOptions = {}) {
    this.world = new World({ seed })
    this.node = this.world.addNode('broker')
    this.#clientNode = this.world.addNode('client')
    this.#clientIo = this.#clientNode.start()
    this.logDirs = logDirs
    this.#overrides = ['listeners=PLAINTEXT://broker:9092', ...overrides]
  }

  /** Starts a process. Rejects with `StartError`. */
  async start({
    bootId,
    reserveBytes,
  }: {
    readonly bootId?: string
    readonly reserveBytes?: number
  } = {}): Promise<Broker> {
    const loaded = loadConfig({
      overrides: [`log.dirs=${this.logDirs.join(',')}`, ...this.#overrides],
      environment: {},
    })
    assert.ok(loaded.type === 'loaded')
    this.failure = undefined
    this.broker = await Broker.start({
      io: this.node.start(),
      loaded,
      hostName: 'broker',
      formatsEmptyDirectories: true,
      bootId,
      reserveBytes,
      failed: reason => {
        this.failure = reason
      },
    })
    return this.broker
  }

  /** Ends the process; what its disk has kept stays. */
  crash(kind: 'kill' | 'power'): void {
    this.#connection = undefined
    this.node.crash(kind)
  }

  async close(): Promise<void> {
    await this.broker.close()
    this.crash('kill')
  }

  /** Asks the broker in the newest version that is served, unless another is given. Rejects when there is no answer. */
  async ask<Q extends Fields, R extends Fields>(
    api: Api<Q, R>,
    body: Input<Message<Q>>,
    version = api.request.maxVersion,
  ): Promise<Infer<Message<R>>> {
    if (this.#connection?.isOpen !== true) {
      this.#connection = await WireConnection.open(this.#clientIo, {
        endpoint: { host: 'broker', port: 9092 },
        connectTimeoutMs: 3000,
        clientId: 'client',
        firstCorrelationId: 0,
        complain: text => assert.fail(text),
      })
    }
    const result = await this.#connection.request(api, version, body, { timeoutMs: answerTimeoutMs })
    assert.ok(result.type === 'answered', result.type === 'lost' ? result.reason : '')
    return result.answer
  }

  async createTopic(name: string, numPartitions = 1, configs: Record<string, string> = {}): Promise<void> {
    const { topics } = await this.ask(createTopicsApi, {
      topics: [
        {
          name,
          numPartitions,
          replicationFactor: 1,
          assignments: [],
          configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
        },
      ],
      timeoutMs: 5000,
      validateOnly: false,
    })
    assert.equal(topics[0].errorCode, 0)
  }

  async deleteTopic(name: string): Promise<void> {
    const { responses } = await this.ask(deleteTopicsApi, { topics: [{ name, topicId: zeroUuid }], timeoutMs: 5000 }, 6)
    assert.equal(responses[0].errorCode, 0)
  }

  /** What one record was answered with. */
  async produce(topic: string, index = 0): Promise<{ readonly errorCode: number; readonly baseOffset: number }> {
    const { responses } = await this.ask(
      produceApi,
      {
        transactionalId: null,
        acks: -1,
        timeoutMs: 5000,
        topicData: [{ name: topic, partitionData: [{ index, records: oneRecord() }] }],
      },
      9,
    )
    return responses[0].partitionResponses[0]
  }

  /** What a fetch of one partition, in a version with topic names, was answered with. */
  async fetch(topic: string, index = 0, partition: Partial<FetchedPartition> = {}) {
    const body = {
      maxWaitMs: 0,
      minBytes: 0,
      maxBytes: 1 << 20,
      sessionEpoch: -1,
      topics: [{ topic, partitions: [{ partition: index, fetchOffset: 0, partitionMaxBytes: 1 << 20, ...partition }] }],
      forgottenTopicsData: [],
    }
    const { responses } = await this.ask(fetchApi, body, 12)
    return responses[0].partitions[0]
  }

  /** Lines of the broker's log that contain this. */
  linesWith(text: string): string[] {
    return this.world.log.lines.map(({ message }) => message).filter(message => message.includes(text))
  }
}

interface FetchedPartition {
  readonly fetchOffset: number
  readonly lastFetchedEpoch: number
  readonly currentLeaderEpoch: number
}

const createTopicsApi = { request: createTopicsRequest, response: createTopicsResponse }
const deleteTopicsApi = { request: deleteTopicsRequest, response: deleteTopicsResponse }
const produceApi = { request: produceRequest, response: produceResponse }
const fetchApi = { request: fetchRequest, response: fetchResponse }

function oneRecord(): Buffer {
  const builder = new BatchBuilder()
  builder.append(1000, Buffer.from('key'), Buffer.from('value'))
  return Buffer.from(builder.finish({}))
}

/** Runs the body on a host whose world moves until it is done. */
export function onBrokerHost(options: BrokerHostOptions, body: (host: BrokerHost) => Promise<void>): Promise<void> {
  const host = new BrokerHost(options)
  return host.world.finish(body(host))
}
