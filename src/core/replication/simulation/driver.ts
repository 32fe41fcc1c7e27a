import type { SimBroker } from './sim-broker.ts'
import type { World } from './world.ts'

/** How often each fault or operation is drawn; a seed draws these weights too, so that runs differ in kind (swarm). */
const actions = {
  kill,
  cutPower,
  cutAllPower,
  partition,
  block,
  healLinks,
  loss,
  pause,
  slowDisk,
  fence,
  shutDown,
  moveLogStart,
  slowMetadata,
  controllerDown,
}
type Action = keyof typeof actions

/** Draws faults and operations, writes while somebody leads, and repairs everything in the end. */
export class Driver {
  readonly #world: World
  readonly #weights: readonly { readonly action: Action; readonly weight: number }[]
  readonly #meanGapMs: number
  readonly #acks: readonly (1 | -1)[]
  #isHealed = false
  #isQuiet = false

  constructor(world: World) {
    this.#world = world
    const { random } = world
    this.#weights = (Object.keys(actions) as Action[]).map(action => ({
      action,
      weight: random.chance(0.4) ? 0 : random.fraction(),
    }))
    this.#meanGapMs = random.pick([100, 300, 900])
    this.#acks = random.pick([[-1], [1, -1], [1, -1, -1, -1]] as const)
    world.lossProbability = random.pick([0, 0.02, 0.15])
    world.duplicateProbability = random.pick([0, 0.1])
    world.damageProbability = random.pick([0, 0.02])
    world.notControllerProbability = random.pick([0, 0.1])
    world.lostAnswerProbability = random.pick([0, 0.1, 0.5])
    for (const broker of world.brokers) broker.metadataDelayMs = random.pick([30, 30, 300, 3000])
    world.writeFailureProbability = random.pick([0, 0, 0.02])
    world.maxDelayMs = random.pick([2, 10, 60])
    const haltsJoiners = random.pick([0, 0, 0.3])
    world.proposed = (leader, joining) => {
      if (!this.#isHealed && random.chance(haltsJoiners)) haltLater(world, leader, joining)
    }
  }

  begin(): void {
    this.#fault()
    this.#write(this.#world.random.pick([5, 30, 120]))
  }

  heal(): void {
    const world = this.#world
    this.#isHealed = true
    world.blocked.clear()
    world.lossProbability = 0
    world.duplicateProbability = 0
    world.damageProbability = 0
    world.notControllerProbability = 0
    world.lostAnswerProbability = 0
    world.writeFailureProbability = 0
    world.isControllerDown = false
    world.maxDelayMs = 5
    for (const broker of world.brokers) {
      broker.disk.slowUntilMs = 0
      broker.metadataDelayMs = 30
      // Who is on its way out would be out when all is said to be well.
      if (broker.isShuttingDown) broker.crash('kill')
      if (!broker.isUp) broker.start()
    }
  }

  /** Nothing is written any more. */
  quiet(): void {
    this.#isQuiet = true
  }

  #fault(): void {
    const world = this.#world
    world.schedule(world.random.between(0, 2 * this.#meanGapMs), () => {
      if (this.#isHealed) return
      const total = this.#weights.reduce((sum, { weight }) => sum + weight, 0)
      let at = world.random.between(0, total)
      const drawn = this.#weights.find(({ weight }) => {
        at -= weight
        return at < 0
      })
      if (drawn !== undefined) {
        world.note(0, drawn.action)
        actions[drawn.action](world)
      }
      this.#fault()
    })
  }

  #write(meanGapMs: number): void {
    const world = this.#world
    world.schedule(world.random.between(0, 2 * meanGapMs), () => {
      if (this.#isQuiet) return
      for (const broker of world.brokers) {
        if (broker.isUp && broker.pausedUntilMs <= world.nowMs) {
          broker.writes.take(world.random.pick(this.#acks), 1 + world.random.below(3))
        }
      }
      this.#write(this.#isHealed ? 50 : meanGapMs)
    })
  }
}

function anyUp(world: World): SimBroker | undefined {
  const up = world.brokers.filter(broker => broker.isUp)
  return up.length === 0 ? undefined : world.random.pick(up)
}

function restartLater(world: World, broker: SimBroker): void {
  world.schedule(world.random.between(10, world.random.pick([100, 4000])), () => {
    if (!broker.isUp) broker.start()
  })
}

function crash(world: World, broker: SimBroker, how: 'kill' | 'power'): void {
  if (!broker.isUp) return
  broker.crash(how)
  restartLater(world, broker)
}

/** Who is about to join, or has just joined, ends or is not heard of by its leader any more. */
function haltLater(world: World, leader: SimBroker, joining: number): void {
  world.schedule(world.random.between(0, 20), () => {
    const broker = world.broker(joining)
    const link = `${joining}>${leader.id}`
    if (broker === undefined || broker === leader) return
    if (world.random.chance(0.5)) crash(world, broker, world.random.pick(['kill', 'power']))
    else world.blocked.add(link)
    world.schedule(world.random.between(500, 5000), () => world.blocked.delete(link))
  })
}

function kill(world: World): void {
  const broker = anyUp(world)
  if (broker !== undefined) crash(world, broker, 'kill')
}

function cutPower(world: World): void {
  const broker = anyUp(world)
  if (broker !== undefined) crash(world, broker, 'power')
}

function cutAllPower(world: World): void {
  if (world.random.chance(0.7)) return
  for (const broker of world.brokers) crash(world, broker, 'power')
}

/** Two groups that do not hear one another, or one direction of it. The controller is in one of them. */
function partition(world: World): void {
  const ids = [0, ...world.brokers.map(({ id }) => id)]
  const isOneWay = world.random.chance(0.3)
  const left = new Set(ids.filter(() => world.random.chance(0.5)))
  for (const a of ids) {
    for (const b of ids) {
      if (!left.has(a) || left.has(b)) continue
      world.blocked.add(`${a}>${b}`)
      if (!isOneWay) world.blocked.add(`${b}>${a}`)
    }
  }
  world.schedule(world.random.between(200, 6000), () => world.blocked.clear())
}

function block(world: World): void {
  const ids = [0, ...world.brokers.map(({ id }) => id)]
  const link = `${world.random.pick(ids)}>${world.random.pick(ids)}`
  world.blocked.add(link)
  world.schedule(world.random.between(200, 6000), () => world.blocked.delete(link))
}

function healLinks(world: World): void {
  world.blocked.clear()
}

function loss(world: World): void {
  world.lossProbability = world.random.pick([0, 0.05, 0.3])
}

function pause(world: World): void {
  const broker = anyUp(world)
  if (broker === undefined || broker.pausedUntilMs > world.nowMs) return
  broker.pausedUntilMs = world.nowMs + world.random.between(50, 5000)
}

function slowDisk(world: World): void {
  world.random.pick(world.brokers).disk.slowUntilMs = world.nowMs + world.random.between(300, 3000)
}

/** The controller takes a broker out of service, and lets it in again with its next heartbeat. */
function fence(world: World): void {
  const broker = anyUp(world)
  if (broker?.brokerEpoch === undefined) return
  const life = { brokerId: broker.id, brokerEpoch: broker.brokerEpoch, metadataOffset: 0 }
  world.decide(controller => controller.heartbeat({ ...life, wantShutDown: false, wantFence: true }, world.nowMs))
}

function shutDown(world: World): void {
  const broker = anyUp(world)
  if (broker !== undefined) broker.isShuttingDown = true
}

/** Retention or DeleteRecords, on whoever believes that it leads. */
function moveLogStart(world: World): void {
  const leader = world.brokers.find(({ replication }) => replication?.isLeader)
  if (leader === undefined) return
  const { log } = leader
  const offset = log.logStartOffset + world.random.below(1 + log.highWatermark - log.logStartOffset)
  // Retention takes whole batches, DeleteRecords does not.
  const baseOffset = log.at(offset)?.baseOffset ?? offset
  log.moveLogStart(world.random.chance(0.5) ? offset : Math.max(baseOffset, log.logStartOffset))
}

function slowMetadata(world: World): void {
  const broker = world.random.pick(world.brokers)
  broker.metadataDelayMs = world.random.pick([30, 300, 3000])
}

function controllerDown(world: World): void {
  world.isControllerDown = true
  world.schedule(world.random.between(100, 2500), () => {
    world.isControllerDown = false
  })
}
