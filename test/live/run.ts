import { globSync } from 'node:fs'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { type BrokerProcess, tail } from '../compatibility/broker-process.ts'
import { exitOnSignals } from '../compatibility/child-process.ts'
import { KafkaOracle } from '../compatibility/kafka/kafka-oracle.ts'
import { MillraceProcess } from '../compatibility/millrace-process.ts'
import { inDirectory } from '../compatibility/temporary-directory.ts'

const usage = `Our own client against Apache Kafka 4.4, and then the same against Millrace.

  node test/live/run.ts [options]

  --target kafka|millrace   only this one (default: both, Kafka first: what fails there is wrong in the test or the client)
  --only PATTERN            tests whose name it matches
  --repeat N                that many times, each against the same broker
`

const targets = {
  kafka: (dir: string): Promise<BrokerProcess> => KafkaOracle.start({ dir }),
  millrace: (dir: string): Promise<BrokerProcess> => MillraceProcess.start({ dir }),
}

exitOnSignals()
const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    only: { type: 'string' },
    repeat: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
})
const chosen = Object.entries(targets).filter(([name]) => values.target === undefined || name === values.target)
if (values.help || chosen.length === 0) {
  process.stdout.write(usage)
  process.exit(values.help ? 0 : 2)
}
let isGood = true
for (const [name, start] of chosen) isGood = (await inDirectory('live', dir => testAgainst(name, start, dir))) && isGood
process.exit(isGood ? 0 : 1)

async function testAgainst(
  name: string,
  start: (dir: string) => Promise<BrokerProcess>,
  dir: string,
): Promise<boolean> {
  const began = performance.now()
  await using broker = await start(dir)
  console.log(`\n${name} is up after ${seconds(began)} s`)
  let [passed, others] = [0, 0]
  for (let time = 0; time < Number(values.repeat); time++) {
    const counts = await runTests(broker.bootstrap)
    passed += counts.passed
    others += counts.others
  }
  await broker.stop()
  // One that is skipped is one that nobody runs: this is the only place where they are run.
  const isGood = passed > 0 && others === 0
  console.log(`${name}: ${passed} passed, ${others} failed or were left out, in ${seconds(began)} s`)
  if (!isGood) console.log(`\nThe broker's last words:\n${tail(broker.output())}`)
  return isGood
}

async function runTests(bootstrap: string): Promise<{ readonly passed: number; readonly others: number }> {
  const counts = { passed: 0, others: 0 }
  const tests = run({
    files: globSync(join(import.meta.dirname, '*.test.ts')).sort(),
    concurrency: 3,
    env: { ...process.env, MILLRACE_TEST_BOOTSTRAP: bootstrap },
    ...(values.only === undefined ? {} : { testNamePatterns: [new RegExp(values.only)] }),
  })
  tests.on('test:summary', summary => {
    // Of all files.
    if (summary.file !== undefined) return
    counts.passed = summary.counts.passed
    counts.others = summary.counts.tests - summary.counts.passed
  })
  const shown = tests.compose(new spec())
  for await (const text of shown) process.stdout.write(text as string)
  return counts
}

function seconds(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1)
}
