import { OffsetIndex } from '../core/log/offset-index.ts'
import { TimeIndex } from '../core/log/time-index.ts'
import type { AbortedTransactionEntry } from '../core/log/transaction-index.ts'

/** Index entries, in memory, of batches of one segment that follow one another. */
class IndexEntries {
  readonly offsets: OffsetIndex
  readonly times: TimeIndex
  readonly aborted: AbortedTransactionEntry[]

  constructor(offsets = new OffsetIndex(), times = new TimeIndex(), aborted: AbortedTransactionEntry[] = []) {
    this.offsets = offsets
    this.times = times
    this.aborted = aborted
  }

  /** Forgets what is said of batches from this offset on. */
  truncate({ endOffset, baseOffset }: { readonly endOffset: number; readonly baseOffset: number }): void {
    this.offsets.truncate(endOffset - baseOffset)
    this.times.truncate(endOffset - baseOffset)
    while ((this.aborted.at(-1)?.lastOffset ?? -1) >= endOffset) this.aborted.pop()
  }

  get sizeBytes(): number {
    return this.offsets.sizeBytes + this.times.sizeBytes + this.aborted.length * 40
  }
}

/** Of all batches of the segment: whoever looks something up may go by them. */
export class SegmentIndexes extends IndexEntries {
  readonly areWhole = true
  /** Made by this process from the batches. What came from a file has to be confirmed when it is used. */
  isTrusted = true
}

/**
 * Of the batches only that were appended to a segment since its index files turned out to be missing or damaged: those before have
 * to be read for it, and nobody is to wait for that who appends. Good for nothing but to become part of whole ones.
 */
export class LaterEntries extends IndexEntries {
  readonly areWhole = false
}
