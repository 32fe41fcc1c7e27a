import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startBroker } from '../../src/testing/index.ts'
import { exitOnSignals } from '../compatibility/child-process.ts'
import { KafkaOracle } from '../compatibility/kafka/kafka-oracle.ts'
import { compare, type Difference } from './compare.ts'
import { reasonFor } from './deliberate.ts'
import { clusterScenarios } from './scenarios/cluster.ts'
import { groupScenarios } from './scenarios/groups.ts'
import { recordScenarios } from './scenarios/records.ts'
import type { Scenarios } from './scenarios/scenario.ts'
import { settingScenarios } from './scenarios/settings.ts'
import { topicScenarios } from './scenarios/topics.ts'
import { typicalScenarios } from './scenarios/typical.ts'
import { Side, untilReady } from './side.ts'

const help = `The same requests to Apache Kafka 4.4 and to Millrace, answers compared field by field.

  node test/differential/run.ts                       all scenarios
  node test/differential/run.ts --only 'Fetch'        those whose name contains it
  node test/differential/run.ts --deliberate          also shows where Millrace means to differ
  node test/differential/run.ts --wording             compares messages for people word by word too
  node test/differential/run.ts --show 'by id'        prints the whole answers under labels that contain it
  node test/differential/run.ts --kafka 9092          a Kafka that runs already, on this port`

/** What both are started with. */
const settings = {
  'broker.rack': 'rack-1',
  'offsets.topic.num.partitions': '3',
  'group.initial.rebalance.delay.ms': '0',
  'group.min.session.timeout.ms': '100',
}

const all: Scenarios = {
  ...typicalScenarios,
  ...topicScenarios,
  ...recordScenarios,
  ...groupScenarios,
  ...settingScenarios,
  ...clusterScenarios,
}

exitOnSignals()
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    deliberate: { type: 'boolean', default: false },
    wording: { type: 'boolean', default: false },
    show: { type: 'string' },
    kafka: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(help)
else process.exitCode = (await run()) ? 0 : 1

async function run(): Promise<boolean> {
  const dir = await mkdtemp(join(tmpdir(), 'millrace-differential-'))
  await using kafka = values.kafka === undefined ? await KafkaOracle.start({ dir, properties: settings }) : undefined
  const port = Number(values.kafka ?? kafka!.bootstrap.split(':')[1])
  await using millrace = await startBroker({ overrides: settings })
  const differences: Difference[] = []
  let answers = 0
  for (const [name, scenario] of Object.entries(all)) {
    if (!name.includes(values.only)) continue
    const prefix = `d${Date.now().toString(36)}-`
    const { wording } = values
    const sides = [
      await Side.open({ name: 'kafka', port, prefix, wording }),
      await Side.open({ name: 'millrace', port: millrace.port, prefix, wording }),
    ]
    for (const side of sides) {
      await untilReady(side.client)
      await scenario(side)
    }
    for (const side of sides) side.close()
    if (values.show !== undefined) for (const side of sides) show(side, values.show)
    answers += sides[1].told.length
    const found = compare(name, sides[0].told, sides[1].told)
    differences.push(...found)
    console.log(
      `${found.length === 0 ? '  ' : '! '}${name}: ${sides[1].told.length} answers, ${found.length} differences`,
    )
  }
  await kafka?.stop()
  await rm(dir, { recursive: true })
  return report(differences, answers)
}

function show(side: Side, text: string): void {
  for (const { label, answer } of side.told) {
    if (label.includes(text)) console.log(`${side.name} ${label}: ${JSON.stringify(answer)}`)
  }
}

function report(differences: readonly Difference[], answers: number): boolean {
  const unexpected = differences.filter(one => reasonFor(one) === undefined)
  for (const same of alike(values.deliberate ? differences : unexpected)) {
    const [one] = same
    const reason = reasonFor(one)
    console.log(`\n${one.scenario}: ${one.path}`)
    console.log(`  kafka    ${one.kafka}\n  millrace ${one.millrace}`)
    if (reason !== undefined) console.log(`  meant: ${reason}`)
    const labels = same.map(other => other.label)
    console.log(`  at: ${labels.slice(0, 8).join('; ')}${labels.length > 8 ? `; and ${labels.length - 8} more` : ''}`)
  }
  const meant = differences.length - unexpected.length
  console.log(`\n${answers} answers, ${meant} deliberate differences, ${unexpected.length} others`)
  return unexpected.length === 0
}

/** Differences that say the same about different requests of a scenario. */
function alike(differences: readonly Difference[]): Iterable<readonly Difference[]> {
  const keyOf = ({ scenario, path, kafka, millrace }: Difference) => {
    return [scenario, path.replaceAll(/\[[^\]]*\]/g, '[]'), kafka, millrace].join('\n')
  }
  return Map.groupBy(differences, keyOf).values()
}
