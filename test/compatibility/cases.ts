import { parseArgs } from 'node:util'
import { brokerSettings, type Case, CaseWorld } from './cases/case.ts'
import { fetchCases } from './cases/fetching.ts'
import { groupCases } from './cases/grouping.ts'
import { produceCases } from './cases/producing.ts'
import { refusalCases } from './cases/refusing.ts'
import { exitOnSignals } from './child-process.ts'
import { KafkaOracle } from './kafka/kafka-oracle.ts'
import { MillraceProcess } from './millrace-process.ts'
import { MissingTool } from './missing-tool.ts'
import { explain, type Outcome, table, totals } from './report.ts'
import { Tap } from './tap.ts'
import { inDirectory } from './temporary-directory.ts'

const USAGE = `What other people's clients were once reported to suffer from, each with the client that it was, or a close relative.

  node test/compatibility/cases.ts --target kafka|millrace [options]

  --only TEXT     cases whose name contains it; may be repeated
  --client NAME   only this client's; may be repeated
  --strict        a client whose toolchain is missing fails (also with CI=true); otherwise it is skipped

A case that fails against Kafka is wrong; run it there first. test/README.md lists them.
`

const all: readonly Case[] = [...produceCases, ...fetchCases, ...groupCases, ...refusalCases]

exitOnSignals()
const { values: options } = parseArgs({
  options: {
    target: { type: 'string', default: 'millrace' },
    only: { type: 'string', multiple: true },
    client: { type: 'string', multiple: true },
    strict: { type: 'boolean', default: process.env.CI === 'true' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (options.help || !['kafka', 'millrace'].includes(options.target)) {
  process.stdout.write(USAGE)
  process.exit(options.help ? 0 : 2)
}
const outcomes = await runAll()
console.log(`\n${table(outcomes)}\n`)
console.log(totals(outcomes))
process.exit(outcomes.some(({ result }) => result === 'failed') || outcomes.length === 0 ? 1 : 0)

async function runAll(): Promise<Outcome[]> {
  const found: Outcome[] = []
  await inDirectory('cases', async dir => {
    await using tap = await Tap.open()
    const settings = { ...brokerSettings, 'advertised.listeners': `PLAINTEXT://${tap.bootstrap}` }
    await using broker =
      options.target === 'kafka'
        ? await KafkaOracle.start({ dir, properties: settings })
        : await MillraceProcess.start({ dir, overrides: settings })
    tap.targetPort = Number(broker.bootstrap.split(':')[1])
    const world = new CaseWorld(broker, tap, dir)
    for (const one of all) {
      if (options.client !== undefined && !options.client.includes(one.client)) continue
      if (options.only !== undefined && !options.only.some(text => one.name.includes(text))) continue
      if (one.target === undefined || one.target === options.target) found.push(await runOne(one, world))
    }
    await broker.stop()
  })
  return found
}

async function runOne({ name, client, run }: Case, world: CaseWorld): Promise<Outcome> {
  const began = performance.now()
  let detail: readonly string[]
  let isSkipped = false
  try {
    detail = await run(world)
  } catch (error) {
    isSkipped = error instanceof MissingTool && !options.strict
    detail = [error instanceof Error ? (error.stack ?? error.message) : String(error)]
  }
  const seconds = (performance.now() - began) / 1000
  const result = isSkipped ? 'skipped' : detail.length === 0 ? 'passed' : 'failed'
  const outcome: Outcome = { client, scenario: name, result, seconds, detail }
  console.log(result === 'passed' ? `${name}, ${client}: passed in ${seconds.toFixed(1)} s` : explain(outcome))
  return outcome
}
