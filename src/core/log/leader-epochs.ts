import { assert } from '../../base/assert.ts'
import { decodeCheckpoint, encodeCheckpoint } from './checkpoint-text.ts'
import type { EpochEndOffset } from './partition-log.ts'

export interface EpochStart {
  readonly leaderEpoch: number
  readonly startOffset: number
}

/**
 * At which offset each leader epoch of one log began: what followers and leaders compare to find where their logs part.
 * Epochs grow along the log, and so do their start offsets (an epoch in which nothing was written is replaced by the next).
 */
export class LeaderEpochs {
  readonly #entries: EpochStart[] = []

  /** Entries that do not grow are refused: the file they come from is damaged. */
  static from(entries: readonly EpochStart[]): LeaderEpochs | undefined {
    const epochs = new LeaderEpochs()
    for (const entry of entries) {
      const last = epochs.#entries.at(-1)
      if (entry.leaderEpoch < 0 || entry.startOffset < 0) return undefined
      if (last !== undefined && (entry.leaderEpoch <= last.leaderEpoch || entry.startOffset < last.startOffset))
        return undefined
      epochs.#entries.push(entry)
    }
    return epochs
  }

  /** Undefined when the content is damaged. */
  static decode(bytes: Buffer): LeaderEpochs | undefined {
    const entries: EpochStart[] = []
    for (const line of decodeCheckpoint(bytes) ?? ['damaged']) {
      const match = /^(\d+) (\d+)$/.exec(line)
      if (match === null) return undefined
      const entry = { leaderEpoch: Number(match[1]), startOffset: Number(match[2]) }
      if (!Number.isSafeInteger(entry.startOffset)) return undefined
      entries.push(entry)
    }
    return LeaderEpochs.from(entries)
  }

  encode(): Buffer {
    return encodeCheckpoint(this.#entries.map(({ leaderEpoch, startOffset }) => `${leaderEpoch} ${startOffset}`))
  }

  get entries(): readonly EpochStart[] {
    return this.#entries
  }

  get length(): number {
    return this.#entries.length
  }

  /** -1 when there is none. */
  get latestEpoch(): number {
    return this.#entries.at(-1)?.leaderEpoch ?? -1
  }

  /**
   * The epoch begins at this offset, if it is newer than all before. An epoch that wrote nothing (it began at the same
   * offset) gives way to it. Answers whether anything changed.
   */
  assign({ leaderEpoch, startOffset }: EpochStart): boolean {
    const latest = this.#entries.at(-1)
    if (leaderEpoch <= (latest?.leaderEpoch ?? -1)) return false
    assert(startOffset >= (latest?.startOffset ?? 0), 'a newer epoch does not begin below an older one')
    while (this.#entries.length > 0 && this.#entries[this.#entries.length - 1].startOffset >= startOffset)
      this.#entries.pop()
    this.#entries.push({ leaderEpoch, startOffset })
    return true
  }

  /** As Kafka answers OffsetForLeaderEpoch. */
  endOffsetFor(leaderEpoch: number, logEndOffset: number): EpochEndOffset {
    if (leaderEpoch < 0 || leaderEpoch > this.latestEpoch) return { leaderEpoch: -1, endOffset: -1 }
    if (leaderEpoch === this.latestEpoch) return { leaderEpoch, endOffset: logEndOffset }
    const next = this.#entries.findIndex(entry => entry.leaderEpoch > leaderEpoch)
    const floor = this.#entries[next - 1]
    // Below the first known epoch: the log no longer says, and a follower must begin at what is left.
    return { leaderEpoch: floor?.leaderEpoch ?? leaderEpoch, endOffset: this.#entries[next].startOffset }
  }

  /** -1 when no known epoch reaches down to the offset. */
  epochAt(offset: number): number {
    for (let at = this.#entries.length - 1; at >= 0; at--) {
      if (this.#entries[at].startOffset <= offset) return this.#entries[at].leaderEpoch
    }
    return -1
  }

  /**
   * Takes out epochs above this one, which never were: batches that follow them are of it, or the append that brought them has
   * failed. Answers the first of them.
   */
  dropNewerThan(leaderEpoch: number): EpochStart | undefined {
    const first = this.#entries.findIndex(entry => entry.leaderEpoch > leaderEpoch)
    return first < 0 ? undefined : this.#entries.splice(first)[0]
  }

  /** The log is cut at `endOffset`. Answers whether anything changed. */
  truncateFromEnd(endOffset: number): boolean {
    const before = this.#entries.length
    while (this.#entries.length > 0 && this.#entries[this.#entries.length - 1].startOffset >= endOffset)
      this.#entries.pop()
    return this.#entries.length !== before
  }

  /** The log now begins at `startOffset`; the epoch that holds there begins there. Answers whether anything changed. */
  truncateFromStart(startOffset: number): boolean {
    const first = this.#entries.findLastIndex(entry => entry.startOffset <= startOffset)
    if (first < 0 || (first === 0 && this.#entries[0].startOffset === startOffset)) return false
    this.#entries.splice(0, first + 1, { leaderEpoch: this.#entries[first].leaderEpoch, startOffset })
    return true
  }

  clear(): void {
    this.#entries.length = 0
  }
}
