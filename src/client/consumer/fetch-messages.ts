import { type Uuid, zeroUuid } from '../../base/uuid.ts'
import { type FetchResponse, fetchRequest, fetchResponse, type PartitionData } from '../../protocol/messages/fetch.ts'
import type { Input } from '../../protocol/schema.ts'
import { byTopic } from '../cluster/leader-requests.ts'
import type { ConsumerConfig } from './consumer-options.ts'
import type { SessionRequest, WantedPartition } from './fetch-session.ts'

export const fetchApi = { request: fetchRequest, response: fetchResponse }

/** The last version that names topics; later ones have ids. */
export const lastVersionWithNames = 12

export function fetchBody(
  session: SessionRequest,
  config: Pick<ConsumerConfig, 'fetchMaxWaitMs' | 'fetchMinBytes' | 'isReadCommitted'>,
  { maxBytes, rackId }: { readonly maxBytes: number; readonly rackId: string },
): Input<typeof fetchRequest> {
  // A topic that was created anew is in both, with another id in each.
  const wantedIds = new Map(session.partitions.map(({ topic, topicId }) => [topic, topicId]))
  const forgottenIds = new Map(session.forgotten.map(({ topic, topicId }) => [topic, topicId]))
  const topics = byTopic(session.partitions, partitionBody)
  const forgotten = byTopic(session.forgotten, ({ partition }) => partition)
  return {
    maxWaitMs: config.fetchMaxWaitMs,
    minBytes: config.fetchMinBytes,
    maxBytes,
    isolationLevel: config.isReadCommitted ? 1 : 0,
    sessionId: session.sessionId,
    sessionEpoch: session.sessionEpoch,
    topics: topics.map(({ name, partitions }) => ({ topic: name, topicId: wantedIds.get(name)!, partitions })),
    forgottenTopicsData: forgotten.map(({ name, partitions }) => {
      return { topic: name, topicId: forgottenIds.get(name)!, partitions }
    }),
    rackId,
  }
}

function partitionBody({ partition, fetchOffset, currentLeaderEpoch, partitionMaxBytes }: WantedPartition) {
  return { partition, fetchOffset, currentLeaderEpoch, partitionMaxBytes }
}

/** Calls with each partition of the answer; `nameOf` knows topics by id. */
export function forEachPartition(
  { responses }: FetchResponse,
  nameOf: (topicId: Uuid) => string | undefined,
  call: (topic: string, data: PartitionData) => void,
): void {
  for (const { topic, topicId, partitions } of responses) {
    const name = topicId === zeroUuid ? topic : nameOf(topicId)
    if (name !== undefined) for (const data of partitions) call(name, data)
  }
}
