import type { TopicPartition } from '../../cluster/leader-requests.ts'

/** A member of the group as the leader sees it. */
export interface GroupMember {
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly topics: readonly string[]
  /** What it says that it owns. Members of eager protocols own nothing when they join. */
  readonly ownedPartitions: readonly TopicPartition[]
  /** In which generation it got them; -1 if it does not say. */
  readonly generationId: number
  readonly userData: Buffer | null
}

/** Partitions by topic; topics that do not exist are missing. */
export type PartitionCounts = ReadonlyMap<string, number>

/** Partitions by member id; every member is named. */
export type GroupAssignment = Map<string, TopicPartition[]>

/** What a member remembers of its last assignment. */
export interface LastAssignment {
  readonly partitions: readonly TopicPartition[]
  readonly generationId: number
}

/** A way to share partitions out. The group uses one that all of its members know by name. */
export interface Assignor {
  readonly name: string
  /** Members give up everything before they join (`eager`), or only what they lose, afterwards (`cooperative`). */
  readonly protocol: 'eager' | 'cooperative'
  /** What a member tells the leader besides its subscription. */
  userData(last: LastAssignment | undefined): Buffer | null
  assign(members: readonly GroupMember[], counts: PartitionCounts): GroupAssignment
}

/** Members in the order in which Kafka's assignors go through them: static ones by their instance, which they keep. */
export function inOrder(members: readonly GroupMember[]): GroupMember[] {
  return [...members].sort((a, b) => {
    if (a.groupInstanceId !== null && b.groupInstanceId !== null) return compare(a.groupInstanceId, b.groupInstanceId)
    if (a.groupInstanceId !== null) return -1
    if (b.groupInstanceId !== null) return 1
    return compare(a.memberId, b.memberId)
  })
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

export function emptyAssignment(members: readonly GroupMember[]): GroupAssignment {
  return new Map(members.map(({ memberId }) => [memberId, []]))
}

/** All partitions that some member subscribes to, by topic name and number. */
export function subscribedPartitions(members: readonly GroupMember[], counts: PartitionCounts): TopicPartition[] {
  const topics = [...new Set(members.flatMap(({ topics: subscribed }) => subscribed))].sort()
  return topics.flatMap(topic =>
    Array.from({ length: counts.get(topic) ?? 0 }, (_, partition) => ({ topic, partition })),
  )
}
