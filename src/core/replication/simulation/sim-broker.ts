import { assert } from '../../../base/assert.ts'
import type { Now } from '../../../base/time.ts'
import type { ReplicationConfig } from '../config.ts'
import type { ReplicationEffect, ReplicationEvent } from '../events.ts'
import { Replication } from '../replication.ts'
import type { BrokersView, BrokerView } from '../views.ts'
import type { ClusterState } from './cluster-controller.ts'
import { Compactor } from './compactor.ts'
import { FetchServer } from './fetch-server.ts'
import { Membership } from './membership.ts'
import { SimDisk } from './sim-disk.ts'
import { SimLog } from './sim-log.ts'
import type { World } from './world.ts'
import { Writes } from './writes.ts'

/** One broker: what outlives its process, and the process with the shell's duties done late, out of order or not at all. */
export class SimBroker implements BrokersView {
  readonly id: number
  readonly world: World
  readonly flushBeforeAck: boolean
  readonly log = new SimLog()
  readonly disk: SimDisk
  readonly fetches: FetchServer
  readonly writes: Writes
  readonly membership: Membership
  readonly compactor: Compactor
  replication: Replication | undefined
  /** Counts processes: what an older one had under way is dropped. */
  life = 0
  isUp = false
  pausedUntilMs = 0
  /** Of this life; undefined before it is registered. */
  brokerEpoch: number | undefined
  /** The metadata as far as this broker has read it. */
  state: ClusterState | undefined
  isShuttingDown = false
  /** How long it may take to hear of new metadata. */
  metadataDelayMs = 30
  /** Time of this broker runs at its own rate from its own zero. */
  readonly #rate: number
  readonly #zeroMs: number
  #tickMs = Number.POSITIVE_INFINITY

  constructor(world: World, id: number, flushBeforeAck: boolean) {
    this.world = world
    this.id = id
    this.flushBeforeAck = flushBeforeAck
    this.disk = new SimDisk(this)
    this.fetches = new FetchServer(this)
    this.writes = new Writes(this)
    this.membership = new Membership(this)
    this.compactor = new Compactor(this)
    this.#rate = world.random.between(0.95, 1.05)
    this.#zeroMs = world.random.between(0, 1e6)
  }

  broker(id: number): BrokerView | undefined {
    return this.state?.brokers.get(id)
  }

  start(): void {
    assert(!this.isUp, 'a broker runs once')
    this.life++
    this.isUp = true
    this.isShuttingDown = false
    this.pausedUntilMs = 0
    this.brokerEpoch = undefined
    this.state = undefined
    this.disk.begin()
    this.membership.begin()
    this.compactor.begin()
  }

  /** The process ends without notice. Whether it can tell afterwards that it has lost nothing is what `mayHaveLost` says. */
  crash(how: 'kill' | 'power'): void {
    if (!this.isUp) return
    const isLossy = !this.flushBeforeAck && (how === 'power' || !this.world.knowsBoot)
    if (isLossy) this.world.checker.lossyFailure(this)
    this.membership.mayHaveLost ||= isLossy
    this.#end()
    if (how === 'power') this.log.cutPower(this.world.random)
    else this.log.kill(this.world.random)
    this.world.checker.content.endsLower(this)
    this.world.note(this.id, `${how} ${this.log.logEndOffset}`)
  }

  /** Having synced everything. */
  stop(): void {
    this.log.saveHighWatermark()
    this.#end()
    this.log.kill(this.world.random)
    this.log.flushed(this.log.logEndOffset)
    this.membership.mayHaveLost = false
  }

  #end(): void {
    this.isUp = false
    this.life++
    this.replication = undefined
    this.#tickMs = Number.POSITIVE_INFINITY
    this.fetches.end()
    this.writes.end()
    this.world.checker.ended(this)
  }

  /** The broker has read the metadata up to here. */
  metadataRead(state: ClusterState): void {
    const isRegistered = state.brokers.get(this.id)?.epoch === this.brokerEpoch
    if (isRegistered && this.replication === undefined) this.#open()
    if (isRegistered) this.handle({ type: 'metadata', partition: state.partition })
    this.state = state
    this.handle({ type: 'brokersChanged' })
  }

  #open(): void {
    this.replication = new Replication({
      config: this.#config(),
      log: this.log,
      brokers: this,
      minInsyncReplicas: this.world.rules.minInsyncReplicas,
    })
  }

  #config(): ReplicationConfig {
    return {
      nodeId: this.id,
      replicaLagTimeMaxMs: this.world.lagTimeMaxMs,
      fetchBackoffMs: 50,
      alterBackoffMs: 50,
      flushBeforeAck: this.flushBeforeAck,
      onCommittedLoss: this.world.mayLoseCommitted ? 'report' : 'halt',
    }
  }

  handle(event: ReplicationEvent): void {
    if (this.replication === undefined) return
    this.world.note(this.id, event.type)
    for (const effect of this.replication.handle(event, this.#now())) this.#carryOut(effect)
    this.#scheduleTick()
  }

  /** The log's own end, or its synced part, has moved. */
  ownEndMoved(): void {
    const { replication, log } = this
    if (replication === undefined) return
    if (!replication.isLeader || this.world.random.chance(0.1)) return this.handle({ type: 'logMoved' })
    const highWatermark = replication.localEndMoved(this.flushBeforeAck ? log.flushedOffset : log.logEndOffset)
    this.world.note(this.id, `own end ${highWatermark}`)
    if (highWatermark > log.highWatermark) this.#highWatermarkMoved(highWatermark)
  }

  /** Something of this life, later; a process that is stopped finds all that came meanwhile when it goes on. */
  later(delayMs: number, run: () => void): void {
    this.world.schedule(delayMs, this.inThisLife(run))
  }

  inThisLife<A extends unknown[]>(run: (...args: A) => void): (...args: A) => void {
    const { life } = this
    const inLife = (...args: A): void => {
      if (this.life !== life) return
      const pauseMs = this.pausedUntilMs - this.world.nowMs
      if (pauseMs > 0) this.world.schedule(pauseMs, () => inLife(...args))
      else run(...args)
    }
    return inLife
  }

  #now(): Now {
    return { monotonicMs: this.#zeroMs + this.world.nowMs * this.#rate, wallMs: 0 }
  }

  #scheduleTick(): void {
    const deadlineMs = this.replication?.nextDeadlineMs()
    if (deadlineMs === undefined) return
    const atMs = Math.max(this.world.nowMs + 0.01, (deadlineMs - this.#zeroMs) / this.#rate)
    if (atMs >= this.#tickMs) return
    this.#tickMs = atMs
    this.later(atMs - this.world.nowMs, () => {
      this.#tickMs = Number.POSITIVE_INFINITY
      this.handle({ type: 'tick' })
    })
  }

  #carryOut(effect: ReplicationEffect): void {
    const { world, log } = this
    world.checker.beforeEffect(this, effect)
    switch (effect.type) {
      case 'becameLeader':
        log.assignLeaderEpoch(effect.leaderEpoch)
        break
      case 'lostLeadership':
        this.writes.end()
        this.fetches.wake()
        break
      case 'highWatermark':
        this.#highWatermarkMoved(effect.offset)
        break
      case 'answerFetch':
        this.fetches.answer(effect)
        break
      case 'alterPartition':
        this.#alterPartition(effect)
        break
      case 'fetch':
      case 'listOffset':
      case 'offsetForLeaderEpoch':
        this.fetches.send(effect)
        break
      case 'append':
        this.disk.append(world.batchesOf(effect.records.bytes))
        break
      case 'flush':
        this.disk.flush()
        break
      case 'truncate':
        this.disk.change(() => world.checker.truncates(this, effect.endOffset))
        break
      case 'truncateFully':
        this.disk.change(() => log.startAt(effect.startOffset))
        break
      case 'moveLogStart':
        this.disk.change(() => log.moveLogStart(effect.offset))
        break
      case 'assignEpochs':
        this.disk.change(() => log.assignEpochs(effect.epochs))
        break
      case 'committedLost':
      case 'isrUpdate':
        break
      case 'halt':
        world.checker.fail(`broker ${this.id} halts: ${effect.reason}`)
    }
  }

  #highWatermarkMoved(offset: number): void {
    this.world.checker.highWatermark(this, offset)
    this.log.highWatermark = offset
    if (this.world.contentRandom.chance(0.05)) this.world.checker.content.check(this)
    this.writes.highWatermarkMoved()
    if (this.world.random.chance(0.2)) this.fetches.wake()
    if (this.world.random.chance(0.3)) this.log.saveHighWatermark()
  }

  #alterPartition({ attemptId, ...wanted }: ReplicationEffect & { readonly type: 'alterPartition' }): void {
    const { brokerEpoch } = this
    assert(brokerEpoch !== undefined, 'who leads is registered')
    const broker = { brokerId: this.id, brokerEpoch }
    this.world.proposed(this, wanted.isr.at(-1)!.brokerId)
    this.membership.link.ask(
      controller => controller.alterPartition(broker, wanted, this.world.nowMs),
      this.inThisLife(answer => {
        if (answer === undefined) this.handle({ type: 'alterPartitionFailed', attemptId })
        else this.handle({ type: 'partitionAltered', attemptId, answer })
      }),
    )
  }
}
