import type { Uuid } from '../../base/uuid.ts'
import type { ReadRecord } from '../history/operations.ts'

/** What a partition holds in the end: read from its start to its end when all is quiet. */
export interface PartitionTruth {
  readonly topic: string
  readonly topicId: Uuid
  readonly partition: number
  readonly logStartOffset: number
  readonly logEndOffset: number
  readonly records: ReadonlyMap<number, ReadRecord>
}

export type Truth = ReadonlyMap<string, PartitionTruth>

export function partitionKey(topicId: Uuid, partition: number): string {
  return `${topicId} ${partition}`
}
