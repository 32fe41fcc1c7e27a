import type { AlterPartitionAnswer, ReplicationEffect } from '../events.ts'
import type { BrokerView, PartitionMetadata } from '../views.ts'

export interface SimPartition extends PartitionMetadata {
  readonly elr: readonly number[]
  /** Its leader was elected although it may lack what was committed, and has not said that it has recovered. */
  readonly isRecovering: boolean
}

/** The committed metadata at one offset. */
export interface ClusterState {
  readonly endOffset: number
  readonly partition: SimPartition
  readonly brokers: ReadonlyMap<number, BrokerView>
}

export interface TopicRules {
  readonly replicas: readonly number[]
  readonly minInsyncReplicas: number
  readonly allowsUnclean: boolean
  readonly usesElr: boolean
}

export type AlterPartition = Omit<ReplicationEffect & { readonly type: 'alterPartition' }, 'type' | 'attemptId'>

/** The controller of the simulated cluster: one partition, decided by the rules of the real one. Times are monotonic ms. */
export interface SimController {
  /** The newest. */
  readonly state: ClusterState
  /** Of the new life of a broker; undefined when it is refused. */
  register(brokerId: number, life: { incarnation: number; previousEpoch: number }, nowMs: number): number | undefined
  /** Undefined when it is refused. */
  heartbeat(
    broker: {
      brokerId: number
      brokerEpoch: number
      metadataOffset: number
      wantShutDown: boolean
      wantFence: boolean
    },
    nowMs: number,
  ): { readonly shouldShutDown: boolean } | undefined
  /** Undefined when the broker's epoch is stale. */
  alterPartition(
    broker: { brokerId: number; brokerEpoch: number },
    wanted: AlterPartition,
    nowMs: number,
  ): AlterPartitionAnswer | undefined
  /** Fences brokers that were not heard of. */
  tick(nowMs: number): void
}

export type MakeController = (rules: TopicRules) => SimController
