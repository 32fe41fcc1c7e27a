import assert from 'node:assert/strict'
import type { Random } from '../../../src/base/random.ts'
import { SeededRandom } from '../../../src/records/seeded-random.ts'
import type { BrokerProcess } from '../../compatibility/broker-process.ts'
import { drive } from '../../compatibility/driver-process.ts'
import { fromJava } from '../../compatibility/install.ts'
import { api } from '../../end-to-end/api.ts'
import { RawClient } from '../../end-to-end/raw-client.ts'
import { untilReady } from '../side.ts'
import { portOf } from './cleaning.ts'
import { firstUncleanableOffset } from './first-uncleanable.ts'
import { LogGenerator } from './generate.ts'
import { LogWriter } from './log-writer.ts'
import { type Shape, shapesOf } from './shapes.ts'
import type { StoredLog } from './stored-log.ts'

const configs = {
  'cleanup.policy': 'compact',
  'segment.ms': '600000',
  'min.cleanable.dirty.ratio': '0',
  'delete.retention.ms': '86400000',
  'file.delete.delay.ms': '100',
  'message.timestamp.after.max.ms': String(Number.MAX_SAFE_INTEGER),
  'retention.ms': '-1',
}
const hourMs = 3_600_000
/** Written by Kafka's own client and coordinators, with the machine's time. */
const coordinatedTopic = 'coordinated'
const internalTopics = ['__consumer_offsets', '__transaction_state']
const wallClockSegmentMs = 150
const segmentsOfCommits = 4
const commitsPerSegment = 60

/** The logs of one run, of every shape, and what was set for them. */
export class LogSet {
  readonly #generators: readonly (readonly [Shape, LogGenerator])[]
  readonly #random: Random
  readonly #isWhole: boolean
  #rounds = 0

  constructor({ seed, variant, only }: { readonly seed: number; readonly variant: number; readonly only: RegExp }) {
    const nowMs = Date.now()
    this.#generators = shapesOf(variant).flatMap((shape, index) => {
      // Drawn for itself, so that a log is the same whichever others are made.
      const random = new SeededRandom(seed * 1000 + index)
      const firstMs = shape.ageMs > 0 ? nowMs - shape.ageMs : nowMs + hourMs
      return only.test(shape.topic) ? [[shape, new LogGenerator(shape, random, firstMs)] as const] : []
    })
    this.#random = new SeededRandom(seed)
    this.#isWhole = only.source === '(?:)'
  }

  /** Where the passes over a log as it is now will end; undefined when it is not to be cleaned. */
  firstUncleanableOffset(log: string, { batches, segments }: StoredLog): number | undefined {
    if (log.startsWith('__share_group_state')) return undefined
    const set = this.#configsOf(log)
    if (set['min.cleanable.dirty.ratio'] === '1' && set['max.compaction.lag.ms'] === undefined) return undefined
    const lagMs = set['min.compaction.lag.ms']
    const youngFromMs = lagMs === undefined ? undefined : Date.now() - Number(lagMs)
    return firstUncleanableOffset(batches, segments, youngFromMs)
  }

  /** `delete.retention.ms` of a log. */
  deleteRetentionMs(log: string): number {
    return Number(this.#configsOf(log)['delete.retention.ms'])
  }

  /** Logs whose offsets are to be moved apart, before they are cleaned for the first time. */
  get farApart(): string[] {
    if (this.#rounds > 1) return []
    return this.#generators.filter(([{ isFarApart }]) => isFarApart).map(([{ topic }]) => `${topic}-0`)
  }

  #configsOf(log: string): Readonly<Record<string, string>> {
    const topic = log.replace(/-\d+$/, '')
    const shape = this.#generators.find(([one]) => one.topic === topic)?.[0]
    return { ...configs, ...shape?.configs, ...(this.#rounds > 1 ? shape?.inSecondRound : {}) }
  }

  /** Another round of every log. */
  async write(broker: BrokerProcess): Promise<void> {
    const port = portOf(broker)
    const isFirst = this.#rounds++ === 0
    using client = await RawClient.connect({ port })
    if (isFirst) await untilReady(client)
    else await this.#setPolicies(client, 'delete')
    for (const [shape, generator] of this.#generators) {
      const options = { port, topic: shape.topic, configs: { ...configs, ...shape.configs } }
      using writer = isFirst ? await LogWriter.create(options) : await LogWriter.open(options)
      if (!isFirst && Object.keys(shape.inSecondRound).length > 0)
        await setConfigs(client, shape.topic, shape.inSecondRound)
      if (!isFirst) await generator.endTransactions(writer)
      await generator.writeRound(writer)
    }
    await this.#setPolicies(client, 'compact')
    if (this.#isWhole) await this.#writeCoordinated(broker, client, isFirst)
  }

  /** A compacted topic takes no record without a key. */
  async #setPolicies(client: RawClient, policy: string): Promise<void> {
    for (const [{ topic, keyless }] of this.#generators) {
      if (keyless > 0) await setConfigs(client, topic, { 'cleanup.policy': policy })
    }
  }

  /** What coordinators write themselves: offsets of groups with some deleted again, and transactions. */
  async #writeCoordinated(broker: BrokerProcess, client: RawClient, isFirst: boolean): Promise<void> {
    const shortSegments = { ...configs, 'segment.ms': String(wallClockSegmentMs) }
    if (isFirst) {
      using _ = await LogWriter.create({ port: portOf(broker), topic: coordinatedTopic, configs: shortSegments })
    }
    const java = await fromJava('java')
    for (const commit of [true, false, true]) {
      const job = {
        topic: coordinatedTopic,
        codec: 'lz4',
        idempotent: true,
        prefix: 'p',
        first: 0,
        count: 25,
        valueBytes: 80,
      }
      await drive(java, 'transact', broker.bootstrap, { id: 'writer', commit, jobs: [job] })
      for (const topic of internalTopics) await setConfigs(client, topic, shortSegments)
    }
    for (let segment = 0; segment < segmentsOfCommits; segment++) {
      for (let index = 0; index < commitsPerSegment; index++) await this.#commit(client)
      await new Promise(resolve => setTimeout(resolve, wallClockSegmentMs * 1.5))
    }
  }

  async #commit(client: RawClient): Promise<void> {
    const groupId = `group-${this.#random.below(8)}`
    const name = coordinatedTopic
    if (this.#random.below(10) === 0) {
      await client.call(api.offsetDelete, 0, { groupId, topics: [{ name, partitions: [{ partitionIndex: 0 }] }] })
      return
    }
    const partitions = [{ partitionIndex: 0, committedOffset: this.#random.below(50) }]
    const body = {
      groupId,
      topics: [{ name, partitions: partitions.map(one => ({ ...one, committedMetadata: 'm' })) }],
    }
    const answer = await client.call(api.offsetCommit, 9, { memberId: '', ...body })
    assert.equal(answer.topics[0]!.partitions[0]!.errorCode, 0)
  }
}

async function setConfigs(client: RawClient, topic: string, values: Readonly<Record<string, string>>): Promise<void> {
  const entries = Object.entries(values).map(([name, value]) => ({ name, configOperation: 0, value }))
  const resources = [{ resourceType: 2, resourceName: topic, configs: entries }]
  const { responses } = await client.call(api.incrementalAlterConfigs, 1, { resources, validateOnly: false })
  assert.equal(responses[0]!.errorCode, 0, String(responses[0]!.errorMessage))
}
