import type { DiskError } from '../io/disk.ts'

/** Bytes that are not what they should be. `position` is where in the file they begin. */
export interface Damage {
  readonly path: string
  readonly position: number
  /** Undefined where it is not known how far the damage goes. */
  readonly length: number | undefined
  /** The first offset that cannot be read because of it; undefined for files that hold no records. */
  readonly offset: number | undefined
  readonly reason: string
}

/** Told of what an operator must hear. Every damaged place is told once in the life of a process. */
export interface StorageFaults {
  /** The bytes are not served. What recovery had to leave out is told here as well. */
  damaged(damage: Damage): void
  /** Recovery has cut off what a crash left of the last writes: no valid batch followed. No fault, but worth a line. */
  tailCut?(cut: {
    readonly path: string
    readonly position: number
    readonly length: number
    readonly offset: number
  }): void
  /** A segment that had taken the place of others is gone; what was left of it is removed. */
  segmentLost?(lost: { readonly path: string; readonly offset: number }): void
  /** A file could not be read; the reader got KAFKA_STORAGE_ERROR. */
  readFailed(path: string, error: DiskError): void
  /** The directory takes no appends until there is room again. */
  directoryFull(path: string, error: DiskError): void
  directoryWritable(path: string): void
  /** The directory is offline until the broker starts again. */
  directoryFailed(path: string, error: DiskError): void
}
