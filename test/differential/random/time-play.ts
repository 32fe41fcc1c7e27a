import { BatchBuilder } from '../../../src/records/builder.ts'
import { Codec } from '../../../src/records/compression/codec.ts'
import { api } from '../../end-to-end/api.ts'
import { type Place, produceBody } from '../../end-to-end/requests.ts'
import { createUsableTopic, type Side } from '../side.ts'
import type { Dice } from './dice.ts'

const time = 1_700_000_000_000

/** One log with times in no order, and questions for times and offsets in it. */
export class TimePlay {
  readonly #side: Side
  readonly #dice: Dice
  /** Kafka does not find times behind a cut through a batch with LogAppendTime. */
  readonly #cuts: boolean

  constructor(side: Side, dice: Dice) {
    this.#side = side
    this.#dice = dice
    this.#cuts = dice.chance(0.5)
  }

  async run(steps: number): Promise<void> {
    const dice = this.#dice
    const configs: Record<string, string> = {
      'message.timestamp.type': this.#cuts ? 'CreateTime' : dice.of(['CreateTime', 'LogAppendTime']),
      'segment.bytes': '1048576',
      'index.interval.bytes': dice.of(['0', '100', '4096']),
      'compression.type': dice.of(['producer', 'producer', 'gzip', 'uncompressed']),
      'cleanup.policy': dice.of(['delete', 'delete', 'compact', 'compact,delete']),
      'retention.ms': '-1',
    }
    this.#side.tell('settings', configs)
    const place = await createUsableTopic(this.#side.client, this.#side.named('log'), { configs })
    for (let step = 0; step < steps; step++) {
      const action = dice.weighted({ produce: 6, list: 10, cut: this.#cuts ? 0.5 : 0, epoch: 0.5, config: 0.4 })
      const label = `step ${step}, ${action}`
      if (action === 'produce') await this.#produce(label, place)
      else if (action === 'list') await this.#list(label, place)
      else if (action === 'epoch') await this.#epoch(label, place)
      else if (action === 'config') await this.#config(label, place)
      else await this.#cut(label, place)
    }
  }

  async #produce(label: string, place: Place): Promise<void> {
    const dice = this.#dice
    const builder = new BatchBuilder()
    const count = dice.from(1, 5)
    const step = dice.of([1, 1, 20])
    const times: number[] = []
    for (let i = 0; i < count; i++) {
      const at = dice.chance(0.05) ? -1 : time + step * dice.from(0, 30)
      times.push(at - time)
      const size = dice.chance(0.02) ? 400_000 : dice.from(0, 100)
      builder.append(at, dice.chance(0.95) ? Buffer.from('k') : null, Buffer.alloc(size, 65))
    }
    const codec = dice.of([Codec.none, Codec.none, Codec.gzip, Codec.lz4, Codec.zstd])
    const batch = Buffer.from(builder.finish({ codec }))
    label += `, codec ${codec}, times ${times}`
    await this.#side.ask(label, api.produce, dice.from(7, 9), produceBody(place, batch, { acks: dice.of([-1, 1]) }))
    // Two batches of one millisecond have the same LogAppendTime.
    await new Promise(resolve => setTimeout(resolve, 3))
  }

  async #list(label: string, { topic }: Place): Promise<void> {
    const dice = this.#dice
    const timestamp = BigInt(
      dice.of([
        -1,
        -2,
        -3,
        -3,
        -3,
        0,
        ...Array.from({ length: 8 }, () => time + dice.from(-1, 40)),
        time + dice.from(0, 700),
      ]),
    )
    await this.#side.ask(`${label} of ${timestamp}`, api.listOffsets, dice.from(7, 11), {
      ...{ replicaId: -1, isolationLevel: dice.of([0, 1]) },
      topics: [{ name: topic, partitions: [{ partitionIndex: 0, timestamp }] }],
    })
  }

  async #epoch(label: string, { topic }: Place): Promise<void> {
    const partitions = [
      { partition: 0, leaderEpoch: this.#dice.from(-1, 2), currentLeaderEpoch: this.#dice.of([-1, 0]) },
    ]
    await this.#side.ask(label, api.offsetForLeaderEpoch, this.#dice.from(3, 4), {
      replicaId: -1,
      topics: [{ topic, partitions }],
    })
  }

  async #config(label: string, { topic }: Place): Promise<void> {
    const [name, value] = this.#dice.of([
      ['message.timestamp.type', 'CreateTime'],
      ['message.timestamp.type', this.#cuts ? 'CreateTime' : 'LogAppendTime'],
      ['compression.type', 'lz4'],
      ['compression.type', 'producer'],
      ['max.message.bytes', '300'],
      ['max.message.bytes', '3000000'],
      ['message.timestamp.after.max.ms', '100'],
      ['cleanup.policy', 'compact'],
      ['cleanup.policy', 'delete'],
    ])
    await this.#side.ask(label, api.incrementalAlterConfigs, 1, {
      resources: [{ resourceType: 2, resourceName: topic, configs: [{ name, configOperation: 0, value }] }],
      validateOnly: false,
    })
    await new Promise(resolve => setTimeout(resolve, 300))
  }

  async #cut(label: string, { topic }: Place): Promise<void> {
    const partitions = [{ partitionIndex: 0, offset: this.#dice.from(0, 30) }]
    await this.#side.ask(label, api.deleteRecords, 2, { topics: [{ name: topic, partitions }], timeoutMs: 5000 })
  }
}
