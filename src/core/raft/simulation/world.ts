import { zeroUuid } from '../../../base/uuid.ts'
import type { ControlRecord } from '../../../protocol/control-record.ts'
import type { Endpoint } from '../../../protocol/records/control.ts'
import type { QuorumConfig } from '../config.ts'
import type { QuorumEffect, QuorumEvent } from '../events.ts'
import type { SnapshotId } from '../log-view.ts'
import type { RaftRequest } from '../messages.ts'
import { isReplica, type ReplicaKey, type Voter, VoterSet } from '../voters.ts'
import { Checker } from './checker.ts'
import { EventQueue } from './event-queue.ts'
import { type SimBatch, SimLog, type SimSnapshot } from './sim-log.ts'
import { SimNode } from './sim-node.ts'
import { SimRandom } from './sim-random.ts'

export interface WorldOptions {
  readonly seed: number
  readonly voters: number
  /** Controllers that are not voters at first. */
  readonly spares: number
  /** Voters from the configuration (kraft.version 0) instead of the log. */
  readonly isStatic: boolean
  /** To kraft.version 1, from static voters. */
  readonly willUpgrade: boolean
}

type Send = QuorumEffect & { type: 'send' }
type Reply = QuorumEffect & { type: 'reply' }

/** Nodes, the network between them, and time. Everything that happens is an event of one queue. */
export class World {
  readonly random: SimRandom
  readonly checker = new Checker()
  readonly nodes: SimNode[] = []
  readonly staticVoters: VoterSet | undefined
  readonly bootstrapServers: { host: string; port: number }[]
  readonly snapshots = new Map<number, SimSnapshot>()
  readonly timeouts: Pick<
    QuorumConfig,
    | 'fetchTimeoutMs'
    | 'electionTimeoutMs'
    | 'electionBackoffMaxMs'
    | 'requestTimeoutMs'
    | 'retryBackoffMs'
    | 'fetchMaxWaitMs'
  > = {
    fetchTimeoutMs: 2000,
    electionTimeoutMs: 1000,
    electionBackoffMaxMs: 1000,
    requestTimeoutMs: 2000,
    retryBackoffMs: 20,
    fetchMaxWaitMs: 500,
  }
  /** Of each message. */
  lossProbability = 0
  duplicateProbability = 0
  maxDelayMs = 5
  readonly willUpgrade: boolean
  /** Links `from>to` on which nothing arrives. */
  readonly blocked = new Set<string>()
  /** Whether what arrives of a snapshot may be damaged. */
  damageProbability = 0
  readonly #queue = new EventQueue()
  readonly #bytes: (readonly SimBatch[])[] = []
  #trace = 0x811c9dc5
  #batches = 0
  #directories = 0

  constructor({ seed, voters, spares, isStatic, willUpgrade }: WorldOptions) {
    this.willUpgrade = willUpgrade
    this.random = new SimRandom(seed)
    const ids = Array.from({ length: voters + spares }, (_, i) => i + 1)
    this.bootstrapServers = isStatic ? [] : ids.slice(0, voters).map(id => ({ host: `node-${id}`, port: 9093 }))
    const directories = new Map(ids.map(id => [id, this.#newDirectoryId()]))
    const set = new VoterSet(
      ids.slice(0, voters).map(id => this.#voter(id, isStatic ? zeroUuid : directories.get(id)!)),
    )
    this.staticVoters = isStatic ? set : undefined
    const records: ControlRecord[] = [
      { type: 'kraftVersion', value: { version: 0, kraftVersion: 1 } },
      { type: 'kraftVoters', value: set.toRecord() },
    ]
    const bootstrap = { id: { endOffset: 0, epoch: 0 }, stateHash: 0, controlRecords: records, bytes: Buffer.alloc(0) }
    for (const id of ids) {
      const log = new SimLog()
      if (!isStatic) log.addSnapshot(bootstrap, false)
      this.nodes.push(new SimNode(this, id, { directoryId: directories.get(id)!, log, quorumState: undefined }))
    }
    this.checker.watch(this.nodes)
  }

  get nowMs(): number {
    return this.#queue.nowMs
  }
  get handledEvents(): number {
    return this.#queue.handled
  }
  /** A rolling hash over all that happened: equal for equal runs. */
  get trace(): string {
    return (this.#trace >>> 0).toString(16).padStart(8, '0')
  }

  schedule(delayMs: number, run: () => void): void {
    this.#queue.schedule(delayMs, run)
  }

  runUntil(timeMs: number): void {
    this.#queue.runUntil(timeMs)
  }

  note(id: number, what: string): void {
    this.#trace = this.hash(this.#trace, `${id}${what}`) ^ Math.floor(this.nowMs * 1000)
  }

  hash(before: number, text: string): number {
    let hash = before
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    return hash
  }

  endpointsOf(id: number): Endpoint[] {
    return [{ name: 'CONTROLLER', host: `node-${id}`, port: 9093 }]
  }

  /** The active leader of the newest epoch, if there is one. */
  get leader(): SimNode | undefined {
    const active = this.nodes.filter(node => node.isUp && node.activeEpoch !== undefined)
    return active.sort((a, b) => b.activeEpoch! - a.activeEpoch!)[0]
  }

  /** Whether this voter is still there: a wiped one never comes back. */
  hasDisk(voter: ReplicaKey): boolean {
    return this.nodes.some(node => isReplica(voter, { id: node.id, directoryId: node.directory.directoryId }))
  }

  /** The node's disk is replaced by an empty one. */
  wipe(node: SimNode): void {
    const log = new SimLog()
    node.directory = { directoryId: this.#newDirectoryId(), log, quorumState: undefined }
  }

  /** It left in good order: the process ends, having synced what it had. */
  stopped(node: SimNode): void {
    if (!node.isUp) return
    node.crash()
    this.schedule(this.random.between(100, 3000), () => this.restart(node))
  }

  restart(node: SimNode): void {
    if (!node.isUp) node.start()
  }

  send(from: SimNode, effect: Send): void {
    const { to } = effect
    const host = to.type === 'node' ? to.endpoints[0].host : this.bootstrapServers[to.index].host
    const target = this.nodes.find(({ id }) => host === `node-${id}`)
    if (target === undefined) return
    const copies = this.random.chance(this.duplicateProbability) ? 2 : 1
    for (let i = 0; i < copies; i++) {
      this.#carry(from.id, target.id, () => this.#arrive(from, target, effect))
    }
  }

  batchOf(node: SimNode, effect: QuorumEffect & { type: 'append' }): SimBatch {
    const { baseOffset, leaderEpoch, batch } = effect
    const count = batch.type === 'control' ? batch.records.length : batch.recordCount
    const name = `${batch.type}-${this.#batches++}@${baseOffset}/${leaderEpoch} by ${node.id}`
    const records = batch.type === 'control' ? batch.records : []
    const made: SimBatch = {
      name,
      baseOffset,
      lastOffset: baseOffset + count - 1,
      leaderEpoch,
      controlRecords: records.map((record, i) => ({ offset: baseOffset + i, record })),
      bytes: noBytes,
    }
    this.checker.names(made)
    return made
  }

  /** Batches travel as a number: where to find them. */
  bytesOf(batches: readonly SimBatch[]): Buffer {
    if (batches.length === 0) return noBytes
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(this.#bytes.push(batches) - 1)
    return bytes
  }

  /** Snapshots of one offset are the same wherever they are taken. */
  snapshotAt(id: SnapshotId, stateHash: number): SimSnapshot {
    const before = this.snapshots.get(id.endOffset)
    if (before !== undefined) {
      if (before.id.epoch !== id.epoch || before.stateHash !== stateHash) {
        this.checker.fail(`two states at offset ${id.endOffset}`)
      }
      return before
    }
    const voters = this.checker.committedVoters(id.endOffset)
    const controlRecords: ControlRecord[] =
      voters === undefined
        ? []
        : [
            { type: 'kraftVersion', value: { version: 0, kraftVersion: 1 } },
            { type: 'kraftVoters', value: voters },
          ]
    const bytes = Buffer.from(`snapshot ${id.endOffset}-${id.epoch} ${stateHash} `.repeat(1 + (id.endOffset % 7)))
    const snapshot = { id, stateHash, controlRecords, bytes }
    this.snapshots.set(id.endOffset, snapshot)
    return snapshot
  }

  /** A request of an administrator, to whoever leads. */
  ask(node: SimNode, request: RaftRequest): void {
    node.request(request, () => {})
  }

  #arrive(from: SimNode, target: SimNode, effect: Send): void {
    const { correlationId, to: _to, type: _type, ...request } = effect
    const { life } = from
    if (!target.isUp) {
      if (this.random.chance(0.5)) this.#deliver(target.id, from, life, { type: 'requestFailed', correlationId })
      return
    }
    if (request.api === 'apiVersions') {
      const feature = { name: 'kraft.version', minVersion: 0, maxVersion: 1 }
      const response = { errorCode: 0, supportedFeatures: [feature] }
      this.#deliver(target.id, from, life, { type: 'response', correlationId, api: 'apiVersions', response })
      return
    }
    target.request(request, reply => {
      if (reply.api === 'vote' && request.api === 'vote' && reply.response.topics[0]?.partitions[0].voteGranted) {
        this.checker.grants(target, request.request.topics[0].partitions[0])
      }
      const copies = this.random.chance(this.duplicateProbability) ? 2 : 1
      for (let i = 0; i < copies; i++) this.#deliver(target.id, from, life, this.#received(reply, correlationId))
    })
  }

  #received({ requestId: _requestId, type: _type, ...answer }: Reply, correlationId: number): QuorumEvent {
    if (answer.api === 'fetch') {
      const records = answer.response.responses[0]?.partitions[0].records
      const batches = records == null || records.length === 0 ? [] : this.#bytes[records.readInt32BE()]
      return { type: 'response', correlationId, batches, ...answer }
    }
    if (answer.api === 'fetchSnapshot' && this.random.chance(this.damageProbability)) {
      const [partition] = answer.response.topics[0]?.partitions ?? []
      const bytes = Buffer.from(partition?.unalignedRecords ?? noBytes)
      if (bytes.length > 0) {
        bytes[0] ^= 1
        const damaged = { ...partition, unalignedRecords: bytes }
        const response = {
          ...answer.response,
          topics: [{ name: answer.response.topics[0].name, partitions: [damaged] }],
        }
        return { type: 'response', correlationId, api: 'fetchSnapshot', response }
      }
    }
    return { type: 'response', correlationId, ...answer }
  }

  #deliver(fromId: number, to: SimNode, life: number, event: QuorumEvent): void {
    this.#carry(fromId, to.id, () => {
      if (to.life === life) to.handle(event)
    })
  }

  #carry(from: number, to: number, run: () => void): void {
    if (this.blocked.has(`${from}>${to}`) || this.random.chance(this.lossProbability)) return
    this.schedule(this.random.between(0.1, this.maxDelayMs), run)
  }

  #voter(id: number, directoryId: string): Voter {
    return {
      id,
      directoryId,
      endpoints: this.endpointsOf(id),
      kraftVersionFeature: { minSupportedVersion: 0, maxSupportedVersion: 1 },
    }
  }

  #newDirectoryId(): string {
    return `${`directory${this.#directories++}`.padEnd(21, 'x')}A`
  }
}

const noBytes = Buffer.alloc(0)
