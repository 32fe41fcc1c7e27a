import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startBroker } from '../../../src/testing/index.ts'
import { exitOnSignals } from '../../compatibility/child-process.ts'
import { KafkaOracle } from '../../compatibility/kafka/kafka-oracle.ts'
import { compare, type Difference } from '../compare.ts'
import { Side, untilReady } from '../side.ts'
import { ConfigPlay } from './config-play.ts'
import { Dice } from './dice.ts'
import { FetchPlay } from './fetch-play.ts'
import { GroupPlay, TimedGroupPlay } from './group-play.ts'
import { TimePlay } from './time-play.ts'
import { TopicPlay } from './topic-play.ts'

const help = `The same requests, drawn by lot, to Apache Kafka 4.4 and to Millrace; says where answers differ.

  node test/differential/random/run.ts                      each play with some seeds
  node test/differential/random/run.ts --play groups        groups, timed, fetches, times, configs or topics
  node test/differential/random/run.ts --play groups --seed 7 --show    one of them, with all answers
  --seeds 20 --steps 40                                     how many, and how long
  --all                                                     every difference of a seed, not only the first
  --wording                                                 compares messages for people word by word too`

const plays = {
  groups: GroupPlay,
  timed: TimedGroupPlay,
  fetches: FetchPlay,
  times: TimePlay,
  configs: ConfigPlay,
  topics: TopicPlay,
}

const settings = {
  'broker.rack': 'rack-1',
  'offsets.topic.num.partitions': '3',
  'group.initial.rebalance.delay.ms': '0',
  'group.min.session.timeout.ms': '100',
}

/** Seeds that are played at the same time. */
const atOnce = 32

/** What each broker chooses as it likes, or means to answer otherwise (docs/kafka-compatibility.md). */
const meant: readonly RegExp[] = [
  // A leader among several, and a protocol with as many votes as another, are what a hash table has first in Kafka.
  /heard of its join.*\.(leader|protocolName)$/,
  /heard of its join.*\.members(\.|$)/,
  // Whoever waits for an assignment and is removed is told so; in Kafka the request is never answered.
  /leave.*: label$/,
]

exitOnSignals()
const { values } = parseArgs({
  options: {
    play: { type: 'string' },
    seed: { type: 'string' },
    seeds: { type: 'string', default: '20' },
    steps: { type: 'string', default: '40' },
    all: { type: 'boolean', default: false },
    wording: { type: 'boolean', default: false },
    show: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(help)
else process.exitCode = (await run()) ? 0 : 1

async function run(): Promise<boolean> {
  const dir = await mkdtemp(join(tmpdir(), 'millrace-random-'))
  await using kafka = await KafkaOracle.start({ dir, properties: settings })
  await using millrace = await startBroker({ overrides: settings })
  const brokers = [
    { name: 'kafka', port: Number(kafka.bootstrap.split(':')[1]) },
    { name: 'millrace', port: millrace.port },
  ]
  const first = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
  const seeds = Array.from(
    { length: values.seed === undefined ? Number(values.seeds) : 1 },
    (_, index) => first + index,
  )
  let differing = 0
  for (const [name, Play] of Object.entries(plays)) {
    if (values.play !== undefined && values.play !== name) continue
    const [ofKafka, ofMillrace] = [await playAll(Play, seeds, brokers[0]), await playAll(Play, seeds, brokers[1])]
    const found = seeds.filter((seed, index) => !tell(`${name}, seed ${seed}`, ofKafka[index], ofMillrace[index]))
    console.log(`${name}: ${seeds.length} seeds from ${first}, ${found.length} with differences`)
    differing += found.length
  }
  await kafka.stop()
  await rm(dir, { recursive: true })
  return differing === 0
}

async function playAll(
  Play: (typeof plays)[keyof typeof plays],
  seeds: readonly number[],
  { name, port }: { readonly name: string; readonly port: number },
): Promise<Side[]> {
  const open = (prefix: string) => Side.open({ name, port, prefix, wording: values.wording })
  const probe = await open('probe-')
  await untilReady(probe.client)
  probe.close()
  const stamp = Date.now().toString(36)
  const sides: Side[] = []
  const left = [...seeds.entries()]
  const one = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [index, seed] = next
      const side = await open(`p${seed}-${stamp}-`)
      sides[index] = side
      await new Play(side, new Dice(seed)).run(Number(values.steps))
      side.close()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  return sides
}

/** False when something differs that should not. What follows a meant difference means nothing: the plays go apart there. */
function tell(name: string, kafka: Side, millrace: Side): boolean {
  if (values.show) {
    for (const side of [kafka, millrace]) {
      for (const { label, answer } of side.told) console.log(side.name, label, JSON.stringify(answer))
    }
  }
  const differences = compare(name, kafka.told, millrace.told).filter(one => !isText(one))
  const found = values.all ? differences : differences.filter(({ label }) => label === differences[0].label)
  if (found.length === 0 || isMeant(found[0])) return true
  console.log(`\n${name}`)
  for (const one of found) {
    console.log(`  ${one.label}: ${one.path}\n    kafka    ${one.kafka}\n    millrace ${one.millrace}`)
  }
  return false
}

/** Kafka says why in some answers only, and sets min.insync.replicas for the cluster. */
function isText({ path }: Difference): boolean {
  return path.endsWith('.errorMessage') || path.includes('.configs[min.insync.replicas]')
}

function isMeant({ label, path }: Difference): boolean {
  return meant.some(one => one.test(`${label}: ${path}`))
}
