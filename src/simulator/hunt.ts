import { assert } from '../base/assert.ts'
import { bugs as brokerBugs } from './bugs/broker-bugs.ts'
import { bugs as compactionBugs } from './bugs/compaction-bugs.ts'
import { bugs as transactionBugs } from './bugs/transaction-bugs.ts'
import { type Command, CommandError } from './command-line.ts'
import { drawPlan } from './plan.ts'
import { type PlantedBug, plantBug } from './planted-bugs.ts'
import { type RunResult, runPlan } from './run.ts'

const bugs = [...brokerBugs, ...compactionBugs, ...transactionBugs]

/** What a hunt needs of the real world. */
export interface HuntWorld {
  /** Of real time. */
  seconds(): number
  /** Of computing. */
  cpuSeconds(): number
  /** Where fresh seeds begin. */
  readonly freshSeed: number
  /** Throws when something beside the simulated world was used. */
  assertUntouched(): void
  readonly print: (text: string) => void
}

/** Every change runs these: they reach different parts of what a plan can be. */
const fixedSeeds = [
  1, 2, 3, 5, 7, 11, 13, 17, 24, 27, 31, 33, 35, 55, 58, 60, 84, 188_493_404, 2_002_471_320, 2_962_604_451,
]
const ciCpuSeconds = 90
const progressSeconds = 10

/** Answers whether all is well. */
export async function carryOut(command: Exclude<Command, { type: 'help' }>, world: HuntWorld): Promise<boolean> {
  switch (command.type) {
    case 'seeds':
      return await runSeeds(command, world)
    case 'hunt': {
      const endSeconds = world.seconds() + command.seconds
      return await runFresh(command.isJson, world, () => world.seconds() < endSeconds)
    }
    case 'ci': {
      const isWell = await runSeeds({ ...quiet, seeds: fixedSeeds, isJson: command.isJson }, world)
      // What a fresh seed finds was most likely there before: it is told, and the same change passes or fails each time.
      const isFreshWell = await runFresh(command.isJson, world, () => world.cpuSeconds() < ciCpuSeconds)
      if (!isFreshWell && !command.isJson)
        world.print('fresh seeds have found faults, see above: they fail no build, and want mending')
      return isWell
    }
    case 'planted':
      return await runPlanted(command, world)
  }
}

const quiet = { showsHistory: false, showsLog: false }

interface SeedsToRun {
  readonly seeds?: readonly number[]
  readonly from?: number
  readonly count?: number
  readonly showsHistory: boolean
  readonly showsLog: boolean
  readonly isJson: boolean
}

async function runSeeds(command: SeedsToRun, world: HuntWorld): Promise<boolean> {
  const { from = 0, count = 0, isJson, showsHistory, showsLog } = command
  const seeds = command.seeds ?? Array.from({ length: count }, (_, index) => from + index)
  let failed = 0
  for (const seed of seeds) {
    const result = await runSeed(seed, world)
    if (showsHistory) for (const line of result.history.lines()) world.print(line)
    if (showsLog) world.print(result.log.join('\n'))
    world.print(isJson ? json(result) : summary(result))
    if (result.violationCount > 0) failed++
    if (result.violationCount > 0 && !isJson) report(result, world)
  }
  return failed === 0
}

/** Fresh seeds until the time is over; goes on after a failure, so that one bug does not hide the others. */
async function runFresh(isJson: boolean, world: HuntWorld, goesOn: () => boolean): Promise<boolean> {
  let runs = 0
  let failed = 0
  let simulatedMs = 0
  let nextProgress = world.seconds() + progressSeconds
  const cpuBefore = world.cpuSeconds()
  for (let seed = world.freshSeed; goesOn(); seed++) {
    const result = await runSeed(seed, world)
    runs++
    simulatedMs += result.simulatedMs
    if (result.violationCount > 0) {
      failed++
      world.print(isJson ? json(result) : summary(result))
      if (!isJson) report(result, world)
    }
    if (world.seconds() < nextProgress) continue
    nextProgress = world.seconds() + progressSeconds
    const perMinute = Math.round((runs / (world.cpuSeconds() - cpuBefore)) * 60)
    const minutes = Math.round(simulatedMs / 60_000)
    if (!isJson)
      world.print(
        `${runs} seeds up to ${seed}, ${failed} failed, ${minutes} simulated minutes, ${perMinute} seeds a CPU-minute`,
      )
  }
  const text = `${runs} fresh seeds from ${world.freshSeed} on, ${failed} failed`
  world.print(isJson ? JSON.stringify({ type: 'end', runs, failed, firstSeed: world.freshSeed }) : text)
  return failed === 0
}

async function runSeed(seed: number, world: HuntWorld): Promise<RunResult> {
  const result = await runPlan(drawPlan(seed))
  world.assertUntouched()
  return result
}

function summary({ seed, hash, events, simulatedMs, calls, violationCount }: RunResult): string {
  const outcome = violationCount === 0 ? 'ok' : `${violationCount} violations`
  return `seed ${seed}  ${hash}  ${events} events  ${Math.round(simulatedMs / 1000)} s  ${calls} calls  ${outcome}`
}

function json({ seed, hash, events, simulatedMs, calls, violations, violationCount }: RunResult): string {
  return JSON.stringify({ type: 'run', seed, hash, events, simulatedMs, calls, violationCount, violations })
}

function report({ seed, violations, violationCount }: RunResult, { print }: HuntWorld): void {
  const shown = violations.slice(0, 8)
  for (const { invariant, text } of shown) print(`  ${invariant}  ${text.split('\n').slice(0, 8).join('\n')}`)
  if (shown.length < violationCount) print(`  and ${violationCount - shown.length} more`)
  print(`  again: npm run simulate -- --seed ${seed} --log`)
}

/** One hunt for one bug. */
interface PlantedHunt {
  readonly found: boolean
  readonly cpuSeconds: number
  readonly seeds: number
  readonly by: string
}

/** Several hunts for one bug: the one in the middle, and the longest. */
interface PlantedOutcome extends PlantedHunt {
  readonly bug: string
  readonly hunts: number
  readonly mostCpuSeconds: number
  /** How often each invariant was the first to be broken. */
  readonly invariants: Readonly<Record<string, number>>
}

async function runPlanted(command: Extract<Command, { type: 'planted' }>, world: HuntWorld): Promise<boolean> {
  const { name, minutes, hunts, isJson } = command
  const wanted = name === 'all' ? bugs : bugs.filter(bug => bug.name === name)
  if (wanted.length === 0)
    throw new CommandError(`there is no planted bug ${name}; there are: ${bugs.map(bug => bug.name).join(', ')}`)
  let missed = 0
  for (const [index, bug] of wanted.entries()) {
    const planted = plantBug(bug)
    const { runPlan: runWithBug } = (await planted.load('simulator/run.ts')) as { runPlan: typeof runPlan }
    planted.assertPlanted()
    const results: (PlantedHunt & { readonly invariant: string })[] = []
    for (let hunt = 0; hunt < hunts; hunt++)
      results.push(
        await huntPlanted(bug, runWithBug, world, {
          minutes,
          firstSeed: world.freshSeed + 100_000 * (index * hunts + hunt),
        }),
      )
    const outcome = outcomeOf(bug, results)
    if (!outcome.found) missed++
    world.print(isJson ? JSON.stringify({ type: 'planted', ...outcome }) : plantedLine(outcome))
  }
  return missed === 0
}

function outcomeOf(
  bug: PlantedBug,
  results: readonly (PlantedHunt & { readonly invariant: string })[],
): PlantedOutcome {
  const sorted = results.toSorted((a, b) => a.cpuSeconds - b.cpuSeconds)
  const median = sorted[Math.floor(sorted.length / 2)]
  const longest = sorted.at(-1)
  assert(median !== undefined && longest !== undefined, 'there is a hunt for each bug')
  const invariants: Record<string, number> = {}
  for (const { invariant } of results) invariants[invariant] = (invariants[invariant] ?? 0) + 1
  const { found, cpuSeconds, seeds, by } = median
  return {
    ...{ bug: bug.name, hunts: results.length, found, cpuSeconds, seeds, by },
    ...{ mostCpuSeconds: longest.cpuSeconds, invariants },
  }
}

function plantedLine({ bug, found, cpuSeconds, mostCpuSeconds, seeds, by }: PlantedOutcome): string {
  const outcome = found ? `found after ${seeds} seeds` : `NOT found in ${seeds} seeds`
  const times = `${cpuSeconds.toFixed(1).padStart(7)} CPU-s, at most ${mostCpuSeconds.toFixed(1)}`
  return `${bug.padEnd(40)} ${outcome.padEnd(24)} ${times}  ${by}`
}

async function huntPlanted(
  bug: PlantedBug,
  runWithBug: typeof runPlan,
  world: HuntWorld,
  { minutes, firstSeed }: { readonly minutes: number; readonly firstSeed: number },
): Promise<PlantedHunt & { readonly invariant: string }> {
  const start = world.cpuSeconds()
  const spent = () => world.cpuSeconds() - start
  let seeds = 0
  for (let seed = firstSeed; spent() < minutes * 60; seed++) {
    seeds++
    const { violations } = await runWithBug(drawPlan(seed))
    const [first] = violations
    if (first === undefined) continue
    // What is found without the bug, too, is another one: it says nothing of this hunt.
    if ((await runPlan(drawPlan(seed))).violationCount > 0) continue
    const { invariant, text } = first
    const by = `${invariant} ${text.split('\n')[0]?.slice(0, 100)} (seed ${seed})`
    return { found: true, cpuSeconds: spent(), seeds, by, invariant }
  }
  return { found: false, cpuSeconds: spent(), seeds, by: bug.why ?? '', invariant: 'none' }
}
