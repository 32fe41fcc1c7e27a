import { ErrorCode } from '../../base/error-code.ts'
import { brokerError, MillraceError } from '../millrace-error.ts'
import { listOffsetsApi } from './api-messages.ts'
import type { Cluster } from './cluster.ts'
import { askLeaders, byTopic, type LedItem, type Outcomes, type TopicPartition } from './leader-requests.ts'

/** A place in a partition: by name, or the first record whose timestamp is not earlier. */
export type OffsetSpec =
  | 'earliest'
  | 'latest'
  | 'maxTimestamp'
  | 'earliestLocal'
  | 'latestTiered'
  | { readonly timestamp: bigint }

export interface OffsetQuery extends TopicPartition {
  readonly spec: OffsetSpec
}

export interface FoundOffset {
  /** -1: no record is as late as asked. */
  readonly offset: number
  /** Of the record found; -1 if none was looked for. */
  readonly timestamp: bigint
  /** -1 if unknown. */
  readonly leaderEpoch: number
}

/** The version from which on each name is understood. */
const specs = {
  latest: { timestamp: -1n, fromVersion: 1 },
  earliest: { timestamp: -2n, fromVersion: 1 },
  maxTimestamp: { timestamp: -3n, fromVersion: 7 },
  earliestLocal: { timestamp: -4n, fromVersion: 8 },
  latestTiered: { timestamp: -5n, fromVersion: 9 },
} as const

interface ListOptions {
  /** The latest offset is that below which no transaction is open. */
  readonly isReadCommitted: boolean
  readonly lane?: string
}

/** Asks the leaders, each once; once more for each further query about the same partition. */
export function listOffsets<Q extends OffsetQuery>(
  cluster: Cluster,
  queries: readonly Q[],
  options: ListOptions,
): Promise<Outcomes<Q, FoundOffset>> {
  return askLeaders(cluster, queries, async (nodeId, led) => {
    const outcomes: Outcomes<Q, FoundOffset> = new Map()
    for (const layer of layersOf(led)) {
      for (const [query, outcome] of await askNode(cluster, nodeId, layer, options)) outcomes.set(query, outcome)
    }
    return outcomes
  })
}

/** Brokers refuse requests that name a partition twice. */
function layersOf<Q extends OffsetQuery>(led: readonly LedItem<Q>[]): LedItem<Q>[][] {
  const seen = new Map<string, number>()
  const layers: LedItem<Q>[][] = []
  for (const one of led) {
    const name = `${one.item.topic}-${one.item.partition}`
    const depth = seen.get(name) ?? 0
    seen.set(name, depth + 1)
    layers[depth] = [...(layers[depth] ?? []), one]
  }
  return layers
}

async function askNode<Q extends OffsetQuery>(
  cluster: Cluster,
  nodeId: number,
  led: readonly LedItem<Q>[],
  { isReadCommitted, lane }: ListOptions,
): Promise<Outcomes<Q, FoundOffset>> {
  const epochs = new Map(led.map(({ item, leader }) => [item, leader.leaderEpoch]))
  const items = led.map(({ item }) => item)
  const answer = await cluster.send(
    nodeId,
    listOffsetsApi,
    version => ({
      replicaId: -1,
      isolationLevel: isReadCommitted ? 1 : 0,
      topics: byTopic(items, query => ({
        partitionIndex: query.partition,
        currentLeaderEpoch: epochs.get(query) ?? -1,
        timestamp: timestampOf(query.spec, version),
      })),
      timeoutMs: cluster.config.requestTimeoutMs,
    }),
    { lane },
  )
  const outcomes: Outcomes<Q, FoundOffset> = new Map()
  for (const query of items) {
    const topic = answer.topics.find(({ name }) => name === query.topic)
    const found = topic?.partitions.find(({ partitionIndex }) => partitionIndex === query.partition)
    outcomes.set(query, found?.errorCode === ErrorCode.none ? found : failure(query, found?.errorCode))
  }
  return outcomes
}

function failure({ topic, partition }: TopicPartition, code = ErrorCode.unknownServerError as number): MillraceError {
  return brokerError(code, `${topic}-${partition}`)
}

function timestampOf(spec: OffsetSpec, version: number): bigint {
  if (typeof spec !== 'string') return spec.timestamp
  const { timestamp, fromVersion } = specs[spec]
  if (version >= fromVersion) return timestamp
  throw new MillraceError('UNSUPPORTED_VERSION', `the broker is too old to be asked for the offset '${spec}'`)
}
