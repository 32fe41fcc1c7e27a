import { assert } from '../../../base/assert.ts'
import { ErrorCode } from '../../../base/error-code.ts'
import type { Now } from '../../../base/time.ts'
import type { QuorumConfig } from '../config.ts'
import type { QuorumEffect, QuorumEvent, QuorumState } from '../events.ts'
import type { SnapshotId } from '../log-view.ts'
import type { RaftRequest } from '../messages.ts'
import { Quorum } from '../quorum.ts'
import { VoterSet } from '../voters.ts'
import type { Checker } from './checker.ts'
import type { SimBatch, SimLog, SimSnapshot } from './sim-log.ts'
import type { SimRandom } from './sim-random.ts'
import type { World } from './world.ts'

/** One directory: what outlives a process. A wiped node gets a new one, with another id. */
export interface SimDirectory {
  readonly directoryId: string
  readonly log: SimLog
  quorumState: QuorumState | undefined
}

/** One replica: the quorum core with its directory, the shell's duties done with delays and failures by seed. */
export class SimNode {
  readonly id: number
  readonly world: World
  readonly checker: Checker
  readonly random: SimRandom
  directory: SimDirectory
  quorum: Quorum | undefined
  /** Counts processes: what an older one had under way is dropped. */
  life = 0
  pausedUntilMs = 0
  /** Time of this node runs at its own rate from its own zero. */
  readonly #rate: number
  readonly #zeroMs: number
  #tickMs = Number.POSITIVE_INFINITY
  #diskFreeMs = 0
  slowDiskUntilMs = 0
  /** The state machine: what was applied, as a hash over the names of the batches. */
  appliedOffset = 0
  stateHash = 0
  /** The epoch that this node leads, as its effects tell. */
  ledEpoch: number | undefined
  ledSinceMs = 0
  /** The epoch in which this node may act as the controller. */
  activeEpoch: number | undefined
  isShuttingDown = false
  /** A truncation or a new snapshot is under way: log and voter set may be of different times. */
  isChangingLog = false
  /** The quorum state that is on its way to the disk. */
  #openState: QuorumState | undefined
  /** The snapshot that is being fetched. */
  #part: Buffer | undefined
  #requests = new Map<number, (effect: QuorumEffect & { type: 'reply' }) => void>()
  #nextRequestId = 1

  constructor(world: World, id: number, directory: SimDirectory) {
    this.world = world
    this.checker = world.checker
    this.random = world.random
    this.id = id
    this.directory = directory
    this.#rate = world.random.between(0.95, 1.05)
    this.#zeroMs = world.random.between(0, 1e6)
  }

  get isUp(): boolean {
    return this.quorum !== undefined
  }
  get log(): SimLog {
    return this.directory.log
  }

  /** Still suffers from a fault: has not gone on, is about to leave, or waits for its disk. */
  get isHindered(): boolean {
    const { nowMs } = this.world
    return (
      this.pausedUntilMs > nowMs || this.isShuttingDown || this.slowDiskUntilMs > nowMs || this.#diskFreeMs > nowMs + 10
    )
  }

  start(): void {
    assert(this.quorum === undefined, 'a node runs once')
    this.life++
    this.pausedUntilMs = 0
    this.#diskFreeMs = this.world.nowMs
    this.#part = undefined
    this.#openState = undefined
    this.isChangingLog = false
    this.#requests.clear()
    this.ledEpoch = undefined
    this.activeEpoch = undefined
    this.isShuttingDown = false
    const snapshot = [...this.log.snapshots.values()].at(-1)
    this.appliedOffset = snapshot?.id.endOffset ?? 0
    this.stateHash = snapshot?.stateHash ?? 0
    const fromSnapshot = (snapshot?.controlRecords ?? []).map(record => ({
      offset: (snapshot?.id.endOffset ?? 0) - 1,
      record,
    }))
    const fromLog = this.log.batches
      .filter(batch => batch.baseOffset >= (snapshot?.id.endOffset ?? 0))
      .flatMap(batch => batch.controlRecords)
    this.quorum = new Quorum({
      config: this.#config(),
      random: this.random,
      log: this.log,
      quorumState: this.directory.quorumState,
      staticVoters: this.world.staticVoters ?? new VoterSet([]),
      controlRecords: [...fromSnapshot, ...fromLog],
    })
    this.checker.started(this)
    this.#carryOut(this.quorum.start(this.#now()))
  }

  /** The process is gone, and of what was not synced a part. */
  crash(): void {
    this.quorum = undefined
    this.life++
    this.#tickMs = Number.POSITIVE_INFINITY
    if (this.#openState !== undefined && this.random.chance(0.5)) this.directory.quorumState = this.#openState
    this.log.crash(this.random.below(this.log.unsyncedOperations + 1))
    this.checker.crashed(this)
  }

  handle(event: QuorumEvent): void {
    if (this.quorum === undefined) return
    if (this.pausedUntilMs > this.world.nowMs) {
      // A process that was stopped finds all that came meanwhile when it goes on.
      this.later(this.pausedUntilMs - this.world.nowMs, () => this.handle(event))
      return
    }
    this.world.note(this.id, event.type)
    if (event.type === 'request' && event.api === 'fetch') {
      this.checker.hears(this, event.request.replicaState.replicaId)
    }
    if (event.type === 'request' && event.api === 'fetchSnapshot') this.checker.hears(this, event.request.replicaId)
    this.#carryOut(this.quorum.handle(event, this.#now()))
  }

  /** Something of this life, later. */
  later(delayMs: number, run: () => void): void {
    const { life } = this
    this.world.schedule(delayMs, () => {
      if (this.life === life) run()
    })
  }

  /** A request from outside; `answer` gets the reply, if one comes in this life. */
  request(request: RaftRequest, answer: (reply: QuorumEffect & { type: 'reply' }) => void): void {
    const requestId = this.#nextRequestId++
    this.#requests.set(requestId, answer)
    this.handle({ type: 'request', requestId, apiVersion: 18, ...request })
  }

  takeSnapshot(movesStart: boolean): void {
    const { quorum } = this
    if (quorum === undefined || this.appliedOffset <= (this.log.latestSnapshotId?.endOffset ?? 0)) return
    const endOffset = this.appliedOffset
    const last = this.log.at(endOffset - 1)
    if (last === undefined) return
    const snapshot = this.world.snapshotAt({ endOffset, epoch: last.leaderEpoch }, this.stateHash)
    this.log.addSnapshot(snapshot, movesStart)
    this.handle({ type: 'snapshotTaken', snapshotId: snapshot.id })
  }

  #config(): QuorumConfig {
    return {
      ...this.world.timeouts,
      nodeId: this.id,
      directoryId: this.directory.directoryId,
      clusterId: 'cluster',
      isController: true,
      listenerName: 'CONTROLLER',
      listeners: this.world.endpointsOf(this.id),
      bootstrapServers: this.world.bootstrapServers,
      kraftVersionFeature: { minSupportedVersion: 0, maxSupportedVersion: 1 },
      fetchMaxBytes: 1 << 20,
      fetchSnapshotMaxBytes: 64,
      autoJoin: false,
    }
  }

  #now(): Now {
    const monotonicMs = this.#zeroMs + this.world.nowMs * this.#rate
    return { monotonicMs, wallMs: Math.floor(monotonicMs) }
  }

  #armTick(): void {
    const deadlineMs = this.quorum?.nextDeadlineMs()
    if (deadlineMs === undefined) return
    const atMs = (deadlineMs - this.#zeroMs) / this.#rate + 0.001
    if (atMs >= this.#tickMs && this.#tickMs > this.world.nowMs) return
    this.#tickMs = atMs
    this.later(Math.max(0, atMs - this.world.nowMs), () => {
      if (this.#tickMs !== atMs) return
      this.#tickMs = Number.POSITIVE_INFINITY
      this.handle({ type: 'tick' })
    })
  }

  /** The disk does one thing after the other. */
  #disk(run: () => void): void {
    const { nowMs } = this.world
    const takesMs = nowMs < this.slowDiskUntilMs ? this.random.between(50, 1500) : this.random.between(0.05, 4)
    this.#diskFreeMs = Math.max(this.#diskFreeMs, nowMs) + takesMs
    this.later(this.#diskFreeMs - nowMs, run)
  }

  #carryOut(effects: QuorumEffect[]): void {
    for (const effect of effects) {
      this.world.note(this.id, effect.type)
      this.checker.beforeEffect(this, effect)
      this.#do(effect)
    }
    this.checker.settled(this)
    this.#armTick()
  }

  #do(effect: QuorumEffect): void {
    switch (effect.type) {
      case 'persistQuorumState': {
        this.#openState = effect.quorumState
        this.#disk(() => {
          this.directory.quorumState = effect.quorumState
          this.#openState = undefined
          this.handle({ type: 'quorumStatePersisted' })
        })
        break
      }
      case 'send':
        this.world.send(this, effect)
        break
      case 'reply':
        this.#requests.get(effect.requestId)?.(effect)
        this.#requests.delete(effect.requestId)
        break
      case 'append':
        this.#append([this.world.batchOf(this, effect)])
        break
      case 'appendFetched':
        this.#append(effect.batches as readonly SimBatch[])
        break
      case 'sync':
        this.log.startSync()
        this.#disk(() => {
          this.log.syncDone()
          this.handle({ type: 'flushed' })
        })
        break
      case 'truncate':
        this.#truncate(effect.endOffset)
        break
      case 'readLog': {
        const { requestId, offset } = effect
        this.later(this.random.between(0, 3), () => {
          const batches = this.log.read(offset, 1 + this.random.below(8))
          this.handle({ type: 'logRead', requestId, records: this.world.bytesOf(batches) })
        })
        break
      }
      case 'readSnapshot':
        this.#readSnapshot(effect)
        break
      case 'writeSnapshot':
        this.#part = Buffer.concat([
          effect.position === 0 ? Buffer.alloc(0) : (this.#part ?? Buffer.alloc(0)),
          effect.bytes,
        ])
        this.#disk(() => this.handle({ type: 'snapshotWritten' }))
        break
      case 'discardSnapshot':
        this.#part = undefined
        break
      case 'loadSnapshot':
        this.isChangingLog = true
        this.#disk(() => this.#loadSnapshot(effect.snapshotId))
        break
      case 'highWatermark':
        this.#apply(effect.offset)
        break
      case 'leaderActive':
        this.activeEpoch = effect.leaderEpoch
        break
      case 'becameLeader':
        this.ledEpoch = effect.leaderEpoch
        this.ledSinceMs = this.world.nowMs
        break
      case 'lostLeadership':
        this.ledEpoch = undefined
        this.activeEpoch = undefined
        break
      case 'shutdownComplete':
        this.world.schedule(0, () => this.world.stopped(this))
        break
      case 'halt':
        this.checker.fail(`node ${this.id} halted: ${effect.reason}`)
        break
      case 'kraftVersionUpgraded':
        if (effect.errorCode === ErrorCode.none) this.checker.upgraded(this)
        break
      case 'appendRefused':
      case 'leaderChanged':
        break
    }
  }

  #readSnapshot({ requestId, snapshotId, position, maxBytes }: QuorumEffect & { type: 'readSnapshot' }): void {
    this.later(this.random.between(0, 3), () => {
      const bytes = this.log.snapshots.get(snapshotId.endOffset)?.bytes.subarray(position, position + maxBytes)
      this.handle({ type: 'snapshotRead', requestId, bytes })
    })
  }

  #append(batches: readonly SimBatch[]): void {
    this.log.append(batches)
    this.#disk(() => {
      this.log.writeDone()
      this.handle({ type: 'appended' })
    })
  }

  #truncate(endOffset: number): void {
    const isAtOnce = this.random.chance(0.5)
    this.isChangingLog = true
    if (isAtOnce) this.log.truncate(endOffset)
    this.#disk(() => {
      if (!isAtOnce) this.log.truncate(endOffset)
      this.isChangingLog = false
      this.handle({ type: 'truncated' })
    })
  }

  #loadSnapshot(id: SnapshotId): void {
    const snapshot: SimSnapshot | undefined = this.world.snapshots.get(id.endOffset)
    assert(snapshot !== undefined && this.#part !== undefined, 'there is a snapshot to load')
    const isGood = snapshot.id.epoch === id.epoch && snapshot.bytes.equals(this.#part)
    this.#part = undefined
    this.isChangingLog = false
    if (!isGood) {
      this.handle({ type: 'snapshotRejected' })
      return
    }
    this.checker.loading(this, snapshot)
    this.log.load(snapshot)
    this.appliedOffset = id.endOffset
    this.stateHash = snapshot.stateHash
    this.handle({ type: 'snapshotLoaded', controlRecords: snapshot.controlRecords })
  }

  #apply(offset: number): void {
    while (this.appliedOffset < offset) {
      const batch = this.log.at(this.appliedOffset)
      assert(batch !== undefined, 'what has committed is in the log')
      this.stateHash = this.world.hash(this.stateHash, batch.name)
      this.appliedOffset = batch.lastOffset + 1
    }
  }
}
