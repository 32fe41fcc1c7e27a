import type { ErrorCode } from '../../../base/error-code.ts'
import { type Uuid, zeroUuid } from '../../../base/uuid.ts'

interface TopicErrors {
  readonly name: string
  readonly topicId: Uuid
  readonly partitions: { readonly partitionIndex: number; readonly errorCode: ErrorCode }[]
}

/** What an answer says of each partition: every topic once, in the order in which they are first mentioned. */
export class PartitionErrors {
  readonly #topics = new Map<string, TopicErrors>()

  /** A topic whose id is not known has no name, and is told from others by its id. */
  add(topic: { readonly name: string; readonly topicId?: Uuid }, partitionIndex: number, errorCode: ErrorCode): void {
    const { name, topicId = zeroUuid } = topic
    const key = name === '' ? topicId : name
    let errors = this.#topics.get(key)
    if (errors === undefined) {
      errors = { name, topicId, partitions: [] }
      this.#topics.set(key, errors)
    }
    errors.partitions.push({ partitionIndex, errorCode })
  }

  get topics(): readonly TopicErrors[] {
    return [...this.#topics.values()]
  }
}
