import type { MakeController } from './cluster-controller.ts'
import { Driver } from './driver.ts'
import type { Reached } from './outcome.ts'
import { SimRandom } from './sim-random.ts'
import { World } from './world.ts'

export interface RunResult {
  readonly trace: string
  readonly events: number
  readonly reached: Reached
}

/** The faults last this long (virtual ms). */
const faultsMs = 12_000
/** Once they are over all replicas are in sync and equal within this time. */
const convergenceMs = 30_000
/** And once nothing is written any more, they hold the same, all of it committed; a process may be stopped for half of that yet. */
const settlingMs = 10_000

/** One run: faults, then healing, then equal replicas. Throws a `Violation` when an invariant breaks. */
export function run(seed: number, makeController: MakeController): RunResult {
  const draw = new SimRandom(seed ^ 0x5eed)
  const replicas = draw.pick([
    [1, 2],
    [1, 2, 3],
    [1, 2, 3],
    [1, 2, 3],
    [1, 2, 3, 4],
  ])
  const mode = draw.pick(['async', 'async', 'ack', 'ack', 'mixed'])
  const world = new World({
    seed,
    makeController,
    rules: {
      replicas,
      minInsyncReplicas: draw.pick([1, 2, 2]),
      allowsUnclean: draw.chance(0.05),
      usesElr: draw.chance(0.85),
    },
    flushBeforeAck: replicas.map(() => (mode === 'mixed' ? draw.chance(0.5) : mode === 'ack')),
    knowsBoot: draw.chance(0.8),
    compaction: draw.chance(0.6)
      ? { meanGapMs: draw.pick([50, 300, 1500]), deleteRetentionMs: draw.pick([500, 4000, 8000]) }
      : undefined,
  })
  for (const broker of world.brokers) broker.start()
  const driver = new Driver(world)
  driver.begin()
  world.runUntil(faultsMs)
  driver.heal()
  awaitUntil(world, convergenceMs, isConverged)
  driver.quiet()
  awaitUntil(world, settlingMs, isEqual)
  audit(world)
  return { trace: world.trace, events: world.handledEvents, reached: world.checker.reached }
}

function awaitUntil(world: World, withinMs: number, isReached: (world: World) => boolean): void {
  const endMs = world.nowMs + withinMs
  while (!isReached(world)) {
    if (world.nowMs >= endMs) world.checker.fail(`not ${isReached.name} in ${withinMs} ms:\n${stateOf(world)}`)
    world.runUntil(world.nowMs + 100)
  }
}

function isConverged(world: World): boolean {
  const { partition, brokers } = world.controller.state
  const isInSync = partition.leader >= 0 && partition.isr.length === world.rules.replicas.length
  const committed = world.checker.ledger.endOffset
  return (
    isInSync &&
    world.brokers.every(({ id, replication, brokerEpoch, log }) => {
      const registered = brokers.get(id)
      const isServing = registered?.epoch === brokerEpoch && registered?.fenced === false
      return isServing && replication?.leaderEpoch === partition.leaderEpoch && log.highWatermark >= committed - 20
    })
  )
}

function isEqual(world: World): boolean {
  const { endOffset } = world.checker.ledger
  return world.brokers.every(({ log }) => {
    return log.nextOffset === endOffset && log.logEndOffset === endOffset && log.highWatermark === endOffset
  })
}

/** What is on every disk in the end. */
function audit(world: World): void {
  const { ledger } = world.checker
  for (const broker of world.brokers) {
    const { id, log } = broker
    world.checker.content.check(broker)
    const missing = ledger.firstMissing(log)
    if (missing !== undefined) world.checker.fail(`broker ${id} lacks ${missing} in the end`)
    world.checker.checkEpochs(broker)
  }
}

function stateOf(world: World): string {
  const { partition } = world.controller.state
  return [
    JSON.stringify(partition),
    ...world.brokers.map(({ replication, id }) => replication?.inspect() ?? `${id} down`),
  ].join('\n')
}
