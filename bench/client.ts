import { cpus, loadavg, release } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient } from '../src/client/index.ts'
import type { BrokerProcess } from '../test/compatibility/broker-process.ts'
import { exitOnSignals, runOrThrow } from '../test/compatibility/child-process.ts'
import { npmPackages } from '../test/compatibility/install.ts'
import { inDirectory } from '../test/compatibility/temporary-directory.ts'
import type { Took, Work } from './clients/work.ts'
import { inTurn, type Measured, significant } from './rounds.ts'
import { markdown, summarize } from './summary.ts'
import { KAFKA, millrace } from './system.ts'
import type { Figures, Metric } from './workload.ts'

const PARTITIONS = 6
const OURS = 'millrace'
const PEERS: Readonly<Record<string, string>> = { platformatic: '@platformatic/kafka', kafkajs: 'KafkaJS' }

interface Load {
  readonly name: string
  readonly title: string
  readonly sizeBytes: number
  readonly records: number
}

const LOADS: readonly Load[] = [
  { name: '100b', title: '100 B', sizeBytes: 100, records: 2_000_000 },
  { name: '1k', title: '1 KiB', sizeBytes: 1024, records: 500_000 },
]

const METRICS: readonly Metric[] = [
  { name: 'produce CPU', unit: 's/GB', better: 'less' },
  { name: 'produce throughput', unit: 'krecords/s', better: 'more' },
  { name: 'consume CPU', unit: 's/GB', better: 'less' },
  { name: 'consume throughput', unit: 'krecords/s', better: 'more' },
]

const USAGE = `The client beside other clients of Node: the same work against the same broker, in turns, each in a process of its own.

  node bench/client.ts [options]

  --pairs N           rounds that count (default 7), after one that does not
  --quick             a tenth of the load and three rounds: to see that it works, not to quote
  --only LOAD         ${LOADS.map(({ name }) => name).join(' or ')}; may be repeated
  --peer NAME         ${Object.keys(PEERS).join(' or ')} (default both); may be repeated
  --broker NAME       millrace (default) or kafka
`

const { values } = parseArgs({
  options: {
    pairs: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    peer: { type: 'string', multiple: true, default: Object.keys(PEERS) },
    broker: { type: 'string', default: 'millrace' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const loads = LOADS.filter(({ name }) => values.only === undefined || values.only.includes(name))
const isKnown = values.peer.every(name => Object.hasOwn(PEERS, name)) && /^(millrace|kafka)$/.test(values.broker)
if (values.help || loads.length === 0 || !isKnown) {
  process.stdout.write(USAGE)
  process.exit(values.help ? 0 : 2)
}
exitOnSignals()
const rounds = Number(values.pairs ?? (values.quick ? 3 : 7))
const before = loadavg()
const packages = new Map([[OURS, '']])
for (const peer of values.peer) packages.set(peer, await npmPackages(peer))
const system = values.broker === 'kafka' ? KAFKA : millrace('millrace')

const measured = await inDirectory('bench', async dir => {
  await using broker = await system.start(dir, { heap: ['-Xms1g', '-Xmx1g'] })
  return await measureAll(broker)
})
for (const peer of values.peer) console.log(`\n${markdown(summarize(measured, [peer, OURS]), [peer, OURS])}`)
const machine = `${cpus().length} × ${cpus()[0]?.model}, Linux ${release()}, Node ${process.version}`
const load = `load average ${before[0]?.toFixed(1)} before and ${loadavg()[0]?.toFixed(1)} after`
const quick = values.quick ? ', a tenth of the load' : ''
console.log(
  `\nMedians of ${rounds} rounds${quick}; in parentheses the least and the most. CPU is the client's. ${machine}; ${load}.`,
)

async function measureAll(broker: BrokerProcess): Promise<Measured[]> {
  const all = loads.map(load => {
    const workload = { name: load.name, title: load.title, metrics: METRICS }
    return { load, workload, figures: new Map<string, Figures[]>([...packages.keys()].map(name => [name, []])) }
  })
  for (let round = 0; round <= rounds; round++) {
    for (const { load, figures } of all) {
      for (const client of inTurn([...packages.keys()], round)) {
        const found = await measureClient(broker, client, load)
        const shown = Object.entries(found).map(([name, figure]) => `${name} ${significant(figure)}`)
        console.error(`${round === 0 ? 'warm-up' : `round ${round}`} ${load.name} ${client}: ${shown.join(', ')}`)
        if (round > 0) figures.get(client)!.push(found)
      }
    }
  }
  return all
}

async function measureClient(broker: BrokerProcess, client: string, load: Load): Promise<Figures> {
  const topic = `bench-${load.name}`
  await using admin = createClient({ bootstrapServers: broker.bootstrap })
  const [{ error }] = await admin.admin().createTopics([{ name: topic, partitions: PARTITIONS }])
  if (error !== undefined) throw error
  const records = Math.ceil((load.records * (values.quick ? 0.1 : 1)) / 1000) * 1000
  const gigabytes = (records * load.sizeBytes) / 1e9
  const work = (mode: Work['mode']): Promise<Took> =>
    runWork({
      ...{ client, packages: packages.get(client)!, bootstrap: broker.bootstrap, topic, mode, records },
      ...{ sizeBytes: load.sizeBytes, partitions: PARTITIONS },
    })
  const produced = await work('produce')
  const consumed = await work('consume')
  await admin.admin().deleteTopics([topic])
  return {
    'produce CPU': produced.cpuSeconds / gigabytes,
    'produce throughput': records / produced.seconds / 1000,
    'consume CPU': consumed.cpuSeconds / gigabytes,
    'consume throughput': records / consumed.seconds / 1000,
  }
}

async function runWork(work: Work): Promise<Took> {
  const script = join(import.meta.dirname, 'clients', 'work.ts')
  return JSON.parse(await runOrThrow(process.execPath, [script, JSON.stringify(work)])) as Took
}
