import type { CompactorFigures } from '../../storage/compaction/compactor.ts'
import type { SegmentedLog } from '../../storage/segmented-log.ts'

/** What a scrape reads of compaction. Percentages and seconds as Kafka's metrics have them. */
export interface CompactionGauges {
  readonly uncleanable: readonly { readonly path: string; readonly partitions: number; readonly bytes: number }[]
  readonly maxDirtyPercent: number
  readonly sinceLastLookMs: number
  /** Of the latest passes: what was written as a part of what was read, how full the map was, how long they took. */
  readonly recopyPercent: number
  readonly maxBufferUtilizationPercent: number
  readonly maxPassSeconds: number
  readonly maxDelaySeconds: number
  /** Since the start. */
  readonly passes: number
  readonly readBytes: number
  readonly writtenBytes: number
  readonly passSeconds: number
}

export function compactionGauges(
  figures: CompactorFigures,
  logs: Iterable<SegmentedLog>,
  directories: readonly { readonly path: string }[],
): CompactionGauges {
  const uncleanable = [...logs].filter(log => log.compaction.isUncleanable && log.config.isCompacted)
  const { latest } = figures
  // What was read to index keys does not count, as in Kafka.
  const read = latest.reduce((sum, one) => sum + one.filteredBytes, 0)
  const written = latest.reduce((sum, one) => sum + one.writtenBytes, 0)
  return {
    uncleanable: directories.map(({ path }) => {
      const inside = uncleanable.filter(log => log.directory.path === path)
      return { path, partitions: inside.length, bytes: inside.reduce((sum, log) => sum + log.compaction.dirtyBytes, 0) }
    }),
    maxDirtyPercent: Math.floor(100 * figures.maxDirtyRatio),
    sinceLastLookMs: Math.floor(figures.sinceLastLookMs),
    recopyPercent: read === 0 ? 0 : Math.floor((100 * written) / read),
    maxBufferUtilizationPercent: Math.floor(100 * Math.max(0, ...latest.map(one => one.mapUtilization))),
    maxPassSeconds: Math.floor(Math.max(0, ...latest.map(one => one.durationMs)) / 1000),
    maxDelaySeconds: Math.floor(figures.maxOverdueMs / 1000),
    passes: figures.passes,
    readBytes: figures.readBytes,
    writtenBytes: figures.writtenBytes,
    passSeconds: figures.durationMs / 1000,
  }
}
