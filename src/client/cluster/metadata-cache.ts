import { ErrorCode } from '../../base/error-code.ts'
import { type Uuid, zeroUuid } from '../../base/uuid.ts'
import type { MetadataResponse, MetadataResponsePartition } from '../../protocol/messages/metadata.ts'

export interface Broker {
  readonly nodeId: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
}

export interface PartitionState {
  readonly partition: number
  /** -1: none at present. */
  readonly leaderId: number
  /** -1: the broker does not say. */
  readonly leaderEpoch: number
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
  readonly offlineReplicas: readonly number[]
}

export interface TopicState {
  readonly name: string
  /** `zeroUuid` with brokers that are too old for ids. */
  readonly topicId: Uuid
  readonly isInternal: boolean
  /** Why nothing else is known; `none` for a topic that can be used. */
  readonly errorCode: ErrorCode
  /** By partition number, without gaps. */
  readonly partitions: readonly PartitionState[]
}

/** Where a broker said that a partition is led from now on. */
export interface LeaderHint {
  readonly leaderId: number
  readonly leaderEpoch: number
}

/**
 * What is known of a cluster: brokers, topics, leaders. Fed by answers to Metadata and by what brokers say of leaders that
 * have moved. An older leader epoch never replaces a newer one of the same topic.
 */
export class MetadataCache {
  clusterId: string | undefined
  controllerId = -1
  /** Grows with each change of anything. */
  changes = 0
  readonly #brokers = new Map<number, Broker>()
  readonly #topics = new Map<string, TopicState>()
  readonly #nameOfId = new Map<Uuid, string>()

  get brokers(): readonly Broker[] {
    return [...this.#brokers.values()]
  }

  broker(nodeId: number): Broker | undefined {
    return this.#brokers.get(nodeId)
  }

  get topics(): readonly TopicState[] {
    return [...this.#topics.values()]
  }

  topic(name: string): TopicState | undefined {
    return this.#topics.get(name)
  }

  nameOf(topicId: Uuid): string | undefined {
    return this.#nameOfId.get(topicId)
  }

  partition(topic: string, partition: number): PartitionState | undefined {
    return this.#topics.get(topic)?.partitions[partition]
  }

  /** `hasAll`: the answer is about all topics, so that those it does not name are gone. */
  update(answer: MetadataResponse, { hasAll }: { hasAll: boolean }): void {
    this.changes++
    this.clusterId = answer.clusterId ?? this.clusterId
    this.controllerId = answer.controllerId
    // A broker that knows of no broker cannot be right: it is just starting.
    if (answer.brokers.length > 0) {
      this.#brokers.clear()
      for (const { nodeId, host, port, rack } of answer.brokers) this.#brokers.set(nodeId, { nodeId, host, port, rack })
    }
    if (hasAll) {
      const named = new Set(answer.topics.map(({ name }) => name))
      for (const name of [...this.#topics.keys()]) if (!named.has(name)) this.#forgetTopic(name)
    }
    for (const { name, topicId, isInternal, errorCode, partitions } of answer.topics) {
      if (name !== null) this.#setTopic({ name, topicId, isInternal, errorCode, partitions: [] }, partitions)
    }
  }

  /** A broker that was named outside of Metadata: a coordinator, or a new leader. */
  learnBroker(broker: Broker): void {
    this.#brokers.set(broker.nodeId, broker)
  }

  /** Returns whether that was news: a leader of a later epoch, at a broker whose address is known. */
  learnLeader(topic: string, partition: number, { leaderId, leaderEpoch }: LeaderHint): boolean {
    const known = this.#topics.get(topic)
    const state = known?.partitions[partition]
    if (known === undefined || state === undefined || !this.#brokers.has(leaderId)) return false
    if (leaderEpoch <= state.leaderEpoch) return false
    const partitions = known.partitions.with(partition, { ...state, leaderId, leaderEpoch })
    this.#topics.set(topic, { ...known, partitions })
    this.changes++
    return true
  }

  forgetBrokers(): void {
    this.#brokers.clear()
    this.controllerId = -1
    this.changes++
  }

  forgetTopic(name: string): void {
    this.#forgetTopic(name)
    this.changes++
  }

  #forgetTopic(name: string): void {
    const known = this.#topics.get(name)
    if (known !== undefined && this.#nameOfId.get(known.topicId) === name) this.#nameOfId.delete(known.topicId)
    this.#topics.delete(name)
  }

  #setTopic(topic: TopicState, partitions: readonly MetadataResponsePartition[]): void {
    const known = this.#topics.get(topic.name)
    const isSame = known !== undefined && (known.topicId === topic.topicId || topic.topicId === zeroUuid)
    const older = isSame ? known : undefined
    // Partitions are numbered without gaps; an answer that has a gap is cut there until it is whole.
    const sorted = [...partitions].sort((a, b) => a.partitionIndex - b.partitionIndex)
    const whole = sorted.filter(({ partitionIndex }, index) => partitionIndex === index)
    const states = whole.map(one => newer(older?.partitions[one.partitionIndex], one))
    // Partitions are never taken away: a broker that names fewer is behind.
    if (older !== undefined && topic.errorCode === ErrorCode.none) states.push(...older.partitions.slice(states.length))
    this.#forgetTopic(topic.name)
    this.#topics.set(topic.name, { ...topic, partitions: states })
    if (topic.topicId !== zeroUuid) this.#nameOfId.set(topic.topicId, topic.name)
  }
}

function newer(known: PartitionState | undefined, answer: MetadataResponsePartition): PartitionState {
  const { partitionIndex: partition, leaderEpoch, replicaNodes, isrNodes, offlineReplicas } = answer
  if (known !== undefined && leaderEpoch >= 0 && leaderEpoch < known.leaderEpoch) return known
  const hasLeader = answer.errorCode !== ErrorCode.leaderNotAvailable
  const leaderId = hasLeader ? answer.leaderId : -1
  return { partition, leaderId, leaderEpoch, replicas: replicaNodes, isr: isrNodes, offlineReplicas }
}
