import { assert } from '../../base/assert.ts'
import { ErrorCode } from '../../base/error-code.ts'
import type { Random } from '../../base/random.ts'
import type { PartitionLog } from '../../core/log/partition-log.ts'
import type { SessionChange } from '../../core/metadata/controller/broker-sessions.ts'
import type { ControllerCommand } from '../../core/metadata/controller/commands.ts'
import type { ControllerOptions } from '../../core/metadata/controller/controller-state.ts'
import { MetadataController } from '../../core/metadata/controller/metadata-controller.ts'
import { type ControllerReply, failureReply } from '../../core/metadata/controller/replies.ts'
import { kraftVersionFeature } from '../../core/metadata/features.ts'
import type { MetadataDelta } from '../../core/metadata/metadata-delta.ts'
import type { MetadataImage } from '../../core/metadata/metadata-image.ts'
import { MetadataLoader } from '../../core/metadata/metadata-loader.ts'
import { type KnownRecord, type MetadataRecord, metadataRecords } from '../../core/metadata/records.ts'
import { snapshotRecords } from '../../core/metadata/snapshot.ts'
import type { QuorumConfig } from '../../core/raft/config.ts'
import type { QuorumEffect } from '../../core/raft/events.ts'
import { isBootstrapSnapshot } from '../../core/raft/log-view.ts'
import { Quorum } from '../../core/raft/quorum.ts'
import type { VoterSet } from '../../core/raft/voters.ts'
import { recordBatchCodec, UnknownRecord } from '../../core/state-machine/record-batch-codec.ts'
import { StateMachineRunner } from '../../core/state-machine/runner.ts'
import type { RequestId } from '../../core/state-machine/state-machine.ts'
import type { Clock } from '../../io/clock.ts'
import { type Disk, DiskError, type FileRange } from '../../io/disk.ts'
import type { LogSink } from '../../io/log-sink.ts'
import type { ControlRecord } from '../../protocol/control-record.ts'
import { batchSizeAt, isControlBatch, readLastOffset } from '../../records/batch.ts'
import type { MetadataRoom } from '../../storage/metadata-room.ts'
import type { Deadline, Deadlines } from '../deadlines.ts'
import { directoryProblem } from '../directory-problem.ts'
import { readBatches } from '../read-log.ts'
import { StartError } from '../start-error.ts'
import { decodeControlRecords } from './control-batch.ts'
import { KraftVersionUpgrades } from './kraft-version-upgrades.ts'
import { QuorumDriver, type QuorumListener, type QuorumTransport } from './quorum-driver.ts'
import { QuorumReplicatedLog } from './quorum-replicated-log.ts'
import { QuorumStateFile } from './quorum-state-file.ts'
import { RaftLog } from './raft-log.ts'
import { decodeSnapshot, encodeSnapshot } from './snapshot-codec.ts'
import { SnapshotFiles, snapshotFileName } from './snapshot-files.ts'

type ControllerRunner = StateMachineRunner<
  ControllerCommand,
  MetadataRecord,
  SessionChange,
  ControllerReply,
  never,
  undefined
>

type KraftVersionUpgraded = QuorumEffect & { readonly type: 'kraftVersionUpgraded' }

const sliceMs = 5
const readBytes = 1 << 20
const maxWaitingAnswers = 10_000
/** What is not done on a full disk, and what a full disk is emptied by. */
const takesRoom: ReadonlySet<ControllerRequest['type']> = new Set([
  'createTopics',
  'createPartitions',
  'allocateProducerIds',
])
const makesRoom: ReadonlySet<ControllerRequest['type']> = new Set([
  // Without it there is no broker that could be asked for the others.
  'registerBroker',
  'deleteTopics',
  'alterConfigs',
  'incrementalAlterConfigs',
])
const restoring = 'The metadata of the cluster cannot be trusted: restore the file from a copy'

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never
type RequestCommand = Extract<ControllerCommand, { readonly requestId: RequestId }>
/** A command of this node or of a client, without the id that is given here. */
export type ControllerRequest = DistributiveOmit<RequestCommand, 'requestId'>

export interface MetadataNodeOptions {
  readonly clock: Clock
  readonly random: Random
  readonly disk: Disk
  readonly log: LogSink
  readonly deadlines: Deadlines
  readonly quorum: QuorumConfig
  readonly staticVoters: VoterSet
  /** `__cluster_metadata-0` in the metadata directory. */
  readonly directory: string
  readonly metadataLog: PartitionLog<FileRange>
  readonly room: MetadataRoom
  readonly transport: QuorumTransport
  readonly controller: Omit<ControllerOptions, 'kraftVersion'>
  /** `metadata.log.max.record.bytes.between.snapshots` */
  readonly snapshotEveryBytes: number
  /** `metadata.log.max.snapshot.interval.ms`; 0: not by time. */
  readonly snapshotEveryMs: number
  /** How long an answer may wait for its records to be committed. */
  readonly answerTimeoutMs: number
  /** What will be different: the time for work that need not be done in the turn in which the image moves. */
  readonly prepare: (delta: MetadataDelta) => Promise<void> | undefined
  /** What is different, before the image moves. Returns what has to be done before the change counts as served. */
  readonly publish: (delta: MetadataDelta) => Promise<void> | undefined
  readonly leaderChanged: (leaderId: number | undefined) => void
  readonly halted: (reason: string) => void
}

/**
 * The metadata of one node: the quorum and its log, the image fed from what is committed, and, while this node is the
 * active controller, the decider that runs ahead of it.
 */
export class MetadataNode implements QuorumListener {
  readonly #options: MetadataNodeOptions
  readonly #loader = new MetadataLoader()
  readonly #snapshots: SnapshotFiles
  readonly #stateFile: QuorumStateFile
  #driver: QuorumDriver | undefined
  #quorum: Quorum | undefined
  #runner: ControllerRunner | undefined
  #runnerDeadline: Deadline | undefined
  readonly #waiting = new Map<RequestId, (reply: ControllerReply) => void>()
  #lastRequestId = 0
  /** What formatting wrote, for the first controller to copy into the log. */
  #bootstrap: readonly KnownRecord[] = []
  /** The epoch in which this node leads and has committed; the decider starts once the image is up to it. */
  #electedEpoch: number | undefined
  #activeEpoch: number | undefined
  #servedOffset = 0
  #isPumping = false
  #isStopped = false
  #bytesSinceSnapshot = 0
  #lastSnapshotMs: number
  #isTakingSnapshot = false
  readonly #upgrades = new KraftVersionUpgrades()
  #activated: (() => void) | undefined

  constructor(options: MetadataNodeOptions) {
    this.#options = options
    this.#snapshots = new SnapshotFiles(options.disk, options.directory)
    const voterIds = options.staticVoters.voters.map(voter => voter.id)
    this.#stateFile = new QuorumStateFile(options.disk, options.directory, {
      clusterId: options.quorum.clusterId,
      voterIds,
    })
    this.#lastSnapshotMs = options.clock.now().monotonicMs
  }

  get image(): MetadataImage {
    return this.#loader.image
  }

  /** Everything below it is in the image and served. */
  get servedOffset(): number {
    return this.#servedOffset
  }

  get logEndOffset(): number {
    return this.#options.metadataLog.logEndOffset
  }

  get isActiveController(): boolean {
    return this.#activeEpoch !== undefined
  }

  get quorum(): Quorum | undefined {
    return this.#quorum
  }

  /** Reads what is there and joins the quorum. Rejects with a StartError that names the file that cannot be trusted. */
  async start(): Promise<void> {
    const { clock, random, deadlines, metadataLog, transport } = this.#options
    await this.#snapshots.dropUnfinished()
    await this.#snapshots.removeBelow(metadataLog.logStartOffset)
    const fromSnapshot = await this.#loadSnapshot()
    const state = this.#stateFile.read()
    if (state.type === 'damaged') throw new StartError(`${state.reason}. ${restoring}`)
    const snapshotEnd = this.#snapshots.latest?.endOffset ?? 0
    const controlRecords = [
      ...fromSnapshot.map(record => ({ offset: snapshotEnd - 1, record })),
      ...(await this.#readControlRecords(snapshotEnd)),
    ]
    const quorum = new Quorum({
      config: this.#options.quorum,
      random,
      log: new RaftLog(metadataLog, this.#snapshots),
      quorumState: state.type === 'read' ? state.state : undefined,
      staticVoters: this.#options.staticVoters,
      controlRecords,
    })
    this.#quorum = quorum
    this.#driver = new QuorumDriver({
      clock,
      deadlines,
      quorum,
      log: metadataLog,
      stateFile: this.#stateFile,
      snapshots: this.#snapshots,
      transport,
      listener: this,
    })
    this.#driver.start()
  }

  /** Carried out by the active controller; answered NOT_CONTROLLER where that is another node. */
  async submit(request: ControllerRequest): Promise<ControllerReply> {
    return await (request.type === 'updateFeatures' ? this.#updateFeatures(request) : this.#decide(request))
  }

  /** The quorum itself changes the level of kraft.version, once nothing else is in the way of the whole request. */
  async #updateFeatures(update: ControllerRequest & { readonly type: 'updateFeatures' }): Promise<ControllerReply> {
    const { featureUpdates, validateOnly } = update.request
    const kraftVersion = featureUpdates.find(({ feature }) => feature === kraftVersionFeature)?.maxVersionLevel
    const leaderEpoch = this.#activeEpoch
    if (kraftVersion === undefined || kraftVersion === this.#quorum?.kraftVersion || leaderEpoch === undefined)
      return await this.#decide(update)
    const reply = await this.#decide({ ...update, request: { ...update.request, validateOnly: true } })
    if (reply.type !== 'updateFeatures' || reply.response.errorCode !== ErrorCode.none) return reply
    const answer = await this.#upgrades.ask(this.#driver!, { leaderEpoch, kraftVersion, validateOnly })
    if (answer.errorCode === ErrorCode.none) return validateOnly ? reply : await this.#decide(update)
    return upgradeFailed(answer)
  }

  async #decide(request: ControllerRequest): Promise<ControllerReply> {
    const requestId = ++this.#lastRequestId
    const command = { ...request, requestId } as RequestCommand
    const runner = this.#runner
    if (runner === undefined || this.#activeEpoch === undefined) return failureReply(command, ErrorCode.notController)
    if (this.#options.room.isFull) {
      if (takesRoom.has(request.type)) return failureReply(command, ErrorCode.kafkaStorageError)
      if (makesRoom.has(request.type)) this.#options.room.give()
    }
    return await new Promise(resolve => {
      this.#waiting.set(requestId, resolve)
      runner.submit(command, this.#options.clock.now())
      this.#armRunner()
    })
  }

  /** Resolves when this node is the active controller, or when it has stopped. */
  async untilActive(): Promise<void> {
    if (this.#activeEpoch !== undefined || this.#isStopped) return
    await new Promise<void>(resolve => {
      this.#activated = resolve
    })
  }

  /** Leaves the quorum in good order. */
  async close(): Promise<void> {
    await this.#driver?.shutdown()
    this.stop()
  }

  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#activated?.()
    this.#driver?.stop()
    this.#upgrades.end()
    this.#snapshots.close()
    this.#runnerDeadline?.cancel()
    this.#runner?.unload()
  }

  highWatermarkMoved(): void {
    this.#startPump()
  }

  leaderChanged({ leaderId }: { readonly leaderId: number | undefined }): void {
    this.#options.leaderChanged(leaderId)
  }

  becameLeader(): void {}

  leaderActive(leaderEpoch: number): void {
    this.#electedEpoch = leaderEpoch
    this.#startPump()
  }

  lostLeadership(): void {
    this.#electedEpoch = undefined
    this.#activeEpoch = undefined
    const runner = this.#runner
    this.#runner = undefined
    this.#runnerDeadline?.cancel()
    this.#runnerDeadline = undefined
    runner?.unload()
  }

  appendRefused(): void {
    this.#runner?.appendFailed()
  }

  kraftVersionUpgraded(answer: KraftVersionUpgraded): void {
    this.#upgrades.answered(answer)
  }

  snapshotLoaded(): void {
    this.#loadSnapshot().catch(error => this.halted(messageOf(error)))
  }

  halted(reason: string): void {
    if (this.#isStopped) return
    this.stop()
    this.#options.halted(reason)
  }

  async #loadSnapshot(): Promise<readonly ControlRecord[]> {
    const id = this.#snapshots.latest
    if (id === undefined) return []
    const bytes = await this.#snapshots.read(id, 0, Number.MAX_SAFE_INTEGER)
    const decoded = bytes === undefined ? undefined : decodeSnapshot(bytes)
    if (decoded === undefined) {
      throw new StartError(`${this.#options.directory}/${snapshotFileName(id)} is damaged. ${restoring}`)
    }
    const records = decoded.values.map(value => decodeValue(value))
    if (isBootstrapSnapshot(id)) {
      this.#bootstrap = records.filter((record): record is KnownRecord => record.type !== 'unknown')
      return decoded.controlRecords
    }
    this.#loader.startSnapshot(id.endOffset)
    for (const record of records) this.#loader.replay(record, -1)
    this.#loader.finishSnapshot()
    await this.#publish()
    return decoded.controlRecords
  }

  async #readControlRecords(
    fromOffset: number,
  ): Promise<{ readonly offset: number; readonly record: ControlRecord }[]> {
    const found: { readonly offset: number; readonly record: ControlRecord }[] = []
    const { metadataLog } = this.#options
    const start = Math.max(fromOffset, metadataLog.logStartOffset)
    await this.#forEachBatch(
      start,
      () => metadataLog.logEndOffset,
      'logEndOffset',
      batch => {
        if (isControlBatch(batch, 0)) found.push(...decodeControlRecords(batch))
      },
    )
    return found
  }

  /** Whole batches from `offset` up to `end()`, letting others run every few milliseconds. Stops when this node does. */
  async #forEachBatch(
    start: number,
    end: () => number,
    isolation: 'logEndOffset' | 'highWatermark',
    take: (batch: Buffer) => void,
  ): Promise<void> {
    const { metadataLog, clock } = this.#options
    let offset = start
    let sliceEndMs = clock.now().monotonicMs + sliceMs
    while (offset < end() && !this.#isStopped) {
      const answer = await readBatches(metadataLog, { offset, maxBytes: readBytes, isolation })
      if (answer.type === 'refused') throw new Error(`the metadata log cannot be read at offset ${offset}`)
      const { bytes } = answer
      if (bytes.length === 0) throw new Error(`the metadata log has no batch at offset ${offset}`)
      for (let at = 0; at < bytes.length; ) {
        const size = batchSizeAt(bytes, at)
        const batch = bytes.subarray(at, at + size)
        at += size
        if (readLastOffset(batch, 0) < offset) continue
        if (readLastOffset(batch, 0) >= end()) return
        take(batch)
        offset = readLastOffset(batch, 0) + 1
        if (clock.now().monotonicMs < sliceEndMs) continue
        await clock.yieldTurn()
        sliceEndMs = clock.now().monotonicMs + sliceMs
      }
    }
  }

  #startPump(): void {
    if (this.#isPumping || this.#isStopped) return
    this.#isPumping = true
    // In a later turn: the quorum is in the middle of its effects.
    this.#options.clock.nextTurn(() => {
      this.#pump().then(
        () => {
          this.#isPumping = false
          if (this.#hasWork()) this.#startPump()
        },
        error => this.halted(messageOf(error)),
      )
    })
  }

  #hasWork(): boolean {
    return this.#loader.endOffset < this.#options.metadataLog.highWatermark || this.#electedEpoch !== this.#activeEpoch
  }

  async #pump(): Promise<void> {
    const { metadataLog } = this.#options
    const end = metadataLog.highWatermark
    const start = Math.max(this.#loader.endOffset, metadataLog.logStartOffset)
    await this.#forEachBatch(
      start,
      () => end,
      'highWatermark',
      batch => {
        this.#loader.replayBatch(batch)
        this.#bytesSinceSnapshot += batch.length
      },
    )
    if (this.#isStopped) return
    await this.#publish()
    if (this.#isStopped) return
    this.#runner?.committed()
    this.#armRunner()
    this.#activate()
    this.#considerSnapshot()
  }

  async #publish(): Promise<void> {
    const { pending } = this.#loader
    if (pending !== undefined) await this.#options.prepare(pending)
    if (this.#isStopped) return
    let opened: Promise<void> | undefined
    this.#loader.publish(delta => {
      opened = this.#options.publish(delta)
    })
    await opened
    this.#servedOffset = this.#loader.endOffset
  }

  /** The image holds all that was committed before this node's epoch and its beginning: the decider may run ahead of it. */
  #activate(): void {
    const epoch = this.#electedEpoch
    const isUpToDate = this.#loader.endOffset >= this.#options.metadataLog.highWatermark
    if (epoch === undefined || epoch === this.#activeEpoch || !isUpToDate) return
    assert(this.#runner === undefined, 'a controller that was deposed has been discarded')
    const { clock, controller } = this.#options
    this.#activeEpoch = epoch
    const { hasOpenTransaction } = this.#loader
    const runner: ControllerRunner = new StateMachineRunner<
      ControllerCommand,
      MetadataRecord,
      SessionChange,
      ControllerReply,
      never,
      undefined
    >({
      createMachine: () => {
        const metadata = this.#loader.copyForController()
        const kraftVersion = () => this.#quorum!.kraftVersion
        return new MetadataController({ ...controller, kraftVersion }, { metadata, endOffset: this.#loader.endOffset })
      },
      codec: recordBatchCodec(metadataRecords),
      log: new QuorumReplicatedLog({
        driver: this.#driver!,
        log: this.#options.metadataLog,
        room: this.#options.room,
        activeEpoch: () => this.#activeEpoch,
        servedOffset: () => this.#servedOffset,
      }),
      timeoutCommand: { type: 'timeout' },
      failureReply,
      answer: (requestId, reply) => {
        const resolve = this.#waiting.get(requestId)
        this.#waiting.delete(requestId)
        resolve?.(reply)
      },
      carryOut: () => {},
      reload: () => this.halted('a batch of the active controller did not reach the metadata log'),
      unknownRecordType: () => {},
      answerTimeoutMs: this.#options.answerTimeoutMs,
      maxWaitingAnswers,
    })
    this.#runner = runner
    runner.startLoading()
    runner.loaded(clock.now(), undefined)
    runner.submit({ type: 'activate', bootstrapRecords: this.#bootstrap, hasOpenTransaction }, clock.now())
    this.#armRunner()
    this.#activated?.()
  }

  #armRunner(): void {
    const atMs = this.#runner?.nextDeadlineMs()
    if (atMs === this.#runnerDeadline?.atMs) return
    this.#runnerDeadline?.cancel()
    this.#runnerDeadline = undefined
    if (atMs === undefined || this.#isStopped) return
    this.#runnerDeadline = this.#options.deadlines.add(atMs, () => {
      this.#runnerDeadline = undefined
      this.#runner?.timeout(this.#options.clock.now())
      this.#armRunner()
    })
  }

  #considerSnapshot(): void {
    const { snapshotEveryBytes, snapshotEveryMs, clock } = this.#options
    const sinceMs = clock.now().monotonicMs - this.#lastSnapshotMs
    const isDue = this.#bytesSinceSnapshot >= snapshotEveryBytes || (snapshotEveryMs > 0 && sinceMs >= snapshotEveryMs)
    if (!isDue || this.#isTakingSnapshot || this.#bytesSinceSnapshot === 0 || this.#loader.hasOpenTransaction) return
    this.#isTakingSnapshot = true
    this.#takeSnapshot().then(
      () => {
        this.#isTakingSnapshot = false
      },
      error => this.#snapshotFailed(error),
    )
  }

  /** Without room, or descriptors, it is tried again later: the log goes on without it. */
  #snapshotFailed(error: unknown): void {
    const text = `a snapshot of the metadata could not be written: ${messageOf(error)}`
    if (!(error instanceof DiskError) || !/^(noSpace|tooManyOpenFiles)$/.test(error.code)) return this.halted(text)
    this.#isTakingSnapshot = false
    this.#options.log.write('warn', `${text}. The next is due as usual.`)
  }

  async #takeSnapshot(): Promise<void> {
    const { clock, metadataLog } = this.#options
    const endOffset = this.#loader.endOffset
    const id = { endOffset, epoch: Math.max(0, metadataLog.epochAt(endOffset - 1)) }
    this.#bytesSinceSnapshot = 0
    this.#lastSnapshotMs = clock.now().monotonicMs
    const content = {
      lastContainedLogTimestampMs: clock.now().wallMs,
      controlRecords: this.#quorum!.controlRecordsAt(endOffset),
      values: valuesOf(snapshotRecords(this.#loader.image)),
    }
    let position = 0
    for (const batch of encodeSnapshot(content, { epoch: id.epoch, timestampMs: clock.now().wallMs })) {
      await this.#snapshots.write(id, position, batch)
      position += batch.length
    }
    await this.#snapshots.complete(id)
    if (this.#isStopped) return
    this.#driver?.handle({ type: 'snapshotTaken', snapshotId: id })
    await this.#forgetBefore()
  }

  /** Keeps the last two snapshots, and the log from the older of them on. */
  async #forgetBefore(): Promise<void> {
    const kept = this.#snapshots.all.at(-2)
    if (kept === undefined || isBootstrapSnapshot(kept)) return
    await this.#options.metadataLog.moveLogStart(kept.endOffset)
    await this.#snapshots.removeBefore(kept)
  }
}

function* valuesOf(records: Iterable<MetadataRecord>): Generator<Buffer, void, undefined> {
  for (const record of records) yield metadataRecords.encode(record).value!
}

function decodeValue(value: Buffer): MetadataRecord {
  const record = metadataRecords.decode(null, value)
  assert(!(record instanceof UnknownRecord), 'a metadata record of an unknown type is kept as it is')
  return record
}

function upgradeFailed({ errorCode, message }: Pick<KraftVersionUpgraded, 'errorCode' | 'message'>): ControllerReply {
  const isDeposed = errorCode === ErrorCode.notLeaderOrFollower
  const response = {
    throttleTimeMs: 0,
    errorCode: isDeposed ? ErrorCode.notController : errorCode,
    errorMessage: `The update failed for all features since the following feature had an error: ${message}`,
  }
  return { type: 'updateFeatures', response }
}

function messageOf(error: unknown): string {
  if (error instanceof DiskError) return directoryProblem(error.path, error)
  return error instanceof Error ? error.message : String(error)
}
