import { Backoff } from '../base/backoff.ts'
import type { Random } from '../base/random.ts'
import type { Uuid } from '../base/uuid.ts'
import type { PartitionImage } from '../core/metadata/partition-image.ts'
import type { Clock } from '../io/clock.ts'
import type { LogSink } from '../io/log-sink.ts'
import type { Deadline, Deadlines } from './deadlines.ts'

/** A partition that the metadata has on this broker, and whose log could not be made. */
export interface UnmadePartition {
  readonly topicId: Uuid
  readonly topic: string
  /** The newest. */
  image: PartitionImage
  /** An earlier life of the broker may have made it. */
  readonly mayExist: boolean
  /** Where it was begun: it is made there or nowhere. */
  directoryId: Uuid | undefined
}

export interface UnmadePartitionsOptions {
  readonly clock: Clock
  readonly random: Random
  readonly deadlines: Deadlines
  readonly log: LogSink
  /** Tries all of them. */
  readonly retry: () => void
}

const firstRetryMs = 1000
const maxRetryMs = 30_000
/** Partitions, and problems, that one line names. */
const maxNamed = 10

/**
 * Partitions whose logs the disk refused to make. They are tried again when a directory can be written again, and from time to
 * time, since not everything that is in the way tells when it has gone.
 */
export class UnmadePartitions {
  readonly #options: UnmadePartitionsOptions
  readonly #backoff: Backoff
  readonly #partitions = new Map<string, UnmadePartition>()
  /** Those that belong to other brokers by now. Should one come back, what was begun of it is still where it was begun. */
  readonly #left = new Map<string, UnmadePartition>()
  /** Partitions that have not been told of yet, and what is the matter with them. */
  #added: UnmadePartition[] = []
  #problems = new Set<string>()
  #made: UnmadePartition[] = []
  #retries = 0
  #deadline: Deadline | undefined

  constructor(options: UnmadePartitionsOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.random, { firstMs: firstRetryMs, maxMs: maxRetryMs })
  }

  get count(): number {
    return this.#partitions.size
  }

  all(): readonly UnmadePartition[] {
    return [...this.#partitions.values()]
  }

  byId(topicId: Uuid, index: number): UnmadePartition | undefined {
    return this.#partitions.size === 0 ? undefined : this.#partitions.get(keyOf(topicId, index))
  }

  byName(topic: string, index: number): UnmadePartition | undefined {
    return this.all().find(one => one.topic === topic && one.image.partition === index)
  }

  add(partition: UnmadePartition, problem: string): void {
    this.#partitions.set(keyOf(partition.topicId, partition.image.partition), partition)
    this.#added.push(partition)
    this.#problems.add(problem)
    this.#retries = 0
    this.#arm()
  }

  made(partition: UnmadePartition): void {
    this.delete(partition)
    this.#made.push(partition)
  }

  delete({ topicId, image }: UnmadePartition): void {
    this.#partitions.delete(keyOf(topicId, image.partition))
  }

  /** It belongs to other brokers now. */
  leave(partition: UnmadePartition): void {
    this.delete(partition)
    this.#left.set(keyOf(partition.topicId, partition.image.partition), partition)
  }

  isLeft(topicId: Uuid, index: number): boolean {
    return this.#left.has(keyOf(topicId, index))
  }

  /** It belongs here; answers what it was when it was last left, if it was. */
  takeLeft(topicId: Uuid, index: number): UnmadePartition | undefined {
    const key = keyOf(topicId, index)
    const left = this.#left.get(key)
    this.#left.delete(key)
    return left
  }

  deleteTopic(topicId: Uuid): void {
    for (const partition of this.all()) if (partition.topicId === topicId) this.delete(partition)
    for (const [key, left] of this.#left) if (left.topicId === topicId) this.#left.delete(key)
  }

  /** Says what has been added and what has been made since the last call: a line each, however many they are. */
  tell(): void {
    const { log } = this.#options
    if (this.#added.length > 0) {
      const problem = [...this.#problems].slice(0, maxNamed).join('; ')
      log.write(
        'error',
        `${namesOf(this.#added)} cannot be opened: ${problem}. Clients get KAFKA_STORAGE_ERROR until it can`,
        { partitions: this.#added.length },
      )
    }
    if (this.#made.length > 0) {
      log.write('info', `${namesOf(this.#made)} opened at last`, { partitions: this.#made.length })
    }
    this.#added = []
    this.#problems.clear()
    this.#made = []
  }

  close(): void {
    this.#deadline?.cancel()
    this.#deadline = undefined
    this.#partitions.clear()
  }

  #arm(): void {
    if (this.#partitions.size === 0 || this.#deadline !== undefined) return
    const { clock, deadlines } = this.#options
    const delayMs = this.#backoff.delayMs(++this.#retries)
    this.#deadline = deadlines.add(clock.now().monotonicMs + delayMs, () => {
      this.#deadline = undefined
      this.#options.retry()
      this.#arm()
    })
  }
}

function keyOf(topicId: Uuid, index: number): string {
  return `${topicId}-${index}`
}

function namesOf(partitions: readonly UnmadePartition[]): string {
  const names = partitions.slice(0, maxNamed).map(({ topic, image }) => `${topic}-${image.partition}`)
  const more = partitions.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}
