import type { TopicPartition } from '../../cluster/leader-requests.ts'
import { type GroupMember, inOrder, type PartitionCounts, subscribedPartitions } from './assignor.ts'

/** What a member had before, and in which generation: a later claim to a partition beats an earlier one. */
export interface Claim {
  readonly partitions: readonly TopicPartition[]
  readonly generationId: number
}

interface Holder {
  readonly memberId: string
  readonly topics: ReadonlySet<string>
  readonly partitions: TopicPartition[]
}

/**
 * Shares partitions out so that no member has two more than another one that could take one of them, and as few partitions
 * as possible change hands.
 */
export function balance(
  members: readonly GroupMember[],
  counts: PartitionCounts,
  claims: ReadonlyMap<string, Claim>,
): Map<string, TopicPartition[]> {
  const holders = inOrder(members).map(({ memberId, topics }) => {
    return { memberId, topics: new Set(topics), partitions: [] as TopicPartition[] }
  })
  const unowned = keepClaims(holders, counts, claims, subscribedPartitions(members, counts))
  shedSurplus(holders, unowned)
  for (const one of unowned) leastLoaded(holders, one.topic)?.partitions.push(one)
  while (moveOne(holders));
  return new Map(holders.map(({ memberId, partitions }) => [memberId, partitions]))
}

/** Gives each partition to the member with the latest valid claim. Returns those that nobody claims. */
function keepClaims(
  holders: readonly Holder[],
  counts: PartitionCounts,
  claims: ReadonlyMap<string, Claim>,
  all: readonly TopicPartition[],
): TopicPartition[] {
  const claimants = new Map<string, { holder: Holder; generationId: number }>()
  for (const holder of holders) {
    const claim = claims.get(holder.memberId)
    for (const { topic, partition } of claim?.partitions ?? []) {
      if (!holder.topics.has(topic) || partition >= (counts.get(topic) ?? 0)) continue
      const name = `${topic}-${partition}`
      const other = claimants.get(name)
      const generationId = claim?.generationId ?? -1
      if (other === undefined || generationId > other.generationId) claimants.set(name, { holder, generationId })
    }
  }
  return all.filter(one => {
    const claimant = claimants.get(`${one.topic}-${one.partition}`)
    claimant?.holder.partitions.push(one)
    return claimant === undefined
  })
}

/** Where all subscribe to the same, nobody may keep more than his share: one at a time would take long with many. */
function shedSurplus(holders: readonly Holder[], unowned: TopicPartition[]): void {
  const [first] = holders
  const isUniform = holders.every(({ topics }) => topics.size === first.topics.size && topics.isSubsetOf(first.topics))
  if (!isUniform) return
  const total = holders.reduce((sum, { partitions }) => sum + partitions.length, unowned.length)
  const least = Math.floor(total / holders.length)
  let mayHaveMore = total % holders.length
  // Those that hold most are the ones that may keep one more.
  for (const { partitions } of [...holders].sort((a, b) => b.partitions.length - a.partitions.length)) {
    const keep = partitions.length > least && mayHaveMore > 0 ? least + 1 : least
    if (partitions.length > least && mayHaveMore > 0) mayHaveMore--
    unowned.push(...partitions.splice(keep))
  }
}

function leastLoaded(holders: readonly Holder[], topic: string): Holder | undefined {
  let least: Holder | undefined
  for (const holder of holders) {
    if (!holder.topics.has(topic)) continue
    if (least === undefined || holder.partitions.length < least.partitions.length) least = holder
  }
  return least
}

/** Moves one partition from a member that has at least two more than one that may have it. Ends: the spread shrinks. */
function moveOne(holders: readonly Holder[]): boolean {
  for (const from of [...holders].sort((a, b) => b.partitions.length - a.partitions.length)) {
    for (let i = from.partitions.length - 1; i >= 0; i--) {
      const to = leastLoaded(holders, from.partitions[i].topic)
      if (to === undefined || to.partitions.length + 1 >= from.partitions.length) continue
      to.partitions.push(...from.partitions.splice(i, 1))
      return true
    }
  }
  return false
}
