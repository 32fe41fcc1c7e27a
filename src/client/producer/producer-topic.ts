import { countOf } from '../../base/count-of.ts'
import type { Random } from '../../base/random.ts'
import { partitionOfKey } from '../../protocol/partition-choice.ts'
import type { TopicState } from '../cluster/metadata-cache.ts'
import { invalidArgument, type MillraceError } from '../millrace-error.ts'
import { PartitionQueue } from './partition-queue.ts'
import type { ProducerConfig } from './producer-options.ts'
import type { SendCall } from './send-call.ts'
import { StickyChoice } from './sticky-choice.ts'

/** A topic as a producer sees it: the queues of its partitions, and calls that wait for the topic or for room. */
export class ProducerTopic {
  readonly name: string
  readonly waiting: SendCall[] = []
  /** Ends the interest in the topic's metadata. */
  readonly unwatch: () => void
  readonly #config: ProducerConfig
  readonly #queues: PartitionQueue[] = []
  readonly #sticky: StickyChoice
  #state: TopicState | undefined

  constructor(name: string, config: ProducerConfig, random: Random, unwatch: () => void) {
    this.name = name
    this.unwatch = unwatch
    this.#config = config
    this.#sticky = new StickyChoice(random, config.batchBytes)
  }

  get queues(): readonly PartitionQueue[] {
    return this.#queues
  }

  /** Called before partitions are chosen, with what is known at that time. */
  update(state: TopicState): void {
    if (state === this.#state) return
    this.#state = state
    this.#sticky.forget()
    for (let partition = this.#queues.length; partition < state.partitions.length; partition++) {
      const { idempotent, maxInFlight, lingerMs, deliveryTimeoutMs } = this.#config
      const options = { idempotent, maxInFlight: idempotent ? maxInFlight : 1, lingerMs, deliveryTimeoutMs }
      this.#queues.push(new PartitionQueue({ topic: this.name, partition, ...options }))
    }
  }

  /** The queue of a record that takes about so many bytes. */
  queueFor(partition: number | undefined, key: Buffer | null, bytes: number): PartitionQueue | MillraceError {
    if (partition !== undefined) {
      const queue = this.#queues[partition]
      const count = countOf(this.#queues.length, 'partition')
      return queue ?? invalidArgument(`topic ${this.name} has ${count}; there is no partition ${partition}`)
    }
    if (key !== null) return this.#queues[partitionOfKey(key, this.#queues.length)]
    const chosen = this.#sticky.partition >= 0 ? this.#sticky.partition : this.#chooseSticky()
    this.#sticky.used(bytes)
    return this.#queues[chosen]
  }

  #chooseSticky(): number {
    const all = this.#state?.partitions ?? []
    const led = all.filter(({ leaderId }) => leaderId >= 0)
    const usable = (led.length > 0 ? led : all).map(({ partition }) => partition)
    return this.#sticky.choose(usable, partition => waitingBytes(this.#queues[partition]))
  }
}

function waitingBytes(queue: PartitionQueue): number {
  let bytes = 0
  for (const { sizeBytes } of queue.batches) bytes += sizeBytes
  return bytes
}
