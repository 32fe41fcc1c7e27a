import type { TopicPartition } from '../cluster/leader-requests.ts'
import type { OffsetSpec } from '../cluster/list-offsets.ts'
import type { ConsumedBatch } from './consumed-batch.ts'

export interface PollOptions {
  /** How long to wait for records. 1,000 unless given; Infinity is possible. */
  readonly timeoutMs?: number
  /** In all batches together. `maxRecords` of the consumer unless given. */
  readonly maxRecords?: number
}

export interface RunOptions {
  /** The batch counts as done when this has resolved. */
  readonly eachBatch: (batch: ConsumedBatch) => Promise<void> | void
  /** Batches of different partitions that are worked on at the same time. 1 unless given. */
  readonly concurrency?: number
}

export interface CloseOptions {
  /** How long it may take. 30,000 unless given. */
  readonly timeoutMs?: number
  /** Tell the group at once, instead of letting the session time out. True for members that are not static. */
  readonly leaveGroup?: boolean
}

/** Where to begin: an offset, or a place by name or time. By what the group has committed unless given. */
export interface AssignedAt extends TopicPartition {
  readonly offset?: number | OffsetSpec
}
