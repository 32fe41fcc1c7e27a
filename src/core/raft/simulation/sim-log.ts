import { assert } from '../../../base/assert.ts'
import type { ControlRecord } from '../../../protocol/control-record.ts'
import {
  continuesSnapshot,
  type OffsetAndEpoch,
  type RaftBatch,
  type RaftLogView,
  type SnapshotId,
} from '../log-view.ts'

/** A batch with a name of its own: two batches are the same when their names are. */
export interface SimBatch extends RaftBatch {
  readonly name: string
}

export interface SimSnapshot {
  readonly id: SnapshotId
  /** What a state machine holds that applied everything below: a hash over the names of the batches. */
  readonly stateHash: number
  readonly controlRecords: readonly ControlRecord[]
  readonly bytes: Buffer
}

type Operation =
  | { readonly type: 'append'; readonly batches: readonly SimBatch[] }
  | { readonly type: 'truncate'; readonly endOffset: number }
  | { readonly type: 'startAt'; readonly offset: number }
  | { readonly type: 'empty'; readonly offset: number }

/** Batches and where they start: what is in memory, and what is on disk, are one of these each. */
class Batches {
  startOffset = 0
  list: SimBatch[] = []

  get endOffset(): number {
    const last = this.list.at(-1)
    return last === undefined ? this.startOffset : last.lastOffset + 1
  }

  do(operation: Operation): void {
    switch (operation.type) {
      case 'append':
        this.list.push(...operation.batches)
        break
      case 'truncate':
        while (this.list.length > 0 && this.list.at(-1)!.lastOffset >= operation.endOffset) this.list.pop()
        break
      case 'startAt': {
        // As segments do: only whole batches go.
        const keep = this.list.findIndex(batch => batch.lastOffset >= operation.offset)
        this.list = keep === -1 ? [] : this.list.slice(keep)
        this.startOffset = operation.offset
        break
      }
      case 'empty':
        this.list = []
        this.startOffset = operation.offset
        break
    }
  }

  /** The batch that holds this offset. */
  at(offset: number): SimBatch | undefined {
    let low = 0
    let high = this.list.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.list[middle].lastOffset < offset) low = middle + 1
      else high = middle
    }
    const batch = this.list[low]
    return batch !== undefined && batch.baseOffset <= offset ? batch : undefined
  }
}

/**
 * A log and its snapshots on a disk that keeps what was synced, and of what was not, after a crash, the first so many
 * operations. Writes complete when the world says so.
 */
export class SimLog implements RaftLogView {
  readonly #live = new Batches()
  readonly #durable = new Batches()
  #unsynced: Operation[] = []
  #writtenOffset = 0
  #flushedOffset = 0
  /** Ends of writes and of the sync that are under way; a truncation lowers them. */
  readonly #writing: number[] = []
  #syncing: { operations: number; endOffset: number } | undefined
  readonly snapshots = new Map<number, SimSnapshot>()

  get logStartOffset(): number {
    return this.#live.startOffset
  }
  get logEndOffset(): number {
    return this.#live.endOffset
  }
  get writtenOffset(): number {
    return this.#writtenOffset
  }
  get flushedOffset(): number {
    return this.#flushedOffset
  }
  get lastEpoch(): number {
    return this.#live.list.at(-1)?.leaderEpoch ?? this.latestSnapshotId?.epoch ?? 0
  }
  get earliestSnapshotId(): SnapshotId | undefined {
    return [...this.snapshots.values()][0]?.id
  }
  get latestSnapshotId(): SnapshotId | undefined {
    return [...this.snapshots.values()].at(-1)?.id
  }
  get batches(): readonly SimBatch[] {
    return this.#live.list
  }
  get durableEndOffset(): number {
    return this.#durable.endOffset
  }

  endOffsetForEpoch(epoch: number): OffsetAndEpoch {
    const { list } = this.#live
    const at = list.findLastIndex(batch => batch.leaderEpoch <= epoch)
    if (at === -1) {
      const earliest = this.earliestSnapshotId
      return { epoch: earliest?.endOffset === this.logStartOffset ? earliest.epoch : 0, offset: this.logStartOffset }
    }
    return { epoch: list[at].leaderEpoch, offset: list[at].lastOffset + 1 }
  }

  snapshotSize(id: SnapshotId): number | undefined {
    const snapshot = this.snapshots.get(id.endOffset)
    return snapshot?.id.epoch === id.epoch ? snapshot.bytes.length : undefined
  }

  at(offset: number): SimBatch | undefined {
    return this.#live.at(offset)
  }

  durablyAt(offset: number): SimBatch | undefined {
    return this.#durable.at(offset)
  }

  /** Whether a power cut would leave everything below `offset`. */
  isDurableTo(offset: number): boolean {
    return Math.max(this.#durable.endOffset, this.latestSnapshotId?.endOffset ?? 0) >= offset
  }

  append(batches: readonly SimBatch[]): void {
    for (const [i, batch] of batches.entries()) {
      assert(batch.baseOffset === (i === 0 ? this.logEndOffset : batches[i - 1].lastOffset + 1), 'appended at the end')
    }
    this.#do({ type: 'append', batches })
    this.#writing.push(this.logEndOffset)
  }

  writeDone(): void {
    this.#writtenOffset = Math.max(this.#writtenOffset, this.#writing.shift() ?? 0)
  }

  startSync(): void {
    this.#syncing = { operations: this.#unsynced.length, endOffset: this.logEndOffset }
  }

  syncDone(): void {
    assert(this.#syncing !== undefined, 'a sync is under way')
    const { operations, endOffset } = this.#syncing
    for (const operation of this.#unsynced.splice(0, operations)) this.#durable.do(operation)
    this.#flushedOffset = Math.max(this.#flushedOffset, Math.min(endOffset, this.logEndOffset))
    this.#writtenOffset = Math.max(this.#writtenOffset, this.#flushedOffset)
    this.#syncing = undefined
  }

  truncate(endOffset: number): void {
    this.#do({ type: 'truncate', endOffset })
    this.#lower(this.logEndOffset)
  }

  /** Whole batches from `offset` on. */
  read(offset: number, maxBatches: number): SimBatch[] {
    const first = this.#live.list.findIndex(batch => batch.lastOffset >= offset)
    if (first === -1) return []
    return this.#live.list.slice(first, first + maxBatches).filter(batch => batch.lastOffset < this.#writtenOffset)
  }

  /** A snapshot of committed records; the log may start there from now on. */
  addSnapshot(snapshot: SimSnapshot, movesStart: boolean): void {
    this.snapshots.set(snapshot.id.endOffset, snapshot)
    if (!movesStart) return
    this.#dropSnapshotsBelow(snapshot.id.endOffset)
    this.#do({ type: 'startAt', offset: snapshot.id.endOffset })
  }

  /** The log becomes this snapshot. */
  load(snapshot: SimSnapshot): void {
    this.snapshots.set(snapshot.id.endOffset, snapshot)
    this.#empty()
  }

  /** What a new process finds: of the operations that were not synced, the first `kept`. */
  crash(kept: number): void {
    for (const operation of this.#unsynced.slice(0, kept)) this.#durable.do(operation)
    this.#unsynced = []
    this.#writing.length = 0
    this.#syncing = undefined
    this.#live.list = [...this.#durable.list]
    this.#live.startOffset = this.#durable.startOffset
    const latest = this.latestSnapshotId
    if (latest !== undefined && !continuesSnapshot(this, latest)) this.#empty()
    this.#flushedOffset = this.logEndOffset
    this.#writtenOffset = this.logEndOffset
    for (const operation of this.#unsynced.splice(0)) this.#durable.do(operation)
  }

  get unsyncedOperations(): number {
    return this.#unsynced.length
  }

  #empty(): void {
    const offset = this.latestSnapshotId?.endOffset ?? 0
    this.#dropSnapshotsBelow(offset)
    this.#do({ type: 'empty', offset })
    this.#writing.fill(0)
    this.#syncing = this.#syncing === undefined ? undefined : { ...this.#syncing, endOffset: 0 }
    this.#writtenOffset = offset
    this.#flushedOffset = offset
  }

  #dropSnapshotsBelow(offset: number): void {
    for (const endOffset of this.snapshots.keys()) if (endOffset < offset) this.snapshots.delete(endOffset)
  }

  #do(operation: Operation): void {
    this.#live.do(operation)
    this.#unsynced.push(operation)
  }

  #lower(endOffset: number): void {
    for (const [i, end] of this.#writing.entries()) this.#writing[i] = Math.min(end, endOffset)
    if (this.#syncing !== undefined) {
      this.#syncing = { ...this.#syncing, endOffset: Math.min(this.#syncing.endOffset, endOffset) }
    }
    this.#writtenOffset = Math.min(this.#writtenOffset, endOffset)
    this.#flushedOffset = Math.min(this.#flushedOffset, endOffset)
  }
}
