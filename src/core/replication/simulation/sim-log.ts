import { assert } from '../../../base/assert.ts'
import { type EpochStart, LeaderEpochs } from '../../log/leader-epochs.ts'
import type { EpochEndOffset } from '../../log/partition-log.ts'
import type { ReplicaLogView } from '../views.ts'
import type { SimRandom } from './sim-random.ts'

export interface SimRecord {
  readonly offset: number
  readonly key: number
  readonly isTombstone: boolean
}

/**
 * A batch with a name of its own: two batches are the same when their names are. Compaction leaves out records; a batch without
 * any is not in the log any more, and stays here, and travels with those behind it, only to tell the checker what was there.
 */
export interface SimBatch {
  readonly name: string
  /** The batch before it in the log of the leader that made it; '' for the first. */
  readonly previous: string
  readonly baseOffset: number
  readonly lastOffset: number
  readonly leaderEpoch: number
  readonly records: readonly SimRecord[]
  /** When a pass of compaction has first met a tombstone in it: from when on it may go. */
  readonly horizonMs: number | undefined
}

export function isLeftOut({ records }: SimBatch): boolean {
  return records.length === 0
}

/** The log of one broker, and its disk: what of it survives which end of the process. */
export class SimLog implements ReplicaLogView {
  /** Writes in flight included. */
  readonly batches: SimBatch[] = []
  logStartOffset = 0
  logEndOffset = 0
  flushedOffset = 0
  highWatermark = 0
  /** Below it the log is compacted, as the checkpoint says. */
  cleanedOffset = 0
  /** Counts cuts: a pass of compaction ends with the first. */
  cuts = 0
  /** A segment begins here, of which the name is on the disk: whatever ends, the log does not end below it. */
  #segmentBase = 0
  #epochs = new LeaderEpochs()
  /** What the checkpoints say; they are written now and then. */
  #savedHighWatermark = 0
  #savedLogStart = 0

  get nextOffset(): number {
    return this.nextOffsetOr(this.logEndOffset)
  }
  /** A log may begin in the middle of a batch: replicas copy the whole of it, and show it until their log starts higher. */
  get copiedFrom(): number {
    return Math.min(this.logStartOffset, this.batches[0]?.baseOffset ?? this.logStartOffset)
  }
  get latestEpoch(): number {
    return this.#epochs.latestEpoch
  }
  get epochs(): LeaderEpochs {
    return this.#epochs
  }

  endOffsetForEpoch(leaderEpoch: number): EpochEndOffset {
    return this.#epochs.endOffsetFor(leaderEpoch, this.logEndOffset)
  }

  epochAt(offset: number): number {
    return this.#epochs.epochAt(offset)
  }

  assignLeaderEpoch(leaderEpoch: number): void {
    this.#epochs.truncateFromEnd(this.nextOffset + 1)
    this.#epochs.assign({ leaderEpoch, startOffset: this.nextOffset })
  }

  assignEpochs(epochs: readonly EpochStart[]): void {
    assert(this.nextOffset === this.logEndOffset, 'no append is in flight when epochs are assigned')
    for (const epoch of epochs) this.#epochs.assign(epoch)
  }

  append(batches: readonly SimBatch[]): void {
    let { nextOffset } = this
    for (const batch of batches) {
      // A log may begin in the middle of what was left out.
      assert(batch.baseOffset >= nextOffset || isLeftOut(batch), 'batches follow one another')
      nextOffset = batch.lastOffset + 1
      if (!isLeftOut(batch)) this.#epochs.assign({ leaderEpoch: batch.leaderEpoch, startOffset: batch.baseOffset })
      this.batches.push(batch)
    }
  }

  /** The write that ends there is complete. */
  written(endOffset: number): void {
    assert(endOffset >= this.logEndOffset, 'writes complete in order')
    this.logEndOffset = endOffset
  }

  /** The write of the batch at the log end failed, and all after it. A leader keeps its own epoch, which may begin there. */
  writesFailed(isLeader: boolean): void {
    const { latestEpoch: leaderEpoch } = this
    this.#dropFrom(this.logEndOffset)
    this.#epochs.truncateFromEnd(this.logEndOffset + (isLeader ? 1 : 0))
    if (isLeader) this.#epochs.assign({ leaderEpoch, startOffset: this.logEndOffset })
  }

  flushed(endOffset: number): void {
    this.flushedOffset = Math.max(this.flushedOffset, Math.min(endOffset, this.logEndOffset))
  }

  truncate(endOffset: number): void {
    assert(this.nextOffset === this.logEndOffset, 'no append is in flight when a log is cut')
    this.cuts++
    this.#epochs.truncateFromEnd(endOffset)
    this.#dropFrom(endOffset)
    this.#endsAt(this.nextOffsetOr(Math.min(endOffset, this.logEndOffset)))
    this.#cutInGap()
  }

  /** Where nothing is left up to the end, only a segment that begins there says that it is the end. */
  #cutInGap(): void {
    const last = this.batches.at(-1)
    if (last !== undefined && isLeftOut(last)) this.#segmentBase = this.logEndOffset
  }

  /** Where the batches end, or `offset` when there are none. */
  nextOffsetOr(offset: number): number {
    const last = this.batches.at(-1)
    return last === undefined ? offset : last.lastOffset + 1
  }

  #endsAt(offset: number): void {
    this.logEndOffset = offset
    this.flushedOffset = Math.min(this.flushedOffset, offset)
    this.highWatermark = Math.min(this.highWatermark, offset)
    this.logStartOffset = Math.min(this.logStartOffset, offset)
    this.#savedLogStart = Math.min(this.#savedLogStart, offset)
    this.cleanedOffset = Math.min(this.cleanedOffset, offset)
    this.#segmentBase = Math.min(this.#segmentBase, offset)
  }

  startAt(offset: number): void {
    this.batches.length = 0
    this.cuts++
    this.cleanedOffset = offset
    this.#segmentBase = offset
    this.#epochs.clear()
    this.logStartOffset = offset
    this.logEndOffset = offset
    this.flushedOffset = offset
    this.highWatermark = offset
    this.#savedLogStart = offset
  }

  moveLogStart(offset: number): void {
    assert(offset <= this.highWatermark, 'the log does not begin above the high watermark')
    if (offset <= this.logStartOffset) return
    this.logStartOffset = offset
    this.#savedLogStart = offset
    this.#epochs.truncateFromStart(offset)
    const keep = this.batches.findIndex(batch => batch.lastOffset >= offset)
    this.batches.splice(0, keep === -1 ? 0 : keep)
  }

  saveHighWatermark(): void {
    this.#savedHighWatermark = this.highWatermark
  }

  /** Index of the batch with this offset; -1. */
  indexOf(offset: number): number {
    const low = this.#lowerBound(offset)
    return low < this.batches.length && this.batches[low].baseOffset <= offset ? low : -1
  }

  #lowerBound(offset: number): number {
    let low = 0
    let high = this.batches.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.batches[middle].lastOffset < offset) low = middle + 1
      else high = middle
    }
    return low
  }

  at(offset: number): SimBatch | undefined {
    const index = this.indexOf(offset)
    return index === -1 ? undefined : this.batches[index]
  }

  /** As many batches, and what was left out before each. */
  read(offset: number, maxBatches: number): readonly SimBatch[] {
    const found: SimBatch[] = []
    let count = 0
    let length = 0
    for (let i = this.#lowerBound(offset); i < this.batches.length && count < maxBatches; i++) {
      const batch = this.batches[i]
      if (batch.lastOffset >= this.logEndOffset) break
      found.push(batch)
      if (isLeftOut(batch)) continue
      count++
      length = found.length
    }
    return found.slice(0, length)
  }

  /** A pass has written anew what lies at this index. */
  compacted(index: number, batch: SimBatch): void {
    assert(batch.name === this.batches[index].name, 'a batch keeps its name')
    this.batches[index] = batch
  }

  /** The process ends: the page cache stays. What was in flight may have got there. */
  kill(random: SimRandom): void {
    const inFlight = this.batches.filter(batch => batch.baseOffset >= this.logEndOffset)
    this.#reopen(inFlight[random.below(inFlight.length + 1)]?.baseOffset ?? this.nextOffset, random)
  }

  /** The machine loses its power: of what is not synced, only a beginning is there. */
  cutPower(random: SimRandom): void {
    const unsynced = this.batches.filter(batch => batch.lastOffset >= this.flushedOffset)
    const endOffset = random.chance(0.4)
      ? this.nextOffsetOr(this.logEndOffset)
      : (unsynced[random.below(unsynced.length + 1)]?.baseOffset ?? this.nextOffset)
    this.#reopen(Math.max(endOffset, this.flushedOffset), random)
    this.flushedOffset = this.logEndOffset
  }

  #reopen(endOffset: number, random: SimRandom): void {
    this.cuts++
    this.#dropFrom(endOffset)
    // An epoch in which nothing was written may be in its file or not.
    this.#epochs.truncateFromEnd(endOffset + random.below(2))
    this.#endsAt(this.nextOffsetOr(this.#dropGap(endOffset)))
    this.logStartOffset = Math.min(this.#savedLogStart, this.logEndOffset)
    this.highWatermark = Math.max(this.logStartOffset, Math.min(this.#savedHighWatermark, this.logEndOffset))
    if (this.#epochs.latestEpoch < (this.batches.at(-1)?.leaderEpoch ?? -1)) this.#rebuildEpochs()
  }

  #rebuildEpochs(): void {
    this.#epochs = new LeaderEpochs()
    for (const batch of this.batches) {
      const { leaderEpoch, baseOffset: startOffset } = batch
      if (!isLeftOut(batch)) this.#epochs.assign({ leaderEpoch, startOffset })
    }
    this.#epochs.truncateFromStart(this.logStartOffset)
  }

  #dropFrom(offset: number): void {
    const { batches } = this
    while (batches.length > 0 && batches[batches.length - 1].lastOffset >= offset) batches.pop()
  }

  /** The log ends behind its last batch, or where its last segment begins. */
  #dropGap(endOffset: number): number {
    const { batches } = this
    let end = endOffset
    for (let last = batches.at(-1); last !== undefined && isLeftOut(last); last = batches.at(-1)) {
      if (last.lastOffset < this.#segmentBase) break
      end = last.baseOffset
      batches.pop()
    }
    return end
  }
}
