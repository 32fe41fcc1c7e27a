import type { Now } from '../../base/time.ts'
import type { Refusal, Reservation } from '../log/partition-log.ts'

/**
 * What a runner needs of the log its machine is replicated by: a partition that this node leads, or the metadata quorum.
 * Whoever provides it calls the runner's `committed()` whenever the high watermark moves, `appendFailed()` when a batch
 * that was appended did not reach the log, and `unload()` when leadership is lost.
 */
export interface ReplicatedLog {
  /** The offset that the next reservation gets. Everything below it, committed or not, is what `decide` sees. */
  readonly nextOffset: number
  /** Below it everything is committed. */
  readonly highWatermark: number
  /** The largest batch that `reserve` takes, in bytes. */
  readonly maxBatchBytes: number
  /**
   * Offsets for one encoded batch; writes nothing. Refuses when this node does not lead, the in-sync replicas are too
   * few, the batch is too large or the directory cannot be written.
   */
  reserve(batch: Buffer, now: Now): Reservation | Refusal
  /** Follows in the same turn. */
  append(reservation: Reservation): void
}
