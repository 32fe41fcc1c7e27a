import { assert, unreachable } from '../../base/assert.ts'
import type { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import type { PartitionLog, PartitionLogListener } from '../../core/log/partition-log.ts'
import type { QuorumEffect, QuorumEvent } from '../../core/raft/events.ts'
import type { Clock } from '../../io/clock.ts'
import { DiskError, type FileRange } from '../../io/disk.ts'
import type { Deadline, Deadlines } from '../deadlines.ts'
import { directoryProblem } from '../directory-problem.ts'
import { readBatches } from '../read-log.ts'
import { encodeControlBatch } from './control-batch.ts'
import type { QuorumStateFile } from './quorum-state-file.ts'
import { decodeSnapshot } from './snapshot-codec.ts'
import type { SnapshotFiles } from './snapshot-files.ts'

/** The quorum's core as its driver uses it. */
export interface QuorumCore {
  start(now: Now): QuorumEffect[]
  handle(event: QuorumEvent, now: Now): QuorumEffect[]
  nextDeadlineMs(): number | undefined
}

type Effect<Type extends QuorumEffect['type']> = Extract<QuorumEffect, { type: Type }>

/** Requests to other controllers, and answers to theirs. */
export interface QuorumTransport {
  send(effect: Effect<'send'>): void
  reply(effect: Effect<'reply'>): void
}

/** Who is told what the quorum decides. Calls come in the order of the effects. */
export interface QuorumListener {
  highWatermarkMoved(offset: number): void
  leaderChanged(leader: { readonly leaderId: number | undefined; readonly leaderEpoch: number }): void
  becameLeader(leaderEpoch: number): void
  leaderActive(leaderEpoch: number): void
  lostLeadership(leaderEpoch: number): void
  appendRefused(appendId: number, errorCode: ErrorCode): void
  kraftVersionUpgraded(answer: Effect<'kraftVersionUpgraded'>): void
  /** The whole log was replaced by a snapshot: the image starts from it. */
  snapshotLoaded(): void
  halted(reason: string): void
}

export interface QuorumDriverOptions {
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly quorum: QuorumCore
  readonly log: PartitionLog<FileRange>
  readonly stateFile: QuorumStateFile
  readonly snapshots: SnapshotFiles
  readonly transport: QuorumTransport
  readonly listener: QuorumListener
}

/**
 * Carries out what the quorum's core decides, by the contract at `QuorumEffect`: effects start in order, completions come
 * back as events. An event that arrives while effects are being carried out waits its turn.
 */
export class QuorumDriver implements PartitionLogListener {
  readonly #options: QuorumDriverOptions
  readonly #events: QuorumEvent[] = []
  #isHandling = false
  #isStopped = false
  #deadline: Deadline | undefined
  #shutdownComplete: (() => void) | undefined
  /** Where the log ended when a sync was asked for that waits for its writes. */
  #syncTarget: number | undefined

  constructor(options: QuorumDriverOptions) {
    this.#options = options
    options.log.listen(this)
  }

  /** First of all, once. */
  start(): void {
    const { quorum, clock } = this.#options
    this.#isHandling = true
    for (const effect of quorum.start(clock.now())) this.#carryOut(effect)
    this.#isHandling = false
    this.handle({ type: 'tick' })
  }

  handle(event: QuorumEvent): void {
    if (this.#isStopped) return
    this.#events.push(event)
    if (this.#isHandling) return
    this.#isHandling = true
    for (let next = this.#events.shift(); next !== undefined && !this.#isStopped; next = this.#events.shift()) {
      for (const effect of this.#options.quorum.handle(next, this.#options.clock.now())) this.#carryOut(effect)
    }
    this.#isHandling = false
    this.#arm()
  }

  /** Leaves the quorum in good order. */
  async shutdown(): Promise<void> {
    if (this.#isStopped) return
    await new Promise<void>(resolve => {
      this.#shutdownComplete = resolve
      this.handle({ type: 'shutdown' })
    })
    this.stop()
  }

  /** Nothing is carried out any more. */
  stop(): void {
    this.#isStopped = true
    this.#deadline?.cancel()
  }

  logEndOffsetMoved(): void {
    this.handle({ type: 'appended' })
    this.#flushWhenWritten()
  }

  flushedOffsetMoved(): void {
    // The core asked for this sync itself, and is told when its promise ends.
  }

  logStartOffsetMoved(): void {}

  appendsFailed(failure: { fromOffset: number; isOffline: boolean }): void {
    // Not by an event: the quorum would look at the log first, which has gone back behind what it was told to append.
    if (!this.#isStopped) this.#halt(`the metadata log could not be written at offset ${failure.fromOffset}`)
  }

  #arm(): void {
    this.#deadline?.cancel()
    this.#deadline = undefined
    if (this.#isStopped) return
    const atMs = this.#options.quorum.nextDeadlineMs()
    if (atMs === undefined || atMs === Number.POSITIVE_INFINITY) return
    this.#deadline = this.#options.deadlines.add(atMs, () => this.handle({ type: 'tick' }))
  }

  #carryOut(effect: QuorumEffect): void {
    const { listener, snapshots, transport } = this.#options
    switch (effect.type) {
      case 'persistQuorumState':
        return this.#complete(this.#options.stateFile.write(effect.quorumState, effect.kraftVersion), {
          type: 'quorumStatePersisted',
        })
      case 'send':
        return transport.send(effect)
      case 'reply':
        return transport.reply(effect)
      case 'append':
        return this.#append(effect)
      case 'appendRefused':
        return listener.appendRefused(effect.appendId, effect.errorCode)
      case 'kraftVersionUpgraded':
        return listener.kraftVersionUpgraded(effect)
      case 'appendFetched':
        return this.#appendFetched(effect)
      case 'sync':
        return this.#sync()
      case 'truncate':
        return this.#complete(this.#options.log.truncate({ endOffset: effect.endOffset }), { type: 'truncated' })
      case 'readLog':
        return this.#readLog(effect)
      case 'readSnapshot':
        return this.#readSnapshot(effect)
      case 'writeSnapshot':
        return this.#complete(snapshots.write(effect.snapshotId, effect.position, effect.bytes), {
          type: 'snapshotWritten',
        })
      case 'discardSnapshot':
        return this.#complete(snapshots.discard(effect.snapshotId), undefined)
      case 'loadSnapshot':
        return this.#loadSnapshot(effect)
      case 'highWatermark':
        this.#options.log.moveHighWatermark(effect.offset)
        return listener.highWatermarkMoved(effect.offset)
      case 'leaderChanged':
        return listener.leaderChanged(effect)
      case 'becameLeader':
        return listener.becameLeader(effect.leaderEpoch)
      case 'leaderActive':
        return listener.leaderActive(effect.leaderEpoch)
      case 'lostLeadership':
        return listener.lostLeadership(effect.leaderEpoch)
      case 'shutdownComplete':
        return this.#shutdownComplete?.()
      case 'halt':
        return this.#halt(effect.reason)
      default:
        return unreachable(effect)
    }
  }

  /** Nothing more is carried out. Told in a later turn: whoever appends may be in the middle of a decision. */
  #halt(reason: string): void {
    this.stop()
    this.#shutdownComplete?.()
    this.#options.clock.nextTurn(() => this.#options.listener.halted(reason))
  }

  #complete(work: Promise<void>, event: QuorumEvent | undefined): void {
    work.then(
      () => {
        if (event !== undefined) this.handle(event)
      },
      error => this.handle({ type: 'diskFailed', reason: messageOf(error) }),
    )
  }

  /** A sync covers every append before it, and those may not have been written yet. */
  #sync(): void {
    assert(this.#syncTarget === undefined, 'one sync is open at a time')
    this.#syncTarget = this.#options.log.nextOffset
    this.#flushWhenWritten()
  }

  #flushWhenWritten(): void {
    const { log } = this.#options
    if (this.#syncTarget === undefined || log.logEndOffset < this.#syncTarget || this.#isStopped) return
    this.#syncTarget = undefined
    this.#complete(log.flush(), { type: 'flushed' })
  }

  #append({ baseOffset, leaderEpoch, batch }: Effect<'append'>): void {
    const { log, clock } = this.#options
    const now = clock.now()
    const bytes =
      batch.type === 'control'
        ? encodeControlBatch(batch.records, { baseOffset, leaderEpoch, timestampMs: now.wallMs })
        : (batch.bytes as Buffer)
    const reservation = log.reserve({ batch: bytes, origin: 'raftLeader', leaderEpoch, now })
    if (reservation.type !== 'reserved') return this.#halt('the metadata log takes no more batches')
    assert(reservation.baseOffset === baseOffset, 'the quorum and its log agree on the next offset')
    log.append(reservation)
  }

  #appendFetched({ batches }: Effect<'appendFetched'>): void {
    const { log, clock } = this.#options
    for (const batch of batches) {
      const refused = log.appendAsFollower(batch.bytes, clock.now())
      if (refused !== undefined) return this.#halt(refused.message ?? 'the metadata log takes no more batches')
    }
  }

  #readLog({ requestId, offset, maxBytes }: Effect<'readLog'>): void {
    const read = readBatches(this.#options.log, { offset, maxBytes, isolation: 'logEndOffset' })
    read.then(
      answer => {
        const records = answer.type === 'bytes' ? answer.bytes : Buffer.alloc(0)
        this.handle({ type: 'logRead', requestId, records })
      },
      error => this.handle({ type: 'diskFailed', reason: messageOf(error) }),
    )
  }

  #readSnapshot({ requestId, snapshotId, position, maxBytes }: Effect<'readSnapshot'>): void {
    this.#options.snapshots.read(snapshotId, position, maxBytes).then(
      bytes => this.handle({ type: 'snapshotRead', requestId, bytes }),
      error => this.handle({ type: 'diskFailed', reason: messageOf(error) }),
    )
  }

  #loadSnapshot({ snapshotId }: Effect<'loadSnapshot'>): void {
    const { snapshots, log, listener } = this.#options
    const load = async (): Promise<QuorumEvent> => {
      const decoded = decodeSnapshot(await snapshots.readWritten(snapshotId))
      if (decoded === undefined) {
        await snapshots.discard(snapshotId)
        return { type: 'snapshotRejected' }
      }
      await snapshots.complete(snapshotId)
      await log.truncateFullyAndStartAt(snapshotId.endOffset)
      listener.snapshotLoaded()
      return { type: 'snapshotLoaded', controlRecords: decoded.controlRecords }
    }
    load().then(
      event => this.handle(event),
      error => this.handle({ type: 'diskFailed', reason: messageOf(error) }),
    )
  }
}

function messageOf(error: unknown): string {
  if (error instanceof DiskError) return directoryProblem(error.path, error)
  return error instanceof Error ? error.message : String(error)
}
