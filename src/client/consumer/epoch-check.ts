import { ErrorCode } from '../../base/error-code.ts'
import {
  offsetForLeaderEpochRequest,
  offsetForLeaderEpochResponse,
} from '../../protocol/messages/offset-for-leader-epoch.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { askLeaders, byTopic, type Outcomes, type TopicPartition } from '../cluster/leader-requests.ts'
import { brokerError } from '../millrace-error.ts'

const offsetForLeaderEpochApi = { request: offsetForLeaderEpochRequest, response: offsetForLeaderEpochResponse }

export interface EpochQuery extends TopicPartition {
  /** Of the last record that was read. */
  readonly leaderEpoch: number
}

export interface EpochEnd {
  /** Where the log of that epoch ends, by the present leader; -1: it knows nothing of such epochs. */
  readonly endOffset: number
  readonly leaderEpoch: number
  /** The epoch of the leader who was asked. */
  readonly currentLeaderEpoch: number
}

/** Asks the leaders where an epoch ended, each once: a reader beyond that has read what is gone. */
export function epochEnds<Q extends EpochQuery>(
  cluster: Cluster,
  queries: readonly Q[],
): Promise<Outcomes<Q, EpochEnd>> {
  return askLeaders(cluster, queries, async (nodeId, led) => {
    const epochs = new Map(led.map(({ item, leader }) => [item, leader.leaderEpoch]))
    const items = led.map(({ item }) => item)
    const topics = byTopic(items, query => ({
      partition: query.partition,
      currentLeaderEpoch: epochs.get(query) ?? -1,
      leaderEpoch: query.leaderEpoch,
    })).map(({ name, partitions }) => ({ topic: name, partitions }))
    const answer = await cluster.send(nodeId, offsetForLeaderEpochApi, { replicaId: -1, topics })
    const outcomes: Outcomes<Q, EpochEnd> = new Map()
    for (const query of items) {
      const topic = answer.topics.find(one => one.topic === query.topic)
      const found = topic?.partitions.find(({ partition }) => partition === query.partition)
      if (found?.errorCode === ErrorCode.none) {
        outcomes.set(query, { ...found, currentLeaderEpoch: epochs.get(query) ?? -1 })
      } else {
        outcomes.set(
          query,
          brokerError(found?.errorCode ?? ErrorCode.unknownServerError, `${query.topic}-${query.partition}`),
        )
      }
    }
    return outcomes
  })
}
