import type { BrokerProcess } from '../test/compatibility/broker-process.ts'
import { inDirectory } from '../test/compatibility/temporary-directory.ts'
import type { System } from './system.ts'
import type { Described, Figures, LifeWorkload, LoadWorkload, Tools, Workload } from './workload.ts'

/** All figures of one workload: for each system, one for each round. */
export interface Measured {
  readonly workload: Described
  readonly figures: ReadonlyMap<string, readonly Figures[]>
}

const HEAP = ['-Xms1g', '-Xmx1g']

/**
 * Runs the workloads in turn on each system, round by round, so that whatever else changes on the machine changes for all
 * of them. The first round is thrown away: it is where a JVM compiles and a page cache fills.
 */
export async function measure(
  workloads: readonly Workload[],
  systems: readonly System[],
  rounds: number,
  tools: Tools,
): Promise<Measured[]> {
  const found = new Map(
    workloads.map(workload => [workload, new Map<string, Figures[]>(systems.map(({ name }) => [name, []]))]),
  )
  const note = (workload: Workload, system: System, round: number, figures: Figures): void => {
    const shown = Object.entries(figures).map(([name, figure]) => `${name} ${significant(figure)}`)
    console.error(`${round === 0 ? 'warm-up' : `round ${round}`} ${workload.name} ${system.name}: ${shown.join(', ')}`)
    if (round > 0) found.get(workload)!.get(system.name)!.push(figures)
  }
  const loads = workloads.filter(workload => workload.kind === 'load')
  if (loads.length > 0) await loadRounds(loads, systems, rounds, tools, note)
  for (const life of workloads.filter(workload => workload.kind === 'life')) {
    await lifeRounds(life, systems, rounds, tools, note)
  }
  return workloads.map(workload => ({ workload, figures: found.get(workload)! }))
}

type Note = (workload: Workload, system: System, round: number, figures: Figures) => void

async function loadRounds(
  workloads: readonly LoadWorkload[],
  systems: readonly System[],
  rounds: number,
  tools: Tools,
  note: Note,
): Promise<void> {
  await inDirectory('bench', async dir => {
    await using stack = new AsyncDisposableStack()
    const brokers = new Map<System, BrokerProcess>()
    for (const system of systems)
      brokers.set(system, stack.use(await system.start(`${dir}/${system.name}`, { heap: HEAP })))
    for (let round = 0; round <= rounds; round++) {
      for (const workload of workloads) {
        for (const system of inTurn(systems, round)) {
          note(workload, system, round, await workload.run(brokers.get(system)!, tools))
        }
      }
    }
  })
}

async function lifeRounds(
  workload: LifeWorkload,
  systems: readonly System[],
  rounds: number,
  tools: Tools,
  note: Note,
): Promise<void> {
  for (let round = 0; round <= rounds; round++) {
    for (const system of inTurn(systems, round)) note(workload, system, round, await workload.run(system, tools))
  }
}

/** Who begins changes from round to round. */
export function inTurn<T>(systems: readonly T[], round: number): readonly T[] {
  return round % 2 === 0 ? systems : systems.toReversed()
}

export function significant(value: number): string {
  if (value === 0 || Math.abs(value) >= 100) return value.toFixed(0)
  return value.toPrecision(3)
}
