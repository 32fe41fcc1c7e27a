import { zeroUuid } from '../../../src/base/uuid.ts'
import { Codec } from '../../../src/records/compression/codec.ts'
import { api } from '../../end-to-end/api.ts'
import { batchOf, type Place, produceBody } from '../../end-to-end/requests.ts'
import { createUsableTopic, type Side } from '../side.ts'
import type { Dice } from './dice.ts'

const time = 1_700_000_000_000
const topicCount = 3
const partitionCount = 3

interface Session {
  id: number
  epoch: number
  version: number
}

/** A few topics that grow and are written to, and a client that reads them with sessions of all kinds. */
export class FetchPlay {
  readonly #side: Side
  readonly #dice: Dice
  readonly #topics: Place[] = []
  #session: Session = { id: 0, epoch: 0, version: 12 }

  constructor(side: Side, dice: Dice) {
    this.#side = side
    this.#dice = dice
  }

  async run(steps: number): Promise<void> {
    for (let index = 0; index < topicCount; index++) this.#topics.push(await this.#create(index))
    for (let step = 0; step < steps; step++) {
      const action = this.#dice.weighted({ produce: 6, fetch: 12, cut: 0.7, grow: 0.3 })
      const label = `step ${step}, ${action}`
      if (action === 'produce') await this.#produce(label)
      else if (action === 'fetch') await this.#fetch(label)
      else if (action === 'cut') await this.#cut(label)
      else await this.#grow(label)
    }
  }

  #create(index: number): Promise<Required<Place>> {
    return createUsableTopic(this.#side.client, this.#side.named(`topic-${index}`), { partitions: partitionCount })
  }

  async #produce(label: string): Promise<void> {
    const dice = this.#dice
    const place = { ...dice.of(this.#topics), partition: dice.from(0, partitionCount - 1) }
    const values = Array.from({ length: dice.from(1, 4) }, () => 'x'.repeat(dice.from(0, 60)))
    const batch = batchOf(values, { timestamp: time, codec: dice.of([Codec.none, Codec.none, Codec.gzip]) })
    await this.#side.ask(label, api.produce, 9, produceBody(place, batch))
  }

  async #cut(label: string): Promise<void> {
    const { topic } = this.#dice.of(this.#topics)
    const partitions = [{ partitionIndex: this.#dice.from(0, partitionCount - 1), offset: this.#dice.from(0, 8) }]
    await this.#side.ask(label, api.deleteRecords, 2, { topics: [{ name: topic, partitions }], timeoutMs: 5000 })
  }

  async #grow(label: string): Promise<void> {
    const { topic } = this.#dice.of(this.#topics)
    const count = this.#dice.from(3, 5)
    const answer = await this.#side.ask(label, api.createPartitions, 3, {
      topics: [{ name: topic, count, assignments: null }],
      timeoutMs: 5000,
      validateOnly: false,
    })
    if (answer?.results[0].errorCode !== 0) return
    for (let index = partitionCount; index < count; index++) await untilThere(this.#side, topic, index)
  }

  async #fetch(label: string): Promise<void> {
    const dice = this.#dice
    const session = this.#session
    const kind = dice.weighted({ next: 10, open: 2, close: 0.5, none: 2, wrong: 0.7 })
    let { id, epoch, version } = session
    if (kind === 'open' || kind === 'none') version = dice.from(7, 18)
    if (kind === 'open') {
      id = dice.chance(0.7) ? id : 0
      epoch = 0
    } else if (kind === 'none') {
      id = 0
      epoch = -1
    } else if (kind === 'close') epoch = -1
    else if (kind === 'wrong') {
      if (dice.chance(0.5)) epoch += dice.of([1, -1, 7])
      else version = session.version >= 13 ? dice.from(7, 12) : dice.from(13, 18)
    }
    const isWhole = epoch === 0 || epoch === -1
    const asked = this.#places(version, isWhole ? dice.from(0, 6) : dice.from(0, 2))
    const body = {
      ...{ maxWaitMs: 0, minBytes: 1, isolationLevel: dice.of([0, 0, 1]), sessionId: id, sessionEpoch: epoch },
      maxBytes: dice.of([50_000_000, 50_000_000, 500, 200, 80]),
      topics: asked.map(({ place, partition }) => ({
        ...(version >= 13 ? { topicId: place.topicId ?? zeroUuid } : { topic: place.topic }),
        partitions: [
          {
            partition,
            fetchOffset: dice.from(0, 12),
            partitionMaxBytes: dice.of([1_000_000, 1_000_000, 200, 1]),
            currentLeaderEpoch: version >= 9 ? dice.of([-1, -1, -1, 0, 1]) : -1,
            ...(version >= 12 ? { lastFetchedEpoch: dice.of([-1, -1, -1, 0, 1]) } : {}),
          },
        ],
      })),
      forgottenTopicsData: isWhole
        ? []
        : this.#places(version, dice.of([0, 0, 1])).map(({ place, partition }) => ({
            ...(version >= 13 ? { topicId: place.topicId ?? zeroUuid } : { topic: place.topic }),
            partitions: [partition],
          })),
    }
    const what = `${label} ${kind} v${version} ${id === 0 ? 'without' : 'with'} session at ${epoch}: ${asked.map(({ place, partition }) => `${this.#topics.indexOf(place)}/${partition}`)}`
    const answer = await this.#side.ask(what, api.fetch, version, body)
    if (answer === undefined || kind === 'none') return
    if (kind === 'open') this.#session = { id: answer.sessionId, epoch: 1, version }
    else if (kind === 'close') this.#session = { id: 0, epoch: 0, version }
    else if (answer.errorCode === 0 && answer.sessionId === session.id) session.epoch++
  }

  /** Each once: what is asked for twice is answered otherwise on purpose. */
  #places(version: number, count: number): { place: Place; partition: number }[] {
    const seen = new Map<string, { place: Place; partition: number }>()
    for (let i = 0; i < count; i++) {
      const place = this.#dice.of(this.#topics)
      const partition = this.#dice.from(0, partitionCount)
      seen.set(`${version >= 13 ? place.topicId : place.topic}/${partition}`, { place, partition })
    }
    return [...seen.values()]
  }
}

/** Kafka answers before its brokers have the partitions. */
async function untilThere({ client, name }: Side, topic: string, partitionIndex: number): Promise<void> {
  const partitions = [{ partitionIndex, timestamp: -1n }]
  for (let tries = 0; tries < 200; tries++) {
    const { topics } = await client.call(api.listOffsets, 7, { replicaId: -1, topics: [{ name: topic, partitions }] })
    if (topics[0].partitions[0].errorCode === 0) return
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  throw new Error(`${name}: ${topic} has no partition ${partitionIndex}`)
}
