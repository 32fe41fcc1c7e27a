import type { Reached } from './checker.ts'
import type { SimNode } from './sim-node.ts'
import { World } from './world.ts'

/** How often each fault or operation is drawn; a seed draws these weights too, so that runs differ in kind (swarm). */
const actions = {
  crash,
  partition,
  block,
  healLinks,
  loss,
  pause,
  slowDisk,
  snapshot,
  addVoter,
  removeVoter,
  shutDown,
  resign,
  wipe,
}
type Action = keyof typeof actions

export interface RunResult {
  readonly trace: string
  readonly events: number
  readonly reached: Reached
}

/** The faults last this long (virtual ms). */
const faultsMs = 15_000
/** Once they are over, everybody agrees within this time. */
const convergenceMs = 30_000
/** They agree for this long, and then nothing moves for so long but appends. */
const settlingMs = 3_000
const stableMs = 2_000

/** One run: faults, then healing, then agreement. Throws a `Violation` when an invariant breaks. */
export function run(seed: number): RunResult {
  const world = new World({
    seed,
    voters: seed % 3 === 0 ? 5 : seed % 31 === 0 ? 1 : 3,
    spares: (seed >>> 1) % 3,
    isStatic: seed % 7 === 0,
    willUpgrade: seed % 14 === 0,
  })
  for (const node of world.nodes) node.start()
  const driver = new Driver(world)
  driver.begin()
  world.runUntil(faultsMs)
  driver.heal()
  awaitAgreement(world)
  awaitStability(world)
  return { trace: world.trace, events: world.handledEvents, reached: world.checker.reached }
}

/** For as long as it takes old doubts to run out: an election that was under way may still be held. */
function awaitAgreement(world: World): void {
  const endMs = world.nowMs + convergenceMs
  for (let agreedMs = 0; agreedMs < settlingMs; ) {
    if (world.nowMs >= endMs) world.checker.fail(`no agreement after healing:\n${stateOf(world)}`)
    world.runUntil(world.nowMs + 100)
    agreedMs = isAgreed(world) ? agreedMs + 100 : 0
  }
}

/** Everybody is up, follows one active leader, and has committed what it has. */
function isAgreed(world: World): boolean {
  const { leader } = world
  if (leader?.quorum === undefined) return false
  const { epoch, voters } = leader.quorum
  return (
    voters.withId(leader.id) !== undefined &&
    (!world.willUpgrade || world.nodes.every(({ quorum }) => quorum?.kraftVersion === 1)) &&
    voters.voters.every(voter => world.hasDisk(voter)) &&
    world.nodes.every(
      ({ quorum, stateHash, appliedOffset }) =>
        quorum?.epoch === epoch &&
        quorum.leaderId === leader.id &&
        appliedOffset >= leader.appliedOffset - 20 &&
        (appliedOffset !== leader.appliedOffset || stateHash === leader.stateHash),
    )
  )
}

function awaitStability(world: World): void {
  const { elections, committed } = world.checker.reached
  const events = world.handledEvents
  world.runUntil(world.nowMs + stableMs)
  if (world.checker.reached.elections !== elections) world.checker.fail('an election among healthy nodes')
  if (world.checker.reached.committed === committed) world.checker.fail(`nothing commits:\n${stateOf(world)}`)
  const perNodeSecond = (world.handledEvents - events) / world.nodes.length / (stableMs / 1000)
  if (perNodeSecond > 500) world.checker.fail(`${perNodeSecond} events a second and node while little happens`)
}

function stateOf(world: World): string {
  return world.nodes.map(({ quorum }) => quorum?.inspect()).join('\n')
}

/** Draws faults and operations, appends while somebody leads, and repairs everything in the end. */
class Driver {
  readonly world: World
  readonly #weights: readonly { readonly action: Action; readonly weight: number }[]
  readonly #meanGapMs: number
  isHealed = false

  constructor(world: World) {
    this.world = world
    const { random } = world
    this.#weights = (Object.keys(actions) as Action[]).map(action => ({
      action,
      weight: random.chance(0.4) ? 0 : random.fraction(),
    }))
    this.#meanGapMs = random.pick([80, 250, 700])
    world.lossProbability = random.pick([0, 0.02, 0.15])
    world.duplicateProbability = random.pick([0, 0.1])
    world.damageProbability = random.pick([0, 0.1])
    world.maxDelayMs = random.pick([2, 10, 60])
  }

  begin(): void {
    this.#fault()
    this.#append(this.world.random.pick([40, 150, 500]))
    if (this.world.willUpgrade) this.#upgrade()
  }

  heal(): void {
    const { world } = this
    this.isHealed = true
    world.blocked.clear()
    world.lossProbability = 0
    world.duplicateProbability = 0
    world.damageProbability = 0
    world.maxDelayMs = 5
    for (const node of world.nodes) {
      // Who is stopped, leaving or far behind with its disk starts afresh.
      if (node.isUp && node.isHindered) node.crash()
      node.slowDiskUntilMs = 0
      world.restart(node)
    }
    this.#repair()
  }

  #fault(): void {
    const { world } = this
    world.schedule(world.random.between(0, 2 * this.#meanGapMs), () => {
      if (this.isHealed) return
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

  /** Of static voters to those in the log. Whoever leads is asked, again and again. */
  #upgrade(): void {
    const { world } = this
    world.schedule(world.random.between(500, 4000), () => {
      const { leader } = world
      if (leader?.activeEpoch !== undefined) {
        const leaderEpoch = leader.activeEpoch
        leader.handle({ type: 'upgradeKraftVersion', upgradeId: 0, leaderEpoch, kraftVersion: 1, validateOnly: false })
      }
      this.#upgrade()
    })
  }

  #append(meanGapMs: number): void {
    const { world } = this
    world.schedule(world.random.between(0, 2 * meanGapMs), () => {
      for (const node of world.nodes) {
        // Every node that believes it leads is used: also one that was deposed and does not know.
        if (!node.isUp || node.activeEpoch === undefined) continue
        const recordCount = 1 + world.random.below(3)
        node.handle({ type: 'append', appendId: 0, leaderEpoch: node.activeEpoch, recordCount, bytes: undefined })
      }
      this.#append(this.isHealed ? 200 : meanGapMs)
    })
  }

  /** What an operator does after the storm: start what is down, take voters out whose disk is gone. */
  #repair(): void {
    const { world } = this
    for (const node of world.nodes) world.restart(node)
    const { leader } = world
    const voters = leader?.quorum?.voters.voters ?? []
    for (const { id, directoryId } of voters.filter(voter => !world.hasDisk(voter))) {
      const request = { clusterId: 'cluster', voterId: id, voterDirectoryId: directoryId }
      world.ask(leader!, { api: 'removeRaftVoter', request })
      break
    }
    world.schedule(500, () => this.#repair())
  }
}

function upNode(world: World): SimNode | undefined {
  const up = world.nodes.filter(node => node.isUp)
  return up.length === 0 ? undefined : world.random.pick(up)
}

function crash(world: World): void {
  const count = world.random.chance(0.1) ? world.nodes.length : 1
  for (let i = 0; i < count; i++) {
    const node = count === 1 ? upNode(world) : world.nodes[i]
    if (node === undefined || !node.isUp) continue
    node.crash()
    world.schedule(world.random.between(10, world.random.pick([100, 3000])), () => world.restart(node))
  }
}

/** Two groups that do not hear one another, or one direction of it. */
function partition(world: World): void {
  const isOneWay = world.random.chance(0.3)
  const left = new Set(world.nodes.filter(() => world.random.chance(0.5)).map(({ id }) => id))
  for (const a of world.nodes) {
    for (const b of world.nodes) {
      if (!left.has(a.id) || left.has(b.id)) continue
      world.blocked.add(`${a.id}>${b.id}`)
      if (!isOneWay) world.blocked.add(`${b.id}>${a.id}`)
    }
  }
  world.schedule(world.random.between(200, 6000), () => world.blocked.clear())
}

function block(world: World): void {
  const link = `${world.random.pick(world.nodes).id}>${world.random.pick(world.nodes).id}`
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
  const node = upNode(world)
  if (node !== undefined) node.pausedUntilMs = world.nowMs + world.random.between(50, 4000)
}

function slowDisk(world: World): void {
  world.random.pick(world.nodes).slowDiskUntilMs = world.nowMs + world.random.between(500, 5000)
}

function snapshot(world: World): void {
  upNode(world)?.takeSnapshot(world.random.chance(0.7))
}

function addVoter(world: World): void {
  const node = world.random.pick(world.nodes)
  const listeners = world.endpointsOf(node.id)
  const request = {
    clusterId: 'cluster',
    timeoutMs: 1000,
    voterId: node.id,
    voterDirectoryId: node.directory.directoryId,
    listeners,
    ackWhenCommitted: world.random.chance(0.5),
  }
  const leader = world.leader
  if (leader !== undefined) world.ask(leader, { api: 'addRaftVoter', request })
}

function removeVoter(world: World): void {
  const { leader } = world
  // An operator does not take out a voter that is there while the disk of another is gone, nor ask who cannot answer.
  if (leader?.quorum === undefined || leader.quorum.voters.size < 3 || leader.pausedUntilMs > world.nowMs) return
  const lost = leader.quorum.voters.voters.filter(voter => !world.hasDisk(voter))
  const own = leader.quorum.voters.voters.filter(({ id }) => id === leader.id && world.random.chance(0.3))
  const { id, directoryId } = world.random.pick([lost, own, leader.quorum.voters.voters].find(set => set.length > 0)!)
  const request = { clusterId: 'cluster', voterId: id, voterDirectoryId: directoryId }
  world.ask(leader, { api: 'removeRaftVoter', request })
}

function shutDown(world: World): void {
  const node = upNode(world)
  if (node === undefined || node.isShuttingDown) return
  node.isShuttingDown = true
  node.handle({ type: 'shutdown' })
}

function resign(world: World): void {
  const { leader } = world
  if (leader?.quorum !== undefined) leader.handle({ type: 'resign', leaderEpoch: leader.quorum.epoch })
}

/** A disk is lost and replaced by an empty one: at most one voter's at a time, else what had committed may be gone. */
function wipe(world: World): void {
  const node = world.random.pick(world.nodes)
  const isCalm = world.nodes.every(({ isUp, pausedUntilMs }) => isUp && pausedUntilMs <= world.nowMs)
  if (world.staticVoters !== undefined || !isCalm) return
  const sets = world.nodes.map(({ quorum }) => quorum!.voters)
  const isVoter = sets.some(voters => voters.withId(node.id) !== undefined)
  const isSpareable = sets.every(voters => voters.size >= 3 && voters.voters.every(voter => world.hasDisk(voter)))
  if (isVoter && !isSpareable) return
  node.crash()
  world.wipe(node)
  world.schedule(world.random.between(10, 1000), () => world.restart(node))
}
