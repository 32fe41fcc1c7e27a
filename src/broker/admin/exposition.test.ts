import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../io/clock.ts'
import { BrokerMetrics } from '../metrics/broker-metrics.ts'
import { Exposition } from './exposition.ts'
import type { MetricsSource, PartitionGauges } from './metrics-source.ts'

const compaction = {
  ...{ maxDirtyPercent: 0, sinceLastLookMs: 0, recopyPercent: 0, maxBufferUtilizationPercent: 0, maxPassSeconds: 0 },
  ...{ maxDelaySeconds: 0, passes: 0, readBytes: 0, writtenBytes: 0, passSeconds: 0 },
}
const controller = {
  ...{ isActive: true, topics: 0, partitions: 0, offlinePartitions: 0, notLedByPreferred: 0, uncleanElections: 0 },
  ...{ activeBrokers: 1, fencedBrokers: 0, lastAppliedOffset: 0, lastCommittedOffset: 0, leaderId: 1, leaderEpoch: 1 },
  ...{ logEndOffset: 0, highWatermark: 0 },
}

function partition(about: Partial<PartitionGauges>): PartitionGauges {
  return {
    ...{ topic: 't', partition: 0, directory: '/data', isOffline: false, isLed: true, isReassigning: false },
    ...{ logStartOffset: 0, logEndOffset: 0, highWatermark: 0, lastStableOffset: 0, sizeBytes: 0, segmentCount: 1 },
    ...{ replicaCount: 1, isrCount: 1, minInsyncReplicas: 1, leaderId: 1, isPreferredLeader: true },
    uncleanableBytes: undefined,
    ...about,
  }
}

function sourceOf(partitions: () => Iterable<PartitionGauges>, about: Partial<MetricsSource> = {}): MetricsSource {
  return {
    counters: new BrokerMetrics(),
    brokerState: () => 3,
    partitions,
    unmadePartitions: () => 0,
    groups: async () => [],
    connections: () => [],
    fetchSessions: () => ({ count: 0, evictions: 0 }),
    waiting: () => ({ produce: 0, fetch: 0 }),
    memory: () => ({ usedBytes: 0, capacityBytes: 1 }),
    logDirectories: () => [{ path: '/data', isOffline: false }],
    compaction: () => compaction,
    controller: () => controller,
    build: { version: '1.2.3', node: '26.0.0' },
    loopIdle: () => 0.5,
    diskTraffic: () => ({ readBytes: 7, writtenBytes: 8 }),
    broker: () => ({ nodeId: 1, host: 'here', port: 9092, brokerCount: 1 }),
    ...about,
  }
}

/** A millisecond passes with each look at it. */
class LookedAtClock implements Clock {
  rests = 0
  #ms = 0

  now() {
    return { monotonicMs: this.#ms++, wallMs: 0 }
  }

  async yieldTurn() {
    this.rests++
  }

  after(): never {
    throw new Error('nothing is waited for')
  }

  nextTurn(): never {
    throw new Error('nothing is waited for')
  }
}

async function textOf(source: MetricsSource, clock = new LookedAtClock()): Promise<string> {
  let text = ''
  for await (const piece of new Exposition(source, clock).pieces()) text += piece
  return text
}

async function valuesOf(source: MetricsSource): Promise<Map<string, number>> {
  const lines = (await textOf(source)).split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Map(lines.map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

test('a scrape walks through ten thousand partitions once, and lets others run all the time', async () => {
  const count = 10_000
  let walks = 0
  let read = 0
  const clock = new LookedAtClock()
  const source = sourceOf(function* () {
    walks++
    for (let index = 0; index < count; index++) {
      read++
      yield partition({ partition: index, sizeBytes: index })
    }
  })
  const exposition = new Exposition(source, clock)
  let [largest, lines, restsBefore] = [0, 0, 0]
  for await (const piece of exposition.pieces()) {
    if (lines > 0) assert.ok(clock.rests > restsBefore || piece.length < 100_000, 'it rests between two pieces')
    restsBefore = clock.rests
    largest = Math.max(largest, piece.length)
    lines += piece.split('\n').length - 1
  }
  assert.deepEqual([walks, read], [1, count])
  assert.ok(lines > 17 * count, `${lines} lines`)
  // Five looks at the clock make a slice: one look for each partition read, and one for every 64 lines written.
  assert.ok(clock.rests > count / 6 + lines / (64 * 6), `${clock.rests} rests`)
  assert.ok(largest < 100_000, `a piece of ${largest} characters`)
})

test('each family has its head once, before its series, and labels are escaped', async () => {
  const path = 'a "quoted"\nback\\slash'
  const text = await textOf(sourceOf(() => [], { logDirectories: () => [{ path, isOffline: true }] }))
  const heads = text.split('\n').filter(line => line.startsWith('# TYPE '))
  const names = heads.map(line => line.split(' ')[2])
  assert.equal(new Set(names).size, names.length)
  assert.ok(
    text.includes(`# TYPE kafka_log_logmanager_logdirectoryoffline gauge
kafka_log_logmanager_logdirectoryoffline{logDirectory="a \\"quoted\\"\\nback\\\\slash"} 1
`),
  )
  const known = new Set(names)
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    assert.match(line, /^[a-zA-Z_:][a-zA-Z0-9_:]*(\{[^\n]*\})? (-?[0-9.e+-]+|[+-]Inf|NaN)$/i)
    const [name] = line.split(/[{ ]/)
    assert.ok(known.has(name) || known.has(name.replace(/_(sum|count|bucket)$/, '')), name)
  }
})

test('partitions are counted by what they are, and the in-sync replicas of those that are led here only', async () => {
  const prefix = 'kafka_server_replicamanager_'
  const few = { replicaCount: 3, isrCount: 1, minInsyncReplicas: 2 }
  const values = await valuesOf(
    sourceOf(
      () => [
        partition({ partition: 0 }),
        partition({ partition: 1, ...few }),
        partition({ partition: 2, ...few, isLed: false, leaderId: 2 }),
        partition({ partition: 3, isOffline: true, isLed: false, leaderId: -1 }),
        partition({ partition: 4, isReassigning: true }),
        partition({ partition: 5, isReassigning: true, isLed: false, leaderId: 2 }),
      ],
      { unmadePartitions: () => 2 },
    ),
  )
  const counts = ['leadercount', 'partitioncount', 'offlinereplicacount', 'underreplicatedpartitions']
    .concat('underminisrpartitioncount', 'atminisrpartitioncount', 'reassigningpartitions')
    .map(name => values.get(prefix + name))
  assert.deepEqual(counts, [3, 8, 3, 1, 1, 2, 1])
  assert.equal(values.get('kafka_topic_partitions{topic="t"}'), 3)
  const ofOthers = [...values.keys()].filter(key => /^kafka_topic_partition_.*partition="2"/.test(key))
  assert.deepEqual(ofOthers, [])
  assert.equal(values.get('kafka_cluster_partition_underreplicated{topic="t",partition="2"}'), 0)
})

test('what became of changes of the in-sync replicas, of elections, and of the loop is shown', async () => {
  const source = sourceOf(() => [], {
    controller: () => ({ ...controller, notLedByPreferred: 4, uncleanElections: 5, offlinePartitions: 6 }),
  })
  Object.assign(source.counters.isrUpdates, { shrunk: 1, expanded: 2, failed: 3 })
  const values = await valuesOf(source)
  for (const [name, value] of [
    ['kafka_server_replicamanager_isrshrinks_total', 1],
    ['kafka_server_replicamanager_isrexpands_total', 2],
    ['kafka_server_replicamanager_failedisrupdates_total', 3],
    ['kafka_controller_kafkacontroller_preferredreplicaimbalancecount', 4],
    ['kafka_controller_controllerstats_uncleanleaderelections_total', 5],
    ['kafka_controller_kafkacontroller_offlinepartitionscount', 6],
    ['kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent', 0.5],
    ['kafka_network_socketserver_networkprocessoravgidle_percent', 0.5],
    ['kafka_server_kafkaserver_linux_disk_read_bytes', 7],
    ['kafka_server_kafkaserver_linux_disk_write_bytes', 8],
    ['millrace_build_info{version="1.2.3",node="26.0.0"}', 1],
  ] as const) {
    assert.equal(values.get(name), value, name)
  }
})

test('what the machine does not tell is not shown as nothing', async () => {
  const values = await valuesOf(sourceOf(() => [], { diskTraffic: () => undefined }))
  assert.deepEqual(
    [...values.keys()].filter(key => key.includes('linux_disk')),
    [],
  )
})
