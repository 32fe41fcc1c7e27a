import type { Uuid } from '../base/uuid.ts'

export interface NodeView {
  readonly nodeId: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
  readonly isFenced: boolean
}

export interface PartitionView {
  readonly index: number
  /** -1 when there is none. */
  readonly leaderId: number
  readonly leaderEpoch: number
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
  readonly elr: readonly number[]
  readonly lastKnownElr: readonly number[]
  /** Replicas on brokers that are not alive, or in directories that have failed. */
  readonly offlineReplicas: readonly number[]
}

export interface TopicView {
  readonly name: string
  readonly topicId: Uuid
  readonly isInternal: boolean
  readonly partitionCount: number
  partition(index: number): PartitionView | undefined
}

/** The committed state of the cluster as clients are told of it, at this moment. */
export interface ClusterView {
  readonly clusterId: string
  /** A controller, or any broker where the controllers are not brokers. */
  readonly controllerId: number
  /** Brokers that are registered, with their endpoints of the given listener. */
  brokers(listenerName: string, localPort: number): readonly NodeView[]
  topicByName(name: string): TopicView | undefined
  topicById(topicId: Uuid): TopicView | undefined
  /** By name. */
  topics(): Iterable<TopicView>
}
