import { ErrorCode, needsMetadata } from '../../base/error-code.ts'
import { brokerError, MillraceError, toMillraceError } from '../millrace-error.ts'
import type { Cluster } from './cluster.ts'
import type { PartitionState } from './metadata-cache.ts'

export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

/** What became of each item. */
export type Outcomes<P, R> = Map<P, R | MillraceError>

export interface LedItem<P> {
  readonly item: P
  readonly leader: PartitionState
}

/**
 * Sends requests about partitions to their leaders, one to each, all at once, each tried once. Errors that speak of
 * another leader have newer metadata fetched.
 */
export async function askLeaders<P extends TopicPartition, R>(
  cluster: Cluster,
  items: readonly P[],
  ask: (nodeId: number, items: readonly LedItem<P>[]) => Promise<Outcomes<P, R>>,
): Promise<Outcomes<P, R>> {
  const outcomes: Outcomes<P, R> = new Map()
  const byLeader = new Map<number, LedItem<P>[]>()
  for (const item of items) {
    const leader = cluster.leaderOf(item.topic, item.partition)
    if (leader === undefined) outcomes.set(item, noLeader(cluster, item))
    else byLeader.set(leader.leaderId, [...(byLeader.get(leader.leaderId) ?? []), { item, leader }])
  }
  const asked = [...byLeader].map(async ([nodeId, led]) => {
    try {
      for (const [item, outcome] of await ask(nodeId, led)) outcomes.set(item, outcome)
    } catch (error) {
      for (const { item } of led) outcomes.set(item, toMillraceError(error))
    }
  })
  await Promise.all(asked)
  for (const outcome of outcomes.values()) {
    const code = outcome instanceof MillraceError ? outcome.errorCode : undefined
    if (code !== undefined && needsMetadata(code)) cluster.requestRefresh()
  }
  return outcomes
}

function noLeader(cluster: Cluster, { topic, partition }: TopicPartition): MillraceError {
  const state = cluster.metadata.topic(topic)
  if (state === undefined || state.errorCode !== ErrorCode.none) {
    return brokerError(state?.errorCode ?? ErrorCode.unknownTopicOrPartition, `topic ${topic}`)
  }
  const subject = `${topic}-${partition}`
  if (state.partitions[partition] === undefined) return brokerError(ErrorCode.unknownTopicOrPartition, subject)
  return brokerError(ErrorCode.leaderNotAvailable, subject)
}

/** Groups items for a request that has a list of topics with a list of partitions each. */
export function byTopic<P extends TopicPartition, T>(
  items: readonly P[],
  of: (item: P) => T,
): { readonly name: string; readonly partitions: T[] }[] {
  const topics = Map.groupBy(items, ({ topic }) => topic)
  return [...topics].map(([name, inTopic]) => ({ name, partitions: inTopic.map(of) }))
}
