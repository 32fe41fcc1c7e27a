import type { TopicPartition } from '../cluster/leader-requests.ts'
import { AssignedPartition } from './assigned-partition.ts'
import { notOurs } from './offset-store.ts'

/** The partitions that a consumer reads at present, in the order in which they are served. */
export class Assignment {
  readonly #partitions = new Map<string, AssignedPartition>()

  get size(): number {
    return this.#partitions.size
  }

  [Symbol.iterator](): IterableIterator<AssignedPartition> {
    return this.#partitions.values()
  }

  get(topic: string, partition: number): AssignedPartition | undefined {
    return this.#partitions.get(keyOf({ topic, partition }))
  }

  /** Throws `NOT_ASSIGNED`. */
  require({ topic, partition }: TopicPartition): AssignedPartition {
    const assigned = this.get(topic, partition)
    if (assigned !== undefined) return assigned
    throw notOurs({ topic, partition })
  }

  add({ topic, partition }: TopicPartition): AssignedPartition {
    const known = this.get(topic, partition)
    if (known !== undefined) return known
    const assigned = new AssignedPartition(topic, partition)
    this.#partitions.set(keyOf(assigned), assigned)
    return assigned
  }

  remove(assigned: AssignedPartition): void {
    assigned.isLost = true
    this.#partitions.delete(keyOf(assigned))
  }

  clear(): void {
    for (const assigned of [...this.#partitions.values()]) this.remove(assigned)
  }

  /** It has just been served: the others come first now. */
  moveToEnd(assigned: AssignedPartition): void {
    const key = keyOf(assigned)
    if (this.#partitions.delete(key)) this.#partitions.set(key, assigned)
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}-${partition}`
}
