import type { CompactionGauges } from '../../metrics/compaction-gauges.ts'
import { counter, gauge, labels, type MetricFamily, oneCounter, oneGauge } from '../metric-family.ts'
import type { Uncleanable } from '../scrape.ts'

const cleaner = 'kafka_log_logcleaner'
const manager = 'kafka_log_logcleanermanager'

export const compactionFamilies: readonly MetricFamily[] = [
  one(`${cleaner}_cleaner_recopy_percent`, 'Written of what was read, latest passes.', all => all.recopyPercent),
  one(
    `${cleaner}_max_buffer_utilization_percent`,
    'How full the map of keys was, latest passes.',
    all => all.maxBufferUtilizationPercent,
  ),
  one(`${cleaner}_max_clean_time_secs`, 'Seconds of the longest of the latest passes.', all => all.maxPassSeconds),
  one(
    `${cleaner}_max_compaction_delay_secs`,
    'How much later than max.compaction.lag.ms the last pass came.',
    all => all.maxDelaySeconds,
  ),
  one(
    `${cleaner}_deadthreadcount`,
    'Always 0: whatever ends a thread of compaction, another takes its place.',
    () => 0,
  ),
  one(`${manager}_max_dirty_percent`, 'Of the dirtiest log at the last look.', all => all.maxDirtyPercent),
  one(`${manager}_time_since_last_run_ms`, 'Since logs were looked at.', all => all.sinceLastLookMs),
  uncleanable('partitions_count', 'Partitions that cannot be compacted.', all => all.partitions),
  uncleanable('bytes', 'Dirty bytes of such partitions.', all => all.bytes),
  oneCounter('millrace_compaction_runs_total', 'Passes that came through.', ({ compaction }) => compaction.passes),
  counter('millrace_compaction_bytes_total', 'Bytes that passes read and wrote.', ({ compaction }) => [
    [labels({ direction: 'read' }), compaction.readBytes],
    [labels({ direction: 'written' }), compaction.writtenBytes],
  ]),
  oneCounter(
    'millrace_compaction_seconds_total',
    'Seconds that passes took.',
    ({ compaction }) => compaction.passSeconds,
  ),
]

function one(name: string, help: string, value: (gauges: CompactionGauges) => number): MetricFamily {
  return oneGauge(name, help, ({ compaction }) => value(compaction))
}

function uncleanable(name: string, help: string, value: (all: Uncleanable) => number): MetricFamily {
  return gauge(`${manager}_uncleanable_${name}`, help, scrape =>
    scrape.source.logDirectories().map(({ path }) => {
      const all = scrape.uncleanable.get(path)
      return [labels({ logDirectory: path }), all === undefined ? 0 : value(all)] as const
    }),
  )
}
