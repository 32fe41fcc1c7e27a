import type { Random } from '../base/random.ts'
import type { Clock } from '../io/clock.ts'
import type { Disk } from '../io/disk.ts'
import type { BatchValidator } from '../records/batch-validator.ts'
import type { IndexCache } from './index-cache.ts'
import type { WriteTurn } from './log-writer.ts'
import type { OpenFiles } from './open-files.ts'
import type { StorageFaults } from './storage-faults.ts'
import type { TailRing } from './tail-ring.ts'
import type { Traffic } from './traffic.ts'

export interface StorageLimits {
  /** Memory of the newest small appends of all partitions. */
  readonly tailRingBytes: number
  /** How much of it one partition has at most. */
  readonly tailBytesPerPartition: number
  /** Memory of the indexes of inactive segments that were used last. */
  readonly indexCacheBytes: number
  readonly maxOpenFiles: number
  /** Bytes a second that the scrub reads of one directory; 0 turns it off. */
  readonly scrubBytesPerSecond: number
  /** Answers from this size on leave as ranges of files even when the bytes are in memory. */
  readonly fileRangeFromBytes: number
  /** What was written or read before this much other traffic is thought to be out of the kernel's memory: half of it is apt. */
  readonly warmBytes: number
  /** Set aside beside the metadata log, for the records by which a full disk is emptied. */
  readonly reserveBytes: number
}

export const defaultStorageLimits: StorageLimits = Object.freeze({
  tailRingBytes: 32 * 1024 * 1024,
  tailBytesPerPartition: 1024 * 1024,
  indexCacheBytes: 32 * 1024 * 1024,
  maxOpenFiles: 16_384,
  scrubBytesPerSecond: 4 * 1024 * 1024,
  fileRangeFromBytes: 64 * 1024,
  warmBytes: 1024 * 1024 * 1024,
  reserveBytes: 0,
})

/** What the logs of one broker share. */
export interface StorageContext {
  readonly disk: Disk
  readonly clock: Clock
  readonly random: Random
  readonly validator: BatchValidator
  readonly faults: StorageFaults
  readonly limits: StorageLimits
  readonly ring: TailRing
  readonly openFiles: OpenFiles
  readonly indexCache: IndexCache
  readonly turn: WriteTurn
  readonly traffic: Traffic
  /** `producer.id.expiration.ms`, which may change. */
  readonly producerIdExpirationMs: () => number
}
