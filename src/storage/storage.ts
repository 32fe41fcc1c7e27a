import type { Random } from '../base/random.ts'
import type { Clock } from '../io/clock.ts'
import type { Disk } from '../io/disk.ts'
import { BatchValidator } from '../records/batch-validator.ts'
import { IndexCache } from './index-cache.ts'
import { WriteTurn } from './log-writer.ts'
import { OpenFiles } from './open-files.ts'
import { defaultStorageLimits, type StorageContext, type StorageLimits } from './storage-context.ts'
import type { StorageFaults } from './storage-faults.ts'
import { TailRing } from './tail-ring.ts'
import { Traffic } from './traffic.ts'

export interface StorageOptions {
  readonly io: { readonly disk: Disk; readonly clock: Clock; readonly random: Random }
  readonly faults: StorageFaults
  readonly limits?: Partial<StorageLimits>
  /** `producer.id.expiration.ms`, asked for each time that producers are looked at. */
  readonly producerIdExpirationMs?: () => number
  /** `millrace.max.uncompressed.batch.bytes` and `millrace.validate.compressed`. */
  readonly validator?: BatchValidator
}

const dayMs = 86_400_000
const defaultMaxUncompressedBytes = 128 * 1024 * 1024

/** What the logs of one broker share: memory, open files, and the ways to disk and time. */
export function createStorage({ io, faults, ...options }: StorageOptions): StorageContext {
  const limits = { ...defaultStorageLimits, ...options.limits }
  return {
    disk: io.disk,
    clock: io.clock,
    random: io.random,
    faults,
    limits,
    validator:
      options.validator ??
      new BatchValidator({ maxUncompressedBytes: defaultMaxUncompressedBytes, checksCompressed: true }),
    ring: new TailRing(limits.tailRingBytes),
    openFiles: new OpenFiles(io.disk, limits.maxOpenFiles),
    indexCache: new IndexCache(limits.indexCacheBytes),
    turn: new WriteTurn(io.clock),
    traffic: new Traffic(limits.warmBytes),
    producerIdExpirationMs: options.producerIdExpirationMs ?? (() => dayMs),
  }
}
