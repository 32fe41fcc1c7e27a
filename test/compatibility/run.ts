import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type BrokerProcess, tail } from './broker-process.ts'
import { exitOnSignals } from './child-process.ts'
import { CLIENTS, type Client } from './clients.ts'
import { KafkaOracle } from './kafka/kafka-oracle.ts'
import { MillraceProcess } from './millrace-process.ts'
import { MissingTool } from './missing-tool.ts'
import { explain, type Outcome, table, totals } from './report.ts'
import { consumeByTime, consumeFromStart } from './scenarios/consume.ts'
import { group, resumeGroups } from './scenarios/group.ts'
import { produce } from './scenarios/produce.ts'
import { PARTITIONS, Subject } from './scenarios/subject.ts'
import { inDirectory } from './temporary-directory.ts'

const USAGE = `Other people's Kafka clients against a broker.

  node test/compatibility/run.ts --target kafka|millrace [options]

  --client NAME   only this client; may be repeated: ${CLIENTS.map(({ name }) => name).join(' ')}
  --sample        two codecs, one assignor, and the clients that install in seconds
  --all           everything (default)
  --jobs N        clients side by side (default 2)
  --strict        a client whose toolchain is missing fails (also with CI=true); otherwise it is skipped
  --json FILE     the outcomes as JSON too

A test that fails against Kafka is wrong; run it there first.
`

const options = readOptions()
exitOnSignals()
const outcomes = await runAll()
console.log(`\n${table(outcomes)}\n`)
console.log(totals(outcomes))
if (options.json !== undefined)
  writeFileSync(options.json, `${JSON.stringify({ target: options.target, outcomes }, null, 2)}\n`)
process.exit(outcomes.some(({ result }) => result === 'failed') || outcomes.length === 0 ? 1 : 0)

function readOptions() {
  const { values } = parseArgs({
    options: {
      target: { type: 'string', default: 'millrace' },
      client: { type: 'string', multiple: true },
      sample: { type: 'boolean', default: false },
      all: { type: 'boolean', default: false },
      jobs: { type: 'string', default: '2' },
      strict: { type: 'boolean', default: process.env.CI === 'true' },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const unknown = values.client?.find(name => !CLIENTS.some(client => client.name === name))
  const known = values.target === 'kafka' || values.target === 'millrace'
  if (values.help || unknown !== undefined || !known || (values.sample && values.all)) {
    process.stdout.write(USAGE)
    process.exit(values.help ? 0 : 2)
  }
  return values
}

function chosen(): readonly Client[] {
  if (options.client !== undefined) return CLIENTS.filter(({ name }) => options.client?.includes(name))
  return options.sample ? CLIENTS.filter(({ sampled }) => sampled) : CLIENTS
}

async function startTarget(dir: string): Promise<BrokerProcess> {
  const settings = { 'num.partitions': String(PARTITIONS) }
  if (options.target === 'kafka') return await KafkaOracle.start({ dir, properties: settings })
  return await MillraceProcess.start({ dir, overrides: settings })
}

async function runAll(): Promise<Outcome[]> {
  const found: Outcome[] = []
  const commands = await installAll(found)
  await inDirectory('compatibility', async dir => {
    await using broker = await startTarget(dir)
    const subjects = commands.map(({ client, command }) => new Subject(client, command, broker, options.sample))
    await eachOf(subjects, subject => runScenarios(subject, found))
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await broker.stop(signal)
      await broker.restart()
      const name = signal === 'SIGTERM' ? 'after restart' : 'after kill'
      await eachOf(subjects, subject => record(found, subject, name, () => runAgain(subject)))
    }
    await broker.stop()
    if (found.some(({ result }) => result === 'failed'))
      console.log(`\nThe broker's last words:\n${tail(broker.output())}`)
  })
  return found
}

async function runScenarios(subject: Subject, found: Outcome[]): Promise<void> {
  await record(found, subject, 'produce', () => produce(subject))
  await record(found, subject, 'from start', () => consumeFromStart(subject))
  await record(found, subject, 'by time', () => consumeByTime(subject))
  for (const assignor of subject.assignors) await record(found, subject, assignor, () => group(subject, assignor))
}

/** All that was there before the broker went down is there, and groups are where they were. */
async function runAgain(subject: Subject): Promise<string[]> {
  return [...(await consumeFromStart(subject)), ...(await resumeGroups(subject))]
}

/** One after another: installing is limited by the network and the compiler, and its errors should be easy to read. */
async function installAll(found: Outcome[]) {
  const commands = []
  for (const client of chosen()) {
    const began = performance.now()
    try {
      commands.push({ client, command: await client.install() })
    } catch (error) {
      const skip = error instanceof MissingTool && !options.strict
      const seconds = (performance.now() - began) / 1000
      const detail = [(error as Error).message]
      const outcome = {
        client: client.name,
        scenario: 'install',
        result: skip ? 'skipped' : 'failed',
        seconds,
        detail,
      } as const
      console.log(explain(outcome))
      found.push(outcome)
    }
  }
  return commands
}

async function record(
  found: Outcome[],
  { client }: Subject,
  scenario: string,
  run: () => Promise<string[]>,
): Promise<void> {
  const began = performance.now()
  let detail: string[]
  try {
    detail = await run()
  } catch (error) {
    detail = [error instanceof Error ? error.message : String(error)]
  }
  const seconds = (performance.now() - began) / 1000
  const outcome: Outcome = {
    client: client.name,
    scenario,
    result: detail.length === 0 ? 'passed' : 'failed',
    seconds,
    detail,
  }
  found.push(outcome)
  console.log(detail.length === 0 ? `${client.name} ${scenario} passed in ${seconds.toFixed(1)} s` : explain(outcome))
}

/** All of them, `--jobs` at a time. */
async function eachOf(subjects: readonly Subject[], run: (subject: Subject) => Promise<void>): Promise<void> {
  const waiting = [...subjects]
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(next)
  }
  await Promise.all(Array.from({ length: Number(options.jobs) }, lane))
}
