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
  readonly transactions?: PlannedTransactions | undefined
  /** How long faults go on, in simulated time. */
  readonly safetyMs: number
}

export interface PlannedTopic {
  readonly name: string
  readonly partitions: number
  readonly config: Readonly<Record<string, string>>
  /** It is deleted and made anew while others use it. */
  readonly isMortal: boolean
  /** Its records have keys, and it is compacted all the time. */
  readonly isCompacted?: boolean
}

export interface PlannedClients {
  readonly idempotent: number
  /** Asks for more producer ids than a block of them has. */
  readonly idCollectors?: number
  readonly plain: number
  readonly assigned: number
  readonly members: number
  /** Of the members, how many are static. */
  readonly staticMembers: number
  readonly libraryProducers: number
  readonly libraryReaders: number
  readonly libraryMembers: number
  readonly thinkMs: number
  readonly maxValueBytes: number
  /** Values are of this length; undefined: of any. */
  readonly evenValueBytes?: number | undefined
  readonly hasWildTimestamps: boolean
  readonly sessionTimeoutMs: number
  readonly admin: PlannedAdmin | undefined
}

/** Of a topic of its own, which no other client uses. */
export interface PlannedTransactions {
  readonly topic: PlannedTopic
  readonly readers: number
  readonly thinkMs: number
}

export interface PlannedAdmin {
  readonly thinkMs: number
  readonly deleteRecordsRate: number
  readonly settings: readonly (readonly [string, readonly string[]])[]
}

/** How often things happen: the mean time between two of a kind, in milliseconds; undefined: never. */
export interface PlannedFaults {
  readonly killMs: number | undefined
  readonly powerCutMs: number | undefined
  readonly restartMs: number | undefined
  /** Chance that a process that has just begun ends again at once. */
  readonly earlyEndRate: number
  readonly resetMs: number | undefined
  readonly partitionMs: number | undefined
  readonly silenceMs: number | undefined
  readonly latencyMs: number | undefined
  readonly stallMs: number | undefined
  readonly fullDiskMs: number | undefined
  /** The file system takes no more changes, as after an error of its own. */
  readonly readOnlyMs?: number | undefined
  readonly readErrorMs: number | undefined
  readonly syncErrorMs: number | undefined
  readonly pauseMs: number | undefined
  readonly clockStepMs: number | undefined
  readonly clientCrashMs: number | undefined
  readonly clientPauseMs: number | undefined
  /** Chance that bytes are damaged while the broker is down. */
  readonly flipRate: number
  /** Bytes that the broker has not read yet are damaged while it runs. */
  readonly rotMs: number | undefined
}

export function drawPlan(seed: string | number): Plan {
  const random = new SeededRandom(String(seed), 'plan')
  const collectors = new SeededRandom(String(seed), 'collectors')
  const later = new SeededRandom(String(seed), 'later plan')
  // A stream of its own: what else a seed draws does not depend on it.
  const compaction = new SeededRandom(String(seed), 'compaction')
  const flush = random.pick(['async', 'ack'] as const)
  const logDirs = Array.from({ length: random.pick([1, 1, 2, 3]) }, (_, number) => `/disk/data-${number + 1}`)
  const hasWildTimestamps = random.chance(0.1)
  const sizes = new SeededRandom(String(seed), 'sizes')
  return {
    seed: String(seed),
    flush,
    logDirs,
    overrides: [...drawOverrides(random), ...drawCompactorOverrides(compaction)],
    topics: drawTopics(random, hasWildTimestamps).map(topic => drawCompaction(compaction, topic)),
    clients: {
      ...drawClients(random, hasWildTimestamps),
      idCollectors: collectors.chance(0.1) ? 1 : 0,
      evenValueBytes: sizes.chance(0.3) ? sizes.pick([40, 100]) : undefined,
    },
    faults: drawFaults(random, later),
    safetyMs: random.between(15_000, 40_000),
    transactions: drawTransactions(new SeededRandom(String(seed), 'transactions')),
  }
}

/** All that there are from the start. */
export function plannedTopics({ topics, transactions }: Plan): readonly PlannedTopic[] {
  return transactions === undefined ? topics : [...topics, transactions.topic]
}

function drawTransactions(random: SeededRandom): PlannedTransactions | undefined {
  if (!random.chance(0.3)) return undefined
  const config = {
    ...drawTopicConfig(random, false),
    'internal.segment.bytes': String(random.pick([500, 2000, 16_384])),
  }
  const topic = { name: 'transactions', partitions: random.between(1, 2), config, isMortal: false }
  return {
    topic: drawCompaction(random, topic),
    readers: random.between(0, 2),
    thinkMs: random.pick([20, 100]),
  }
}

/** Settings of the broker, many of them as small as they can be, so that what is rare elsewhere happens all the time. */
function drawOverrides(random: SeededRandom): string[] {
  const never = 9_223_372_036_854_775_807n
  return [
    `log.index.interval.bytes=${random.pick([0, 64, 512, 4096])}`,
    `log.index.size.max.bytes=${random.pick([24, 120, 10_485_760])}`,
    `log.segment.delete.delay.ms=${random.pick([0, 100, 60_000])}`,
    `log.flush.offset.checkpoint.interval.ms=${random.pick([500, 5000, 60_000])}`,
    `log.flush.start.offset.checkpoint.interval.ms=${random.pick([500, 5000, 60_000])}`,
    `replica.high.watermark.checkpoint.interval.ms=${random.pick([500, 5000])}`,
    `log.retention.check.interval.ms=${random.pick([500, 3000, 300_000])}`,
    `log.flush.interval.messages=${random.pick([1, 10, never, never])}`,
    `max.incremental.fetch.session.cache.slots=${random.pick([0, 2, 1000])}`,
    `metadata.log.max.record.bytes.between.snapshots=${random.pick([200, 2000, 20_971_520])}`,
    `internal.metadata.log.segment.bytes=${random.pick([1000, 10_000, 1_073_741_824])}`,
    `millrace.scrub.bytes.per.second=${random.pick([0, 10_000, 4_194_304])}`,
    `offsets.topic.num.partitions=${random.pick([1, 3])}`,
    `offsets.retention.check.interval.ms=${random.pick([1000, 600_000])}`,
    `group.initial.rebalance.delay.ms=${random.pick([0, 500])}`,
    `group.min.session.timeout.ms=100`,
    'socket.request.max.bytes=2000000',
    `queued.max.request.bytes=${random.pick([-1, 2_000_000])}`,
  ]
}

/** Passes come often. Sometimes the groups' topic has many segments, too. */
function drawCompactorOverrides(random: SeededRandom): string[] {
  const overrides = [
    `log.cleaner.backoff.ms=${random.pick([50, 500])}`,
    `log.cleaner.threads=${random.pick([1, 2])}`,
    `log.cleaner.io.buffer.size=${random.pick([4096, 524_288])}`,
    `log.cleaner.io.max.bytes.per.second=${random.pick([30_000, 1e9, 1e9])}`,
  ]
  if (random.chance(0.5)) overrides.push('log.roll.ms=500', 'log.cleaner.min.cleanable.ratio=0.01')
  return overrides
}

function drawCompaction(random: SeededRandom, topic: PlannedTopic): PlannedTopic {
  if (!random.chance(0.35)) return topic
  const config: Record<string, string> = {
    ...topic.config,
    'cleanup.policy': random.chance(0.25) ? 'compact,delete' : 'compact',
    'internal.segment.bytes': String(random.pick([500, 2000, 16_384])),
    'segment.ms': String(random.pick([300, 2000, 604_800_000])),
    'min.cleanable.dirty.ratio': String(random.pick([0.01, 0.3])),
    'delete.retention.ms': String(random.pick([0, 4000, 10_000])),
  }
  if (random.chance(0.2)) config['min.compaction.lag.ms'] = String(random.pick([500, 3000]))
  if (random.chance(0.2)) config['max.compaction.lag.ms'] = String(random.pick([3000, 6000]))
  return { ...topic, config, isCompacted: true }
}

function drawTopics(random: SeededRandom, hasWildTimestamps: boolean): PlannedTopic[] {
  return Array.from({ length: random.between(1, 3) }, (_, number) => {
    const isMortal = number > 0 && random.chance(0.5)
    const config = drawTopicConfig(random, hasWildTimestamps)
    return { name: `topic-${number + 1}`, partitions: random.between(1, 3), config, isMortal }
  })
}

function drawTopicConfig(random: SeededRandom, hasWildTimestamps: boolean): Record<string, string> {
  const config: Record<string, string> = {
    'internal.segment.bytes': String(random.pick([200, 1024, 4096, 16_384, 65_536, 1_048_576])),
  }
  if (random.chance(0.2)) config['retention.bytes'] = String(random.pick([2000, 20_000]))
  if (random.chance(0.15)) config['retention.ms'] = String(random.pick([3000, 20_000]))
  if (random.chance(0.2)) config['segment.ms'] = String(random.pick([500, 5000]))
  if (random.chance(0.15)) config['message.timestamp.type'] = 'LogAppendTime'
  if (random.chance(0.2)) config['compression.type'] = random.pick(['gzip', 'snappy', 'lz4', 'zstd', 'uncompressed'])
  if (hasWildTimestamps) {
    config['message.timestamp.before.max.ms'] = '9223372036854775807'
    config['message.timestamp.after.max.ms'] = '9223372036854775807'
  }
  return config
}

function drawClients(random: SeededRandom, hasWildTimestamps: boolean): PlannedClients {
  const members = random.pick([0, 0, 1, 2, 3])
  return {
    idempotent: random.between(1, 2),
    plain: random.between(0, 2),
    assigned: random.between(0, 2),
    members,
    staticMembers: random.chance(0.3) ? random.below(members + 1) : 0,
    libraryProducers: random.pick([0, 0, 1]),
    libraryReaders: random.pick([0, 0, 1]),
    libraryMembers: random.pick([0, 0, 0, 1, 2]),
    thinkMs: random.pick([20, 60, 200]),
    maxValueBytes: random.pick([50, 3000, 3000, 100_000]),
    hasWildTimestamps,
    sessionTimeoutMs: random.pick([500, 2000, 6000]),
    admin: random.chance(0.5) ? drawAdmin(random) : undefined,
  }
}

const changedSettings: readonly (readonly [string, readonly string[]])[] = [
  ['internal.segment.bytes', ['200', '4096', '1048576']],
  ['compression.type', ['producer', 'gzip', 'zstd', 'lz4', 'snappy', 'uncompressed']],
  ['message.timestamp.type', ['CreateTime', 'LogAppendTime']],
  ['max.message.bytes', ['1000', '1048588']],
  ['flush.messages', ['1', '9223372036854775807']],
  ['index.interval.bytes', ['0', '4096']],
  ['segment.index.bytes', ['24', '10485760']],
]

function drawAdmin(random: SeededRandom): PlannedAdmin {
  return {
    thinkMs: random.pick([500, 3000]),
    deleteRecordsRate: random.pick([0, 0.3]),
    settings: random.chance(0.5) ? random.shuffled(changedSettings).slice(0, random.between(1, 4)) : [],
  }
}

/** `later` is for what was added later, so that the same seeds go on to draw what they did. */
function drawFaults(random: SeededRandom, later: SeededRandom): PlannedFaults {
  const every = (low: number, high: number, chance = 0.4) =>
    random.chance(chance) ? random.between(low, high) : undefined
  const powerCutMs = every(2000, 20_000)
  return {
    killMs: every(2000, 20_000),
    powerCutMs,
    restartMs: every(5000, 30_000),
    earlyEndRate: random.pick([0, 0, 0.3]),
    resetMs: every(500, 10_000),
    partitionMs: every(3000, 20_000, 0.25),
    silenceMs: every(3000, 20_000, 0.15),
    latencyMs: every(2000, 10_000, 0.25),
    stallMs: every(3000, 20_000, 0.25),
    fullDiskMs: every(5000, 20_000, 0.15),
    readErrorMs: every(5000, 20_000, 0.15) ?? (later.chance(0.15) ? later.between(5000, 20_000) : undefined),
    syncErrorMs: every(8000, 30_000, 0.15),
    pauseMs: every(5000, 20_000, 0.2),
    clockStepMs: every(3000, 20_000, 0.15),
    clientCrashMs: every(2000, 15_000),
    clientPauseMs: every(3000, 15_000, 0.25),
    flipRate: random.chance(0.2) ? 0.5 : 0,
    rotMs: later.chance(0.15) ? later.between(2000, 10_000) : undefined,
    readOnlyMs: later.chance(0.15) ? later.between(5000, 20_000) : undefined,
  }
}
