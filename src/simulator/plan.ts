import { SeededRandom } from './io/seeded-random.ts'

/** What one run is like, drawn from its seed before it begins: each family of faults is on or off, and how strong. */
export interface Plan {
  readonly seed: string
  readonly flush: 'async' | 'ack'
  readonly logDirs: readonly string[]
  /** KEY=VALUE for the broker. */
  readonly overrides: readonly string[]
  readonly topics: readonly PlannedTopic[]
  readonly clients: PlannedClients
  readonly faults: PlannedFaults
  /** How long faults go on, in simulated time. */
  readonly safetyMs: number
}

export interface PlannedTopic {
  readonly name: string
  readonly partitions: number
  readonly config: Readonly<Record<string, string>>
}

export interface PlannedClients {
  readonly idempotent: number
  readonly plain: number
  readonly assigned: number
}

/** How often things happen: the mean time between two of a kind, in milliseconds; undefined: never. */
export interface PlannedFaults {
  readonly killEveryMs: number | undefined
  readonly powerCutEveryMs: number | undefined
  readonly restartEveryMs: number | undefined
  readonly resetEveryMs: number | undefined
}

export function drawPlan(seed: string | number): Plan {
  const random = new SeededRandom(String(seed), 'plan')
  const flush = random.pick(['async', 'ack'] as const)
  const logDirs = Array.from({ length: random.pick([1, 1, 2, 3]) }, (_, number) => `/disk/data-${number + 1}`)
  return {
    seed: String(seed),
    flush,
    logDirs,
    overrides: drawOverrides(random),
    topics: drawTopics(random),
    clients: { idempotent: random.between(1, 2), plain: random.between(0, 2), assigned: random.between(1, 2) },
    faults: drawFaults(random),
    safetyMs: 30_000,
  }
}

/** Settings of the broker, many of them as small as they can be, so that what is rare elsewhere happens all the time. */
function drawOverrides(random: SeededRandom): string[] {
  return [
    `log.index.interval.bytes=${random.pick([0, 64, 512, 4096])}`,
    `log.index.size.max.bytes=${random.pick([24, 120, 10_485_760])}`,
    `log.segment.delete.delay.ms=${random.pick([0, 100, 60_000])}`,
    `log.flush.offset.checkpoint.interval.ms=${random.pick([500, 5000, 60_000])}`,
    `log.flush.start.offset.checkpoint.interval.ms=${random.pick([500, 5000, 60_000])}`,
    `replica.high.watermark.checkpoint.interval.ms=${random.pick([500, 5000])}`,
    `log.retention.check.interval.ms=${random.pick([500, 3000, 300_000])}`,
    `log.flush.interval.messages=${random.pick([1, 10, 9_223_372_036_854_775_807n, 9_223_372_036_854_775_807n])}`,
    `max.incremental.fetch.session.cache.slots=${random.pick([0, 2, 1000])}`,
    `metadata.log.max.record.bytes.between.snapshots=${random.pick([200, 2000, 20_971_520])}`,
    `internal.metadata.log.segment.bytes=${random.pick([1000, 10_000, 1_073_741_824])}`,
    `millrace.scrub.bytes.per.second=${random.pick([0, 10_000, 4_194_304])}`,
    `offsets.topic.num.partitions=${random.pick([1, 3])}`,
    `offsets.topic.segment.bytes=${random.pick([1000, 10_000, 104_857_600])}`,
  ]
}

function drawTopics(random: SeededRandom): PlannedTopic[] {
  return Array.from({ length: random.between(1, 2) }, (_, number) => {
    const config = { 'internal.segment.bytes': String(random.pick([1024, 4096, 16_384, 65_536, 1_048_576])) }
    return { name: `topic-${number + 1}`, partitions: random.between(1, 3), config }
  })
}

function drawFaults(random: SeededRandom): PlannedFaults {
  const every = (low: number, high: number) => (random.chance(0.5) ? random.between(low, high) : undefined)
  return {
    killEveryMs: every(3000, 20_000),
    powerCutEveryMs: every(3000, 20_000),
    restartEveryMs: every(5000, 30_000),
    resetEveryMs: every(1000, 10_000),
  }
}
