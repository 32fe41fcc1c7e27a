import type { SimulatedBroker } from './cluster/simulated-broker.ts'
import type { Crew } from './crew.ts'
import { damageStoredBatch } from './faults/damage-stored-batch.ts'
import type { History } from './history/history.ts'
import type { SeededRandom } from './io/seeded-random.ts'
import type { World } from './io/world.ts'
import type { Plan, PlannedFaults } from './plan.ts'

export interface NemesisParts {
  readonly world: World
  readonly plan: Plan
  readonly history: History
  readonly broker: SimulatedBroker
  readonly crew: Crew
}

interface Plot {
  readonly everyMs: number
  readonly act: () => void
  nextMs: number
}

const windowMs = 5000

/** Does harm as the plan has it. A quarter of the time it rests. */
export class Nemesis {
  readonly #parts: NemesisParts
  readonly #random: SeededRandom
  readonly #plots: Plot[] = []
  #isOver = false
  #hasDiskTrouble = 0

  constructor(parts: NemesisParts) {
    this.#parts = parts
    this.#random = parts.world.random('nemesis')
    parts.broker.excuse = () => this.#hasDiskTrouble > 0
    const { faults } = parts.plan
    this.#plotNode(faults)
    this.#plotNetwork(faults)
    this.#plotDisk(faults)
    this.#plotClients(faults)
  }

  /** Resolves when its time is over, and nothing is wrong but what a restart of the broker would mend. */
  async run(): Promise<void> {
    const { world, plan } = this.#parts
    const endMs = world.nowMs + plan.safetyMs
    this.#keepAlive()
    let isCalm = false
    let windowEndMs = world.nowMs + windowMs
    for (;;) {
      const next = this.#next()
      if (next === undefined || next.nextMs >= endMs) break
      await world.sleep(Math.max(0, next.nextMs - world.nowMs))
      next.nextMs = world.nowMs + this.#random.below(next.everyMs * 2)
      if (world.nowMs > windowEndMs) {
        isCalm = this.#random.chance(0.25)
        windowEndMs = world.nowMs + windowMs
      }
      if (!isCalm) next.act()
    }
    await world.sleep(Math.max(0, endMs - world.nowMs))
    await this.#calm()
  }

  #next(): Plot | undefined {
    let first: Plot | undefined
    for (const plot of this.#plots) if (first === undefined || plot.nextMs < first.nextMs) first = plot
    return first
  }

  #plot(everyMs: number | undefined, act: () => void): void {
    if (everyMs === undefined) return
    this.#plots.push({ everyMs, act, nextMs: this.#parts.world.nowMs + this.#random.below(everyMs * 2) })
  }

  #say(text: string): void {
    this.#parts.history.mark('fault', { text })
  }

  #plotNode({ killMs, powerCutMs, restartMs, pauseMs, clockStepMs }: PlannedFaults): void {
    const { broker, world } = this.#parts
    this.#plot(killMs, () => broker.crash('kill'))
    this.#plot(powerCutMs, () => broker.crash('power'))
    this.#plot(restartMs, () => void broker.close())
    this.#plot(pauseMs, () => {
      const ms = this.#random.between(50, 8000)
      this.#say(`the broker stands still for ${ms} ms`)
      broker.node.pause()
      world.after(ms, () => broker.node.resume())
    })
    this.#plot(clockStepMs, () => {
      const seconds = this.#random.pick([-3600, -10, -1, 1, 10, 3600])
      this.#say(`the clock is set by ${seconds} s`)
      broker.node.clock.wallOffsetMs += seconds * 1000
    })
  }

  /** Whenever the broker is down, it is started again after a while. */
  #keepAlive(): void {
    const { world, broker, plan } = this.#parts
    if (this.#isOver) return
    if (broker.state === 'down') {
      if (plan.faults.flipRate > 0 && this.#random.chance(plan.faults.flipRate)) this.#damage()
      if (plan.faults.readErrorMs !== undefined) this.#failReadsOfStart()
      void broker.start()
      if (this.#random.chance(plan.faults.earlyEndRate)) {
        const kind = plan.faults.powerCutMs !== undefined && this.#random.chance(0.5) ? 'power' : 'kill'
        world.after(this.#random.below(400), () => {
          if (!this.#isOver) broker.crash(kind)
        })
      }
    }
    world.after(this.#random.between(100, 1500), () => this.#keepAlive())
  }

  #damage(): void {
    const { broker, history, plan } = this.#parts
    const done = damageStoredBatch(broker, this.#random, { mayLoseRest: plan.faults.powerCutMs !== undefined })
    if (done === undefined) return
    this.#say(`${done.path} is damaged: ${done.what}`)
    const { topic, topicId, partition, from, to } = done
    history.mark('damaged', { topic, topicId, partition, from, to })
  }

  #plotNetwork({ resetMs, partitionMs, silenceMs, latencyMs }: PlannedFaults): void {
    const { world, broker, crew } = this.#parts
    const { network } = world
    const some = () => crew.nodes.filter(() => this.#random.chance(0.5))
    this.#plot(resetMs, () => {
      for (const node of some()) network.reset(node, broker.node)
    })
    this.#plot(silenceMs, () => {
      for (const node of some()) network.fallSilent(node, broker.node)
    })
    this.#plot(partitionMs, () => {
      const nodes = some()
      const oneWay = this.#random.chance(0.4)
      if (this.#random.chance(0.5)) network.partition(nodes, [broker.node], { oneWay })
      else network.partition([broker.node], nodes, { oneWay })
      world.after(this.#random.between(200, 8000), () => network.heal())
    })
    this.#plot(latencyMs, () => {
      network.settings.latencyUs = this.#random.pick([100, 1000, 20_000])
      network.settings.tinyPieceChance = this.#random.pick([0, 0.02, 0.3])
    })
  }

  #plotDisk({ stallMs, fullDiskMs, readOnlyMs, readErrorMs, syncErrorMs, rotMs }: PlannedFaults): void {
    const { broker, plan } = this.#parts
    const { disk } = broker.node
    this.#plot(rotMs, () => {
      if (broker.state === 'running') this.#damage()
    })
    this.#plot(stallMs, () => {
      const ms = this.#random.between(100, 4000)
      this.#say(`the disk stands still for ${ms} ms`)
      disk.stall(ms)
    })
    this.#plot(fullDiskMs, () => {
      const taken = disk.faults.freeBytes - this.#random.below(3000)
      this.#trouble('the disk is full', 4000, () => {
        disk.faults.freeBytes -= taken
        return () => {
          disk.faults.freeBytes += taken
        }
      })
    })
    this.#plot(readOnlyMs, () => {
      const path = this.#random.pick(['/', ...plan.logDirs.slice(1)])
      this.#trouble(`${path} is read-only`, 4000, () => {
        disk.faults.readOnlyPath = path
        return () => {
          disk.faults.readOnlyPath = undefined
        }
      })
    })
    this.#plot(readErrorMs, () => this.#failReads(3000))
    this.#plot(syncErrorMs, () => this.#failOneSync())
  }

  #failReads(maxMs: number): void {
    const { faults } = this.#parts.broker.node.disk
    this.#trouble('reads fail', maxMs, () => {
      faults.rates.read = this.#random.pick([0.02, 0.3])
      return () => {
        faults.rates.read = 0
      }
    })
  }

  /** What is read at the start is read at no other time. */
  #failReadsOfStart(): void {
    const drawn = this.#random.below(5)
    if (drawn === 0) this.#failReads(600)
    if (drawn === 1) this.#failOneDirectory()
  }

  /** One of several directories cannot be read when a process begins: the others must not take its partitions for new. */
  #failOneDirectory(): void {
    const { broker, plan } = this.#parts
    const [, ...others] = plan.logDirs
    if (others.length === 0) return
    const pathEnd = `${this.#random.pick(others)}/recovery-point-offset-checkpoint`
    const { faults } = broker.node.disk
    this.#trouble(`${pathEnd} cannot be read once`, 600, () => {
      faults.failNext('read', 'io', { pathEnd })
      return () => undefined
    })
  }

  /** One sync of a partition's data fails; whoever tries again is told that all is well, which it is not. */
  #failOneSync(): void {
    const { broker, history } = this.#parts
    const partitions = [...(broker.broker?.partitions.all() ?? [])]
    if (partitions.length === 0) return
    const { topic, topicId, index, log } = this.#random.pick(partitions)
    const paths = broker.node.disk.files().map(({ path }) => path)
    const pathEnd = paths
      .filter(path => path.includes(`/${topic}-${index}/`) && path.endsWith('.log'))
      .sort()
      .at(-1)
    if (pathEnd === undefined) return
    this.#say(`the next sync of ${pathEnd} fails`)
    broker.node.disk.faults.failNext('sync', 'io', { pathEnd })
    broker.expectsFailure = true
    broker.ledger.damaged(topicId, index)
    history.mark('damaged', { topic, topicId, partition: index, from: log.flushedOffset, to: Number.MAX_SAFE_INTEGER })
  }

  #trouble(what: string, maxMs: number, begin: () => () => void): void {
    const { world } = this.#parts
    if (this.#hasDiskTrouble > 0) return
    this.#hasDiskTrouble++
    const ms = this.#random.between(200, maxMs)
    this.#say(`${what} for ${ms} ms`)
    const end = begin()
    world.after(ms, () => {
      end()
      this.#say(`no longer: ${what}`)
      // What failed just now may be answered a little later.
      world.after(2000, () => {
        this.#hasDiskTrouble--
      })
    })
  }

  #plotClients({ clientCrashMs, clientPauseMs }: PlannedFaults): void {
    const { world, crew } = this.#parts
    const any = () => this.#random.below(Math.max(1, crew.nodes.length))
    this.#plot(clientCrashMs, () => {
      if (crew.nodes.length > 0) crew.crash(any())
    })
    this.#plot(clientPauseMs, () => {
      const node = crew.nodes[any()]
      node?.pause()
      world.after(this.#random.between(100, 10_000), () => node?.resume())
    })
  }

  async #calm(): Promise<void> {
    const { world, broker, crew } = this.#parts
    this.#isOver = true
    broker.node.resume()
    for (const node of crew.nodes) node.resume()
    world.network.heal()
    broker.node.disk.faults.forgetOrdered()
    Object.assign(world.network.settings, { latencyUs: 300, tinyPieceChance: 0.02 })
    while (this.#hasDiskTrouble > 0) await world.sleep(100)
    while (broker.state === 'starting' || broker.state === 'closing') await world.sleep(100)
    // What failed last may be answered a little later.
    await world.sleep(1000)
  }

  /** Resolves when everything is whole again. */
  async heal(): Promise<void> {
    const { broker } = this.#parts
    // A directory that has failed stays away until a restart.
    if (broker.expectsFailure || broker.hasOfflineDirectory) await broker.close()
    for (let tries = 0; broker.state !== 'running' && tries < 5; tries++) await broker.start()
  }
}
