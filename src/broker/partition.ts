import { assert, unreachable } from '../base/assert.ts'
import { ErrorCode } from '../base/error-code.ts'
import { type Link, LinkedList } from '../base/linked-list.ts'
import type { Uuid } from '../base/uuid.ts'
import type {
  NeedsPacking,
  NeedsUnpacking,
  PartitionLog,
  PartitionLogListener,
  PreparedBatch,
} from '../core/log/partition-log.ts'
import type { FileRange } from '../io/disk.ts'
import type { Request } from './network/request.ts'
import { PartitionReplica, type ReplicaHost, type ReplicaOwner } from './partition-replica.ts'
import type { Unpacked, Unpacker } from './produce/unpacker.ts'
import { decide, decideReached, type ProduceItem, recordErrorsOf } from './produce/waiting-produce.ts'

/** Somebody's place among those who watch a partition. */
export type PartitionWatch = Link<PartitionWatcher>

/** A fetch that is waiting for more bytes in the partitions it names. */
export interface PartitionWatcher {
  /** Something that readers can see has moved, or the partition will not be served here any more. */
  partitionChanged(): void
}

/** A state machine whose log this partition is. */
export interface PartitionFollower {
  highWatermarkMoved(): void
  /** Batches that were appended are not in the log. */
  appendsFailed(): void
  /** This node leads no more, or serves the partition no more. */
  leadershipLost(): void
}

export interface PartitionHost extends ReplicaHost {
  readonly unpacker: Unpacker
  appended(partition: Partition, batch: Buffer): void
  /** Writes are taken from now on, in this leader epoch. */
  leadershipBegan(partition: Partition): void
  leadershipEnded(partition: Partition): void
}

export interface PartitionState {
  readonly leaderId: number
  readonly leaderEpoch: number
  readonly partitionEpoch: number
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
  /** Its replicas are being moved: some are added or removed. */
  readonly isReassigning: boolean
  readonly minInsyncReplicas: number
}

/**
 * One partition on this broker: its log, its place in replication, and those who wait for it. Batches pass through one queue
 * from arrival to reservation; a batch that is being unpacked off the loop holds back every later one.
 */
export class Partition implements PartitionLogListener, ReplicaOwner {
  readonly log: PartitionLog<FileRange>
  readonly replica: PartitionReplica
  readonly #host: PartitionHost
  #state: PartitionState
  #isGone = false
  /** Batches that wait behind one that is being unpacked. The first is the one being unpacked. */
  readonly #queue: ProduceItem[] = []
  /** Appended with acks=1, in the order of offsets. They wait for this replica only. */
  readonly #untilAcknowledged: ProduceItem[] = []
  /** Appended with acks=all, in the order of offsets (a duplicate stands where it arrived). */
  readonly #untilHighWatermark: ProduceItem[] = []
  readonly #watchers = new LinkedList<PartitionWatcher>()
  #follower: PartitionFollower | undefined

  constructor(log: PartitionLog<FileRange>, state: PartitionState, host: PartitionHost) {
    this.log = log
    this.#state = state
    this.#host = host
    this.replica = new PartitionReplica(log, this, host, state.minInsyncReplicas)
    log.listen(this)
    if (host.flushBeforeAck) log.requestFlush()
  }

  /** Takes its place in replication. Whoever looks for the partition finds it by now. */
  start(): void {
    this.update(this.#state)
  }

  get topicId(): Uuid {
    return this.log.topicId
  }

  get topic(): string {
    return this.log.topic
  }

  get index(): number {
    return this.log.partition
  }

  get state(): PartitionState {
    return this.#state
  }

  get isLeader(): boolean {
    return !this.#isGone && this.replica.isLeader
  }

  get leaderEpoch(): number {
    return this.#state.leaderEpoch
  }

  update(state: PartitionState): void {
    assert(state.leaderEpoch >= this.#state.leaderEpoch, 'the leader epoch of a partition never falls')
    this.#state = state
    const { leaderId: leader, leaderEpoch, partitionEpoch, replicas, isr, minInsyncReplicas } = state
    this.replica.update({ leader, leaderEpoch, partitionEpoch, replicas, isr }, minInsyncReplicas)
  }

  follow(follower: PartitionFollower | undefined): void {
    this.#follower = follower
  }

  /** Until the watch is handed to `unwatch`. */
  watch(watcher: PartitionWatcher): PartitionWatch {
    return this.#watchers.add(watcher)
  }

  unwatch(watch: PartitionWatch): void {
    this.#watchers.remove(watch)
  }

  /** Takes a client's batch. The item is decided now or later. Its bytes are kept only when they must wait. */
  produce(item: ProduceItem): void {
    const { request } = item.produce
    if (this.#queue.length > 0) {
      item.batch = request.keep(item.batch)
      this.#queue.push(item)
      return
    }
    const unpacking = this.#tryAppend(item)
    if (unpacking === undefined) return
    item.batch = request.keep(item.batch)
    this.#queue.push(item)
    this.#unpack({ ...unpacking, input: request.keep(unpacking.input) }, request)
  }

  /** Whether a write with acks=all may be taken now. */
  hasEnoughReplicas(): boolean {
    return this.replica.hasEnoughReplicas
  }

  /** The partition is not served here any more: everybody who waits is told why. */
  close(errorCode: ErrorCode): void {
    if (this.#isGone) return
    this.#isGone = true
    const waiting = [
      ...this.#queue.splice(0),
      ...this.#untilAcknowledged.splice(0),
      ...this.#untilHighWatermark.splice(0),
    ]
    for (const item of waiting) decide(item, errorCode)
    this.replica.handle({ type: 'closed' })
    this.#wakeWatchers()
    this.#follower?.leadershipLost()
    this.#follower = undefined
  }

  #tryAppend(item: ProduceItem): NeedsUnpacking | undefined {
    const answer = this.#tryAppendPrepared(item, undefined)
    assert(answer?.type !== 'needsPacking', 'records are packed anew once they are unpacked')
    return answer
  }

  #tryAppendPrepared(
    item: ProduceItem,
    prepared: PreparedBatch | undefined,
  ): NeedsUnpacking | NeedsPacking | undefined {
    if (item.isDecided) return undefined
    if (!this.isLeader) {
      decide(item, this.log.isOffline ? ErrorCode.kafkaStorageError : ErrorCode.notLeaderOrFollower)
      return undefined
    }
    const { acks } = item.produce
    if (acks === -1 && !this.hasEnoughReplicas()) {
      decide(item, ErrorCode.notEnoughReplicas)
      return undefined
    }
    const { log } = this
    const answer = log.reserve({
      batch: item.batch,
      origin: 'client',
      leaderEpoch: this.#state.leaderEpoch,
      now: this.#host.clock.now(),
      prepared,
    })
    switch (answer.type) {
      case 'needsUnpacking':
      case 'needsPacking':
        return answer
      case 'refused':
        item.result.recordErrors = recordErrorsOf(answer.recordErrors)
        if (!saysNothingOfTheLog.has(answer.errorCode)) item.result.logStartOffset = log.logStartOffset
        decide(item, answer.errorCode, answer.message ?? null)
        return undefined
      case 'duplicate':
        this.#await(item, answer)
        return undefined
      case 'reserved':
        log.append(answer)
        this.#host.appended(this, answer.bytes)
        this.#await(item, answer)
        return undefined
      default:
        return unreachable(answer)
    }
  }

  #await(item: ProduceItem, at: { baseOffset: number; lastOffset: number; logAppendTimeMs: number }): void {
    item.lastOffset = at.lastOffset
    item.result.baseOffset = at.baseOffset
    item.result.logAppendTimeMs = at.logAppendTimeMs
    item.result.logStartOffset = this.log.logStartOffset
    const { acks } = item.produce
    if (acks === 0 || this.#isReached(item)) decide(item, ErrorCode.none)
    else if (acks === 1) this.#untilAcknowledged.push(item)
    else this.#untilHighWatermark.push(item)
  }

  #isReached(item: ProduceItem): boolean {
    return item.lastOffset < (item.produce.acks === 1 ? this.#acknowledgedEnd : this.log.highWatermark)
  }

  /** Where what this replica may acknowledge ends: at the log end, or, with flush=ack, where the synced part does. */
  get #acknowledgedEnd(): number {
    return this.#host.flushBeforeAck ? this.log.flushedOffset : this.log.logEndOffset
  }

  /** The client may be answered meanwhile (the time is up, the partition goes), and what is unpacked is read on. */
  #unpack(job: NeedsUnpacking, request: Request): void {
    const unpin = request.pin()
    this.#host.unpacker.unpack(job, unpacked => {
      unpin()
      return this.#unpacked(unpacked)
    })
  }

  /** The first of the queue can be appended, or not at all. */
  #unpacked(unpacked: Unpacked): NeedsPacking | undefined {
    if (this.#isGone) return undefined
    const [item] = this.#queue
    if (unpacked.type === 'failed') decide(item, unpacked.errorCode, unpacked.message)
    else {
      const answer = this.#tryAppendPrepared(item, unpacked.batch)
      if (answer?.type === 'needsPacking') return answer
      assert(answer === undefined, 'a batch is unpacked once')
    }
    this.#queue.shift()
    this.#drainQueue()
    return undefined
  }

  #drainQueue(): void {
    while (this.#queue.length > 0 && !this.#isGone) {
      const unpacking = this.#tryAppend(this.#queue[0])
      if (unpacking !== undefined) {
        this.#unpack(unpacking, this.#queue[0].produce.request)
        return
      }
      this.#queue.shift()
    }
  }

  logEndOffsetMoved(): void {
    if (this.#isGone) return
    if (this.#host.flushBeforeAck) this.log.requestFlush()
    else this.#acknowledge()
  }

  flushedOffsetMoved(): void {
    if (!this.#isGone && this.#host.flushBeforeAck) this.#acknowledge()
  }

  #acknowledge(): void {
    const end = this.#acknowledgedEnd
    decideReached(this.#untilAcknowledged, end)
    this.replica.ownEndMoved(end)
  }

  logStartOffsetMoved(): void {
    this.#wakeWatchers()
  }

  appendsFailed({ fromOffset }: { fromOffset: number }): void {
    for (const list of [this.#untilAcknowledged, this.#untilHighWatermark]) {
      const failed = list.filter(item => item.lastOffset >= fromOffset)
      const kept = list.filter(item => item.lastOffset < fromOffset)
      list.splice(0, list.length, ...kept)
      for (const item of failed) decide(item, ErrorCode.kafkaStorageError, 'The broker could not write to its disk.')
    }
    this.replica.appendsFailed()
    this.#follower?.appendsFailed()
    this.#wakeWatchers()
  }

  highWatermarkMoved(): void {
    decideReached(this.#untilHighWatermark, this.log.highWatermark)
    this.#follower?.highWatermarkMoved()
    this.#wakeWatchers()
  }

  leadershipBegan(): void {
    if (!this.#isGone) this.#host.leadershipBegan(this)
  }

  /** Unless it leads on in a newer epoch, nobody here can say any more what becomes of writes that wait for others. */
  leadershipEnded(): void {
    if (this.#isGone) return
    this.#host.leadershipEnded(this)
    if (this.replica.isLeader) return
    for (const item of this.#untilHighWatermark.splice(0)) decide(item, ErrorCode.notLeaderOrFollower)
    this.#wakeWatchers()
  }

  #wakeWatchers(): void {
    for (const watcher of this.#watchers) watcher.partitionChanged()
  }
}

/** Refusals with which Kafka does not tell where the log starts. */
const saysNothingOfTheLog: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.corruptMessage,
  ErrorCode.messageTooLarge,
  ErrorCode.kafkaStorageError,
])
