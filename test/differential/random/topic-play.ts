import { zeroUuid } from '../../../src/base/uuid.ts'
import type { Fields, Infer, Input, Message } from '../../../src/protocol/schema.ts'
import { api } from '../../end-to-end/api.ts'
import type { Call } from '../../end-to-end/raw-client.ts'
import type { Side } from '../side.ts'
import type { Dice } from './dice.ts'

const unknownId = 'AAECAwQFBgcICQoLDA0ODw'
const ownNames = ['a', 'a.b', 'a_b', 'c', 'd']
const otherNames = ['', '.', 'a b', '__cluster_metadata', 'x'.repeat(250)]
/** Kafka answers before the change is in its metadata. */
const settledMs = 700

/** Topics that are made, grown and deleted, by names and ids, well and badly. */
export class TopicPlay {
  readonly #side: Side
  readonly #dice: Dice
  /** Of topics that are, and that were. */
  readonly #ids = new Map<string, string>()

  constructor(side: Side, dice: Dice) {
    this.#side = side
    this.#dice = dice
  }

  async run(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      const action = this.#dice.weighted({ create: 6, delete: 3, grow: 3, metadata: 5, pages: 3 })
      const label = `step ${step}, ${action}`
      if (action === 'create') await this.#create(label)
      else if (action === 'delete') await this.#delete(label)
      else if (action === 'grow') await this.#grow(label)
      else if (action === 'metadata') await this.#metadata(label)
      else await this.#pages(label)
    }
  }

  /** Kafka keeps in hash tables what it answers. */
  async #ask<Q extends Fields, A extends Fields>(
    label: string,
    call: Call<Q, A>,
    version: number,
    body: Input<Message<Q>>,
  ): Promise<Infer<Message<A>>> {
    const answer = await this.#side.client.call(call, version, body)
    const sorted = Object.entries(answer).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.toSorted(byName) : value,
    ])
    const asked = JSON.stringify(body)
      .replaceAll(this.#side.prefix, '')
      .replaceAll(/"[\w-]{22}"/g, '"…"')
    this.#side.tell(`${label} ${asked}`, Object.fromEntries(sorted))
    return answer
  }

  #name(): string {
    return this.#dice.chance(0.93) ? this.#side.named(this.#dice.of(ownNames)) : this.#dice.of(otherNames)
  }

  #names(most: number): string[] {
    return Array.from({ length: this.#dice.from(1, most) }, () => this.#name())
  }

  #settled(): Promise<void> {
    return new Promise(resolve => setTimeout(resolve, settledMs))
  }

  #assignments(most: number): number[][] {
    return Array.from({ length: this.#dice.from(0, most) }, () =>
      this.#dice.of([[1], [1], [1], [], [1, 1], [2], [1, 2]]),
    )
  }

  async #create(label: string): Promise<void> {
    const dice = this.#dice
    const topics = this.#names(3).map(name => {
      const assignments = dice.chance(0.25) ? this.#assignments(3) : []
      const isByHand = assignments.length > 0 && dice.chance(0.8)
      return {
        name,
        numPartitions: isByHand ? -1 : dice.of([1, 2, 3, -1, 0, -2, 20_000]),
        replicationFactor: isByHand ? -1 : dice.of([1, 1, 1, -1, 0, 2]),
        assignments: assignments.map((brokerIds, index) => ({
          partitionIndex: dice.chance(0.9) ? index : dice.from(0, 3),
          brokerIds,
        })),
        configs: dice.chance(0.2)
          ? [{ name: dice.of(['retention.ms', 'nothing']), value: dice.of(['5', 'x', null]) }]
          : [],
      }
    })
    const answer = await this.#ask(label, api.createTopics, dice.from(2, 7), { topics, validateOnly: dice.chance(0.2) })
    for (const { name, topicId } of answer.topics) if (topicId !== zeroUuid) this.#ids.set(name, topicId)
    await this.#settled()
  }

  async #delete(label: string): Promise<void> {
    const dice = this.#dice
    const version = dice.from(1, 6)
    const names = this.#names(2)
    const topics = names.map(name => {
      const id = dice.chance(0.9) ? (this.#ids.get(name) ?? unknownId) : zeroUuid
      return dice.of([
        { name, topicId: zeroUuid },
        { name: null, topicId: id },
        { name: null, topicId: id },
        { name, topicId: id },
      ])
    })
    const named = version >= 6 ? { topics } : { topicNames: names }
    await this.#ask(label, api.deleteTopics, version, { ...named, timeoutMs: 5000 })
    await this.#settled()
  }

  async #grow(label: string): Promise<void> {
    const dice = this.#dice
    const topics = this.#names(2).map(name => ({
      name,
      count: dice.of([0, -1, 1, 2, 3, 4, 5, 20_000]),
      assignments: dice.chance(0.3) ? this.#assignments(3).map(brokerIds => ({ brokerIds })) : null,
    }))
    const body = { topics, timeoutMs: 5000, validateOnly: dice.chance(0.3) }
    await this.#ask(label, api.createPartitions, dice.from(0, 3), body)
    await this.#settled()
  }

  async #metadata(label: string): Promise<void> {
    const dice = this.#dice
    const version = dice.from(4, 13)
    const byId = version >= 12 && dice.chance(0.4)
    const topics = this.#names(3).map(name =>
      byId ? { name: null, topicId: this.#ids.get(name) ?? unknownId } : { name },
    )
    await this.#ask(label, api.metadata, version, { topics, allowAutoTopicCreation: false })
  }

  async #pages(label: string): Promise<void> {
    const dice = this.#dice
    const names = Array.from({ length: dice.from(1, 4) }, () => this.#side.named(dice.of(ownNames)))
    const cursor = { topicName: dice.of(names), partitionIndex: dice.from(0, 4) }
    await this.#ask(label, api.describeTopicPartitions, 0, {
      topics: names.map(name => ({ name })),
      responsePartitionLimit: dice.of([1, 2, 3, 2000]),
      cursor: dice.chance(0.4) ? cursor : null,
    })
  }
}

function byName(one: object, other: object): number {
  return nameOf(one) < nameOf(other) ? -1 : 1
}

function nameOf(one: { readonly name?: string | null; readonly errorCode?: number }): string {
  return `${one.name} ${one.errorCode}`
}
