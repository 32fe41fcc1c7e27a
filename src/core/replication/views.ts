import type { EpochEndOffset } from '../log/partition-log.ts'

/**
 * What replication reads of the partition's log (`PartitionLog` has it all). The members show the state after the effects of
 * the last turn were carried out.
 */
export interface ReplicaLogView {
  readonly logStartOffset: number
  /** The offset after the last batch whose write has completed. */
  readonly logEndOffset: number
  /** `logEndOffset` plus what is in flight. */
  readonly nextOffset: number
  /** Below it everything is synced. */
  readonly flushedOffset: number
  readonly highWatermark: number
  /** The leader epoch of the last batch, or the last epoch assigned; -1 when there is none. */
  readonly latestEpoch: number
  endOffsetForEpoch(leaderEpoch: number): EpochEndOffset
}

/** One registered broker, as the committed metadata says (`BrokerImage` has it all). */
export interface BrokerView {
  /** Of its present life. */
  readonly epoch: number
  readonly fenced: boolean
  readonly inControlledShutdown: boolean
}

/** The brokers that this node knows of (`MetadataImage` is one). Never ahead of what `handle` was told of the partition. */
export interface BrokersView {
  broker(id: number): BrokerView | undefined
}

/** What the committed metadata says of one partition (`PartitionImage` has it all). */
export interface PartitionMetadata {
  /** -1: none. */
  readonly leader: number
  readonly leaderEpoch: number
  /** Grows with every change of the partition, made by its leader or by the controller. */
  readonly partitionEpoch: number
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
}
