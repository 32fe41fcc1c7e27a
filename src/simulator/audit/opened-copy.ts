import { assert } from '../../base/assert.ts'
import { defaultLogConfig } from '../../core/log/default-log-config.ts'
import { parsePartitionDirectoryName, parseSegmentFileName } from '../../core/log/file-names.ts'
import { claimDirectory } from '../../storage/directory-claim.ts'
import { LogDirectories } from '../../storage/log-directories.ts'
import { createStorage } from '../../storage/storage.ts'
import type { Damage } from '../../storage/storage-faults.ts'
import type { DiskSnapshot } from '../io/simulated-disk.ts'
import type { World } from '../io/world.ts'

/** A copy of a broker's disk, opened by storage alone. */
export interface OpenedCopy {
  readonly logs: LogDirectories
  readonly damage: readonly Damage[]
}

/** `asLeft`: with all that a shutdown wrote. `fromBatches`: only the segments are there, all else is derived from them. */
export type CopyKind = 'asLeft' | 'fromBatches'

export interface CopyOptions {
  readonly logDirs: readonly string[]
  readonly kind: CopyKind
  readonly isCompacted: (topic: string) => boolean
}

export async function openCopy(
  world: World,
  snapshot: DiskSnapshot,
  { logDirs, kind, isCompacted }: CopyOptions,
): Promise<OpenedCopy> {
  const node = world.addNode(`auditor ${kind} ${world.trace.events}`)
  node.disk.restore(snapshot)
  const io = node.start()
  if (kind === 'fromBatches')
    for (const { path } of node.disk.files()) if (isDerived(path, isCompacted)) await io.disk.remove(path)
  const damage: Damage[] = []
  const faults = {
    damaged: (one: Damage) => void damage.push(one),
    readFailed: () => undefined,
    directoryFull: () => undefined,
    directoryWritable: () => undefined,
    directoryFailed: () => undefined,
  }
  const context = createStorage({ io, faults, limits: { scrubBytesPerSecond: 0 } })
  const directories = []
  for (const path of logDirs) {
    const claim = await claimDirectory(context, path)
    assert(claim.type === 'claimed', 'a directory that was in use can be opened')
    directories.push(claim)
  }
  const forever = 10 ** 12
  const logs = await LogDirectories.open(context, {
    directories,
    configOf: topic => {
      return { ...defaultLogConfig, retentionMs: -1, retentionBytes: -1, isCompacted: isCompacted(topic) }
    },
    isStray: () => false,
    intervals: {
      recoveryPointCheckpointMs: forever,
      logStartCheckpointMs: forever,
      highWatermarkCheckpointMs: forever,
      retentionCheckMs: forever,
    },
  })
  return { logs, damage }
}

/**
 * Files that say nothing that the segments do not say, but where a log starts and whose it is. Where a compacted log lacks the
 * last batches of a segment, the snapshot behind it says that they were not lost.
 */
function isDerived(path: string, isCompacted: (topic: string) => boolean): boolean {
  const [directory = '', name = ''] = path.split('/').slice(-2)
  const segment = parseSegmentFileName(name)
  const topic = parsePartitionDirectoryName(directory)?.topic ?? ''
  if (segment !== undefined) return segment.kind !== 'log' && !(segment.kind === 'snapshot' && isCompacted(topic))
  if (name === 'leader-epoch-checkpoint' || name === '.kafka_cleanshutdown') return true
  return name.startsWith('millrace-') || name.startsWith('recovery-point')
}
