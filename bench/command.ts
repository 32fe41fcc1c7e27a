import { writeFileSync } from 'node:fs'
import { cpus, loadavg, release } from 'node:os'
import { parseArgs } from 'node:util'
import { exitOnSignals } from '../test/compatibility/child-process.ts'
import { findJdk } from '../test/compatibility/kafka/java.ts'
import { KAFKA_VERSION } from '../test/compatibility/kafka/kafka-jars.ts'
import { millraceExists } from '../test/compatibility/millrace-process.ts'
import { LoadGenerator } from './load-generator.ts'
import { type Measured, measure } from './rounds.ts'
import { markdown, type Row, summarize } from './summary.ts'
import { KAFKA, millrace, parseVariant, type System } from './system.ts'
import type { Workload } from './workload.ts'

const QUICK_SCALE = 0.1
const QUICK_ROUNDS = 3

export interface Report {
  readonly rows: readonly Row[]
  readonly systems: readonly string[]
}

/** What every benchmark's command line has in common: choose, measure, print a table, and keep the figures. */
export async function runBenchmark(about: string, script: string, workloads: readonly Workload[]): Promise<Report> {
  const { values } = parseArgs({
    options: {
      pairs: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      system: { type: 'string', multiple: true },
      variant: { type: 'string', multiple: true, default: [] },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const chosen = workloads.filter(({ name }) => values.only === undefined || values.only.includes(name))
  if (values.help || chosen.length === 0) {
    process.stdout.write(usage(about, script, workloads))
    process.exit(values.help ? 0 : 2)
  }
  exitOnSignals()
  const systems = [...chosenSystems(values.system), ...values.variant.map(parseVariant)]
  const rounds = Number(values.pairs ?? (values.quick ? QUICK_ROUNDS : 7))
  const tools = { load: await LoadGenerator.build(), scale: values.quick ? QUICK_SCALE : 1 }
  const before = loadavg()
  const measured = await measure(chosen, systems, rounds, tools)
  const names = systems.map(({ name }) => name)
  const rows = summarize(measured, names)
  console.log(`\n${markdown(rows, names)}\n\n${conditions(rounds, values.quick, before)}`)
  if (values.json !== undefined) writeFileSync(values.json, `${toJson(rows, measured, names, before)}\n`)
  return { rows, systems: names }
}

function usage(about: string, script: string, workloads: readonly Workload[]): string {
  const names = workloads.map(({ name, title }) => `    ${name.padEnd(16)} ${title}`).join('\n')
  return `${about}

  node bench/${script} [options]

  --pairs N           rounds that count (default 7), after one that does not
  --quick             a tenth of the load and three rounds: to see that it works, not to quote
  --only WORKLOAD     may be repeated:
${names}
  --system NAME       kafka or millrace (default both, if the broker is there); may be repeated
  --variant SPEC      one more Millrace, NAME:key=value,… with settings, or node=PATH; may be repeated
  --json FILE         every figure of every round
`
}

function chosenSystems(names: readonly string[] | undefined): System[] {
  const known = new Map([KAFKA, millrace('millrace')].map(system => [system.name, system]))
  const wanted = names ?? (millraceExists() ? ['kafka', 'millrace'] : ['kafka'])
  return wanted.map(name => {
    const system = known.get(name)
    if (system === undefined) throw new Error(`no system is called ${name}`)
    return system
  })
}

function conditions(rounds: number, quick: boolean, before: readonly number[]): string {
  const machine = `${cpus().length} × ${cpus()[0]?.model}, Linux ${release()}, Node ${process.version}`
  const peer = `Kafka ${KAFKA_VERSION} on Java ${findJdk().version}`
  const load = `load average ${before[0]?.toFixed(1)} before and ${loadavg()[0]?.toFixed(1)} after`
  return `Medians of ${rounds} rounds${quick ? ', a tenth of the load' : ''}; in parentheses the least and the most. ${machine}; ${peer}; ${load}.`
}

function toJson(
  rows: readonly Row[],
  measured: readonly Measured[],
  systems: readonly string[],
  before: readonly number[],
): string {
  const rounds = measured.map(({ workload, figures }) => ({
    workload: workload.name,
    figures: Object.fromEntries(figures),
  }))
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    kernel: release(),
    loadBefore: before,
    loadAfter: loadavg(),
  }
  const versions = { node: process.version, kafka: KAFKA_VERSION, java: findJdk().version }
  return JSON.stringify({ at: new Date().toISOString(), systems, machine, versions, rows, rounds }, null, 2)
}
