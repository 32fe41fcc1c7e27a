import type { History } from '../history/history.ts'
import type { SeededRandom } from '../io/seeded-random.ts'
import type { KnownTopic, WireClient } from '../wire/wire-client.ts'

/** What one client process of a workload works with. Gone with the life of its node. */
export interface Workplace {
  readonly process: string
  readonly client: WireClient
  readonly history: History
  readonly random: SeededRandom
  /** The names that exist, or existed, or will. */
  readonly topicNames: readonly string[]
  /** The topic is compacted: its records must have keys. */
  isCompacted(topic: string): boolean
  /** No new work is begun; what was begun is brought to its end. */
  isStopping(): boolean
  /** A promise was broken that needs no other event to be seen. */
  complain(invariant: string, text: string): void
}

/** One partition of a topic as it is known under its id. */
export interface PartitionTarget {
  readonly topic: KnownTopic
  readonly partition: number
  /** The leadership that the client believes in; a client that does not say is not fenced. */
  readonly leaderEpoch?: number | undefined
}

/** Undefined when the broker does not answer or knows no topic. */
export async function pickPartition(at: Workplace): Promise<PartitionTarget | undefined> {
  const topics = await at.client.topics([at.random.pick(at.topicNames)])
  const topic = topics?.[0]
  return topic && targetOf(topic, at.random.below(topic.partitionCount))
}

export function targetOf(topic: KnownTopic, partition: number): PartitionTarget {
  return { topic, partition, leaderEpoch: topic.leaderEpochs[partition] }
}

/** Every client comes to an end soon after it is asked to. */
const maxThinkMs = 20_000

/** A pause of a client, mostly short. */
export function think(at: Workplace, typicalMs: number): Promise<void> {
  return at.client.sleep(Math.min(maxThinkMs, at.random.delayUs(typicalMs * 1000) / 1000))
}
