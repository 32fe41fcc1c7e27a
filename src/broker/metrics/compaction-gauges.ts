import type { CompactorFigures } from '../../storage/compaction/compactor.ts'

/** What a scrape reads of compaction. Percentages and seconds as Kafka's metrics have them. */
export interface CompactionGauges {
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

export function compactionGauges(figures: CompactorFigures): CompactionGauges {
  const { latest } = figures
  // What was read to index keys does not count, as in Kafka.
  const read = latest.reduce((sum, one) => sum + one.filteredBytes, 0)
  const written = latest.reduce((sum, one) => sum + one.writtenBytes, 0)
  return {
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
