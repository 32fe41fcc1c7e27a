import { parseArgs } from 'node:util'
import { exitOnSignals } from './child-process.ts'
import { inDirectory } from './temporary-directory.ts'
import { type Journey, type Name, travel } from './travel.ts'

const USAGE = `One broker's data directory, opened by the other and taken back.

  node test/compatibility/directories.ts --from kafka|millrace --to kafka|millrace [--quorum static]
  node test/compatibility/directories.ts --all | --sample

Fills a broker, stops it, has kafka-dump-log read every file, starts the other broker on the same directory, and compares
what it serves: records by both isolation levels, and where a group is. Then the first broker gets the directory back.

  --quorum static   a directory of Kafka's whose voters stand in the configuration: kraft.version 0
  --all             from Kafka, from Millrace, and from Kafka with a static quorum
  --sample          from Millrace, and from Kafka with a static quorum and not back; fewer records and files, read by kcat
`

const journeys = readOptions()
exitOnSignals()
let failed = 0
for (const journey of journeys) {
  const began = performance.now()
  const wrong = await inDirectory('directories', dir => travel(journey, dir))
  if (wrong.length > 0) failed++
  for (const line of wrong.slice(0, 40)) console.log(`  ${line}`)
  const { from, to, quorum = 'dynamic' } = journey
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`from ${from} (${quorum} quorum) to ${to}: ${wrong.length === 0 ? 'passed' : 'FAILED'} in ${seconds} s\n`)
}
console.log(`${journeys.length - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)

function readOptions(): readonly Journey[] {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const { values } = parseArgs({ options: { from: text, to: text, quorum: text, all: flag, sample: flag } })
  const { from, to, quorum = 'dynamic' } = values
  const statically = { from: 'kafka', to: 'millrace', quorum: 'static' } as const
  if (values.all) return [{ from: 'kafka', to: 'millrace' }, { from: 'millrace', to: 'kafka' }, statically]
  if (values.sample) {
    return [
      { from: 'millrace', to: 'kafka', isSample: true },
      { ...statically, isSample: true, isOneWay: true },
    ]
  }
  const known = (name: string | undefined): name is Name => name === 'kafka' || name === 'millrace'
  if (!known(from) || !known(to) || (quorum !== 'dynamic' && quorum !== 'static')) {
    process.stdout.write(USAGE)
    process.exit(2)
  }
  return [{ from, to, quorum }]
}
