import { assert } from '../../../base/assert.ts'
import type { Random } from '../../../base/random.ts'
import type { Now } from '../../../base/time.ts'
import { zeroUuid } from '../../../base/uuid.ts'
import type { ControlRecord } from '../../../protocol/control-record.ts'
import type { Endpoint } from '../../../protocol/records/control.ts'
import type { QuorumConfig } from '../config.ts'
import type { QuorumEffect, QuorumEvent, QuorumState } from '../events.ts'
import type { RaftBatch } from '../log-view.ts'
import type { RaftRequest } from '../messages.ts'
import { Quorum } from '../quorum.ts'
import { type Voter, VoterSet } from '../voters.ts'
import { effectText, requestText, responseText } from './effect-text.ts'
import { type SimBatch, SimLog, type SimSnapshot } from './sim-log.ts'

export type Reply = QuorumEffect & { type: 'reply' }

interface Message {
  readonly from: number
  readonly to: number
  readonly text: string
  readonly arrive: () => void
}

/** Timeouts as Kafka's defaults. */
const timeouts = {
  fetchTimeoutMs: 2000,
  electionTimeoutMs: 1000,
  electionBackoffMaxMs: 1000,
  requestTimeoutMs: 2000,
  retryBackoffMs: 20,
  fetchMaxWaitMs: 500,
  fetchMaxBytes: 1 << 20,
  fetchSnapshotMaxBytes: 10,
}

export interface SceneOptions {
  readonly voters: number
  /** Controllers that are no voters at first. */
  readonly observers?: number
  /** Voters by configuration, kraft.version 0. */
  readonly isStatic?: boolean
  readonly config?: Partial<QuorumConfig>
}

/**
 * A quorum played by hand: time moves, messages arrive and writes complete only when the test says so. Chance is fixed:
 * the lower its id, the sooner a node loses patience.
 */
export class Scene {
  nowMs = 0
  readonly lines: string[] = []
  messages: Message[] = []
  readonly snapshots = new Map<number, SimSnapshot>()
  readonly #players = new Map<number, Player>()
  readonly bytes: (readonly SimBatch[])[] = []
  readonly isStatic: boolean
  readonly voters: VoterSet

  constructor({ voters, observers = 0, isStatic = false, config = {} }: SceneOptions) {
    this.isStatic = isStatic
    const ids = Array.from({ length: voters + observers }, (_, i) => i + 1)
    const listed = ids.slice(0, voters).map(id => voterOfScene(id, isStatic ? zeroUuid : directoryOf(id)))
    this.voters = new VoterSet(listed)
    for (const id of ids) this.#players.set(id, new Player(this, id, config))
  }

  player(id: number): Player {
    const player = this.#players.get(id)
    assert(player !== undefined, 'the scene has this node')
    return player
  }

  get players(): Player[] {
    return [...this.#players.values()]
  }

  say(line: string): void {
    this.lines.push(line)
  }

  start(...ids: number[]): void {
    for (const id of ids.length > 0 ? ids : this.#players.keys()) this.player(id).start()
  }

  /** Moves time on, and ticks whoever had something due on the way. */
  advance(ms: number): void {
    const endMs = this.nowMs + ms
    for (;;) {
      const due = this.players
        .map(player => ({ player, atMs: player.deadlineMs }))
        .filter(({ atMs }) => atMs <= endMs)
        .sort((a, b) => a.atMs - b.atMs)[0]
      if (due === undefined) break
      this.nowMs = Math.max(this.nowMs, due.atMs)
      due.player.handle({ type: 'tick' })
    }
    this.nowMs = endMs
  }

  /** Delivers what is on the way between these nodes, and what that sets off, until nothing is. */
  deliver(isChosen: (message: Message) => boolean = () => true): void {
    for (let rounds = 0; rounds < 1000; rounds++) {
      const next = this.messages.find(isChosen)
      if (next === undefined) return
      this.messages = this.messages.filter(message => message !== next)
      this.say(`${next.from} -> ${next.to}: ${next.text}`)
      next.arrive()
    }
    assert(false, 'messages come to rest')
  }

  drop(isChosen: (message: Message) => boolean = () => true): void {
    for (const message of this.messages.filter(isChosen)) this.say(`${message.from} -x ${message.to}: ${message.text}`)
    this.messages = this.messages.filter(message => !isChosen(message))
  }

  /** Batches travel as a number: where to find them. */
  bytesOf(batches: readonly SimBatch[]): Buffer {
    const bytes = Buffer.alloc(batches.length === 0 ? 0 : 4)
    if (batches.length > 0) bytes.writeInt32BE(this.bytes.push(batches) - 1)
    return bytes
  }

  /** Elects this node and lets everybody know: leader, active, all caught up. */
  elect(id: number): void {
    this.advance(this.player(id).deadlineMs - this.nowMs)
    this.deliver()
    this.deliver()
  }
}

/** One node of a scene. */
export class Player {
  readonly scene: Scene
  readonly id: number
  log = new SimLog()
  quorumState: QuorumState | undefined
  directoryId: string
  quorum: Quorum | undefined
  /** Writes wait until `finishDisk`. */
  holdsDisk = false
  #openWrites: (() => void)[] = []
  /** All effects so far. */
  readonly effects: QuorumEffect[] = []
  readonly config: Partial<QuorumConfig>
  #life = 0
  #replies = new Map<number, (reply: Reply) => void>()
  #nextRequestId = 1
  part = Buffer.alloc(0)

  constructor(scene: Scene, id: number, config: Partial<QuorumConfig>) {
    this.scene = scene
    this.id = id
    this.config = config
    this.directoryId = directoryOf(id)
    if (!scene.isStatic) {
      const controlRecords: ControlRecord[] = [
        { type: 'kraftVersion', value: { version: 0, kraftVersion: 1 } },
        { type: 'kraftVoters', value: scene.voters.toRecord() },
      ]
      const bytes = Buffer.alloc(0)
      this.log.addSnapshot({ id: { endOffset: 0, epoch: 0 }, stateHash: 0, controlRecords, bytes }, false)
    }
  }

  get now(): Now {
    return { monotonicMs: this.scene.nowMs, wallMs: 1_000_000 + this.scene.nowMs }
  }

  get deadlineMs(): number {
    return this.quorum?.nextDeadlineMs() ?? Number.POSITIVE_INFINITY
  }

  start(): void {
    this.#life++
    const latest = [...this.log.snapshots.values()].at(-1)
    const inSnapshot = (latest?.controlRecords ?? []).map(record => ({
      offset: (latest?.id.endOffset ?? 0) - 1,
      record,
    }))
    const inLog = this.log.batches.flatMap(batch => batch.controlRecords)
    this.quorum = new Quorum({
      config: {
        ...timeouts,
        nodeId: this.id,
        directoryId: this.directoryId,
        clusterId: 'cluster',
        isController: true,
        listenerName: 'CONTROLLER',
        listeners: endpointsOf(this.id),
        bootstrapServers: [],
        kraftVersionFeature: { minSupportedVersion: 0, maxSupportedVersion: 1 },
        autoJoin: false,
        ...this.config,
      },
      random: new FixedRandom(this.id),
      log: this.log,
      quorumState: this.quorumState,
      staticVoters: this.scene.isStatic ? this.scene.voters : new VoterSet([]),
      controlRecords: [...inSnapshot, ...inLog],
    })
    this.#carryOut(this.quorum.start(this.now))
  }

  /** The process dies. What was not synced is gone. */
  crash(): void {
    this.#life++
    this.quorum = undefined
    this.#openWrites = []
    this.log.crash(0)
  }

  handle(event: QuorumEvent): QuorumEffect[] {
    if (this.quorum === undefined) return []
    const effects = this.quorum.handle(event, this.now)
    this.#carryOut(effects)
    return effects
  }

  /** A request from outside; the reply, if it came at once. */
  ask(request: RaftRequest, apiVersion = 18): Reply | undefined {
    let answer: Reply | undefined
    this.request(
      request,
      reply => {
        answer = reply
      },
      apiVersion,
    )
    return answer
  }

  request(request: RaftRequest, answer: (reply: Reply) => void, apiVersion = 18): void {
    const requestId = this.#nextRequestId++
    this.#replies.set(requestId, answer)
    this.handle({ type: 'request', requestId, apiVersion, ...request })
  }

  append(recordCount: number): QuorumEffect[] {
    return this.handle({ type: 'append', appendId: 1, leaderEpoch: this.quorum!.epoch, recordCount, bytes: undefined })
  }

  /** A snapshot of all that has committed; the log starts there from now on. */
  takeSnapshot(bytes: Buffer): void {
    const { highWatermark, voters } = this.quorum!
    const epoch = this.log.at(highWatermark - 1)!.leaderEpoch
    const controlRecords: ControlRecord[] = [
      { type: 'kraftVersion', value: { version: 0, kraftVersion: 1 } },
      { type: 'kraftVoters', value: voters.toRecord() },
    ]
    const snapshot = { id: { endOffset: highWatermark, epoch }, stateHash: 0, controlRecords, bytes }
    this.scene.snapshots.set(highWatermark, snapshot)
    this.log.addSnapshot(snapshot, true)
    this.handle({ type: 'snapshotTaken', snapshotId: snapshot.id })
  }

  /** Completes the writes that are held, and those that follow from them. */
  finishDisk(): void {
    for (let next = this.#openWrites.shift(); next !== undefined; next = this.#openWrites.shift()) next()
  }

  #carryOut(effects: QuorumEffect[]): void {
    this.effects.push(...effects)
    for (const effect of effects) {
      this.scene.say(`  ${this.id} ${effectText(effect)}`)
      this.#do(effect)
    }
    if (!this.holdsDisk) this.finishDisk()
  }

  #write(run: () => void): void {
    const life = this.#life
    this.#openWrites.push(() => {
      if (this.#life === life) run()
    })
  }

  #do(effect: QuorumEffect): void {
    switch (effect.type) {
      case 'persistQuorumState':
        this.#write(() => {
          this.quorumState = effect.quorumState
          this.handle({ type: 'quorumStatePersisted' })
        })
        break
      case 'append':
        this.#append([batchOf(effect)])
        break
      case 'appendFetched':
        this.#append(effect.batches as readonly SimBatch[])
        break
      case 'sync':
        this.log.startSync()
        this.#write(() => {
          this.log.syncDone()
          this.handle({ type: 'flushed' })
        })
        break
      case 'truncate':
        this.#write(() => {
          this.log.truncate(effect.endOffset)
          this.handle({ type: 'truncated' })
        })
        break
      case 'readLog':
        this.#write(() => {
          const batches = this.log.read(effect.offset, 100)
          this.handle({ type: 'logRead', requestId: effect.requestId, records: this.scene.bytesOf(batches) })
        })
        break
      case 'readSnapshot':
        this.#write(() => {
          const { requestId, snapshotId, position, maxBytes } = effect
          const bytes = this.log.snapshots.get(snapshotId.endOffset)?.bytes.subarray(position, position + maxBytes)
          this.handle({ type: 'snapshotRead', requestId, bytes })
        })
        break
      case 'writeSnapshot':
        this.part = Buffer.concat([effect.position === 0 ? Buffer.alloc(0) : this.part, effect.bytes])
        this.#write(() => this.handle({ type: 'snapshotWritten' }))
        break
      case 'loadSnapshot':
        this.#write(() => {
          const { controlRecords } = this.scene.snapshots.get(effect.snapshotId.endOffset)!
          this.log.load({ id: effect.snapshotId, stateHash: 0, controlRecords, bytes: this.part })
          this.handle({ type: 'snapshotLoaded', controlRecords })
        })
        break
      case 'send':
        this.#send(effect)
        break
      case 'reply':
        this.#replies.get(effect.requestId)?.(effect)
        break
      default:
        break
    }
  }

  #append(batches: readonly SimBatch[]): void {
    this.log.append(batches)
    this.#write(() => {
      this.log.writeDone()
      this.handle({ type: 'appended' })
    })
  }

  #send({ to, correlationId, type: _type, ...request }: QuorumEffect & { type: 'send' }): void {
    const life = this.#life
    const target = to.type === 'node' ? to.id : to.index + 1
    const receive = (event: QuorumEvent) => {
      if (this.#life === life) this.handle(event)
    }
    this.scene.messages.push({
      from: this.id,
      to: target,
      text: requestText(request),
      arrive: () => {
        if (request.api === 'apiVersions') {
          const response = {
            errorCode: 0,
            supportedFeatures: [{ name: 'kraft.version', minVersion: 0, maxVersion: 1 }],
          }
          receive({ type: 'response', correlationId, api: 'apiVersions', response })
          return
        }
        this.scene.player(target).request(request, reply => {
          const { requestId: _requestId, type: _reply, ...answer } = reply
          this.scene.messages.push({
            from: target,
            to: this.id,
            text: responseText(answer),
            arrive: () => receive({ type: 'response', correlationId, ...answer, batches: this.#batchesOf(reply) }),
          })
        })
      },
    })
  }

  #batchesOf(reply: Reply): readonly RaftBatch[] {
    if (reply.api !== 'fetch') return []
    const records = reply.response.responses[0]?.partitions[0].records
    return records == null || records.length === 0 ? [] : this.scene.bytes[records.readInt32BE()]
  }
}

/** The lower the id, the lower the number. */
class FixedRandom implements Random {
  readonly #id: number

  constructor(id: number) {
    this.#id = id
  }
  below(bound: number): number {
    return Math.floor((bound * (this.#id - 1)) / 10)
  }
  bytes(length: number): Buffer {
    return Buffer.alloc(length, this.#id)
  }
}

export function directoryOf(id: number): string {
  return `directory${id}xxxxxxxxxxxA`
}

export function endpointsOf(id: number): Endpoint[] {
  return [{ name: 'CONTROLLER', host: `node-${id}`, port: 9093 }]
}

export function voterOfScene(id: number, directoryId = directoryOf(id)): Voter {
  const kraftVersionFeature = { minSupportedVersion: 0, maxSupportedVersion: 1 }
  return { id, directoryId, endpoints: endpointsOf(id), kraftVersionFeature }
}

function batchOf({ baseOffset, leaderEpoch, batch }: QuorumEffect & { type: 'append' }): SimBatch {
  const records = batch.type === 'control' ? batch.records : []
  const count = batch.type === 'control' ? records.length : batch.recordCount
  return {
    name: `${baseOffset}/${leaderEpoch}`,
    baseOffset,
    lastOffset: baseOffset + count - 1,
    leaderEpoch,
    controlRecords: records.map((record, i) => ({ offset: baseOffset + i, record })),
    bytes: Buffer.alloc(0),
  }
}
