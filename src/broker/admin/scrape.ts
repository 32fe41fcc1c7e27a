import type { CompactionGauges } from '../metrics/compaction-gauges.ts'
import { labels } from './metric-family.ts'
import type { ControllerGauges, GroupGauges, MetricsSource, PartitionGauges } from './metrics-source.ts'
import type { Slices } from './slices.ts'

/** A partition with the text of its labels, which some twenty series of it share. */
export interface ScrapedPartition extends PartitionGauges {
  readonly labels: string
}

/** Of partitions on this broker; the counts of in-sync replicas are of those that it leads. */
export interface PartitionCounts {
  partitions: number
  led: number
  offline: number
  underReplicated: number
  underMinIsr: number
  atMinIsr: number
  reassigning: number
}

export interface Uncleanable {
  readonly partitions: number
  readonly bytes: number
}

/** What one scrape has read of a broker: every partition once, however many series show it. */
export interface Scrape {
  readonly source: MetricsSource
  readonly partitions: readonly ScrapedPartition[]
  readonly counts: Readonly<PartitionCounts>
  /** Partitions led here, by topic. */
  readonly ledByTopic: ReadonlyMap<string, number>
  /** By log directory. */
  readonly uncleanable: ReadonlyMap<string, Uncleanable>
  readonly groups: readonly GroupGauges[]
  readonly compaction: CompactionGauges
  readonly controller: ControllerGauges
}

export async function readScrape(source: MetricsSource, slices: Slices): Promise<Scrape> {
  const partitions: ScrapedPartition[] = []
  const unmade = source.unmadePartitions()
  const counts: PartitionCounts = {
    ...{ partitions: unmade, led: 0, offline: unmade },
    ...{ underReplicated: 0, underMinIsr: 0, atMinIsr: 0, reassigning: 0 },
  }
  const ledByTopic = new Map<string, number>()
  const uncleanable = new Map<string, Uncleanable>()
  for (const one of source.partitions()) {
    partitions.push({ ...one, labels: labels({ topic: one.topic, partition: one.partition }) })
    count(counts, one)
    if (one.isLed) ledByTopic.set(one.topic, (ledByTopic.get(one.topic) ?? 0) + 1)
    if (one.uncleanableBytes !== undefined) {
      const before = uncleanable.get(one.directory)
      uncleanable.set(one.directory, {
        partitions: (before?.partitions ?? 0) + 1,
        bytes: (before?.bytes ?? 0) + one.uncleanableBytes,
      })
    }
    if (slices.isOver) await slices.next()
  }
  const groups = await source.groups(slices)
  const { compaction, controller } = { compaction: source.compaction(), controller: source.controller() }
  return { source, partitions, counts, ledByTopic, uncleanable, groups, compaction, controller }
}

function count(counts: PartitionCounts, one: PartitionGauges): void {
  counts.partitions++
  if (one.isOffline) counts.offline++
  if (!one.isLed) return
  counts.led++
  if (isUnderReplicated(one)) counts.underReplicated++
  if (isUnderMinIsr(one)) counts.underMinIsr++
  if (isAtMinIsr(one)) counts.atMinIsr++
  if (one.isReassigning) counts.reassigning++
}

export function isUnderReplicated(one: PartitionGauges): boolean {
  return one.isLed && one.isrCount < one.replicaCount
}

export function isUnderMinIsr(one: PartitionGauges): boolean {
  return one.isLed && one.isrCount < one.minInsyncReplicas
}

export function isAtMinIsr(one: PartitionGauges): boolean {
  return one.isLed && one.isrCount === one.minInsyncReplicas
}
