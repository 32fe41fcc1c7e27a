import { type SegmentFileKind, segmentFileName } from '../../core/log/file-names.ts'
import { OffsetIndex } from '../../core/log/offset-index.ts'
import { TimeIndex } from '../../core/log/time-index.ts'
import { type AbortedTransactionEntry, decodeTransactionIndex } from '../../core/log/transaction-index.ts'
import type { Disk } from '../../io/disk.ts'
import type { Problem } from './verify.ts'

const maxIndexBytes = 1024 * 1024 * 1024
const offsetEntryBytes = 8
const timeEntryBytes = 12
const transactionEntryBytes = 34

interface ScannedBatch {
  readonly position: number
  readonly baseOffset: number
  readonly lastOffset: number
  readonly maxTimestamp: bigint
}

interface SegmentEnd {
  readonly nextOffset: number
  /** Batches are missing from the scan: what points to them is not wrong for that. */
  readonly isDamaged: boolean
  /** Aborted transactions that begin from here on are known; markers may have been compacted away, or lie in damage. */
  readonly transactionsFrom: number
  readonly report: (problem: Problem) => void
}

/** Compares the indexes of one segment with its batches, which are shown to it in their order. */
export class IndexCheck {
  readonly #disk: Disk
  readonly #directory: string
  readonly #baseOffset: number
  readonly #found: Problem[] = []
  readonly #offsets: OffsetIndex | undefined
  readonly #times: TimeIndex | undefined
  #nextOffsetEntry = 0
  #isOffsetIndexWrong = false
  #nextTimeEntry = 0
  #maxTimestamp = -1n
  readonly #aborted: AbortedTransactionEntry[] = []

  constructor(disk: Disk, directory: string, baseOffset: number, segmentBytes: number) {
    this.#disk = disk
    this.#directory = directory
    this.#baseOffset = baseOffset
    const offsets = this.#read('index')
    this.#offsets = offsets && OffsetIndex.decode(offsets, segmentBytes)
    if (offsets !== undefined && this.#offsets === undefined) {
      this.#note('index', undefined, 'the index is damaged, or points beyond the end of the segment')
    }
    if (offsets === undefined && segmentBytes > 0) this.#note('index', undefined, 'the file is missing')
    const times = this.#read('timeindex')
    this.#times = times && TimeIndex.decode(times)
    if (times !== undefined && this.#times === undefined) this.#note('timeindex', undefined, 'the index is damaged')
  }

  batch({ position, baseOffset, lastOffset, maxTimestamp }: ScannedBatch): void {
    if (maxTimestamp > this.#maxTimestamp) this.#maxTimestamp = maxTimestamp
    this.#checkOffsets(position, baseOffset)
    this.#checkTimes(lastOffset)
  }

  aborted(transaction: AbortedTransactionEntry): void {
    this.#aborted.push(transaction)
  }

  finish({ nextOffset, isDamaged, transactionsFrom, report }: SegmentEnd): void {
    const structural = this.#found.filter(({ position }) => position === undefined)
    for (const problem of isDamaged ? structural : this.#found) report(problem)
    if (isDamaged) return
    this.#found.length = 0
    this.#checkLastOffset(nextOffset)
    if (this.#nextTimeEntry < (this.#times?.length ?? 0)) this.#noteTime('its offset is beyond the end of the segment')
    this.#checkAborted(nextOffset, transactionsFrom)
    for (const problem of this.#found) report(problem)
  }

  /** The first wrong entry is told; after it the scan and the index no longer go side by side. */
  #checkOffsets(position: number, baseOffset: number): void {
    const index = this.#offsets
    if (index === undefined || this.#isOffsetIndexWrong || this.#nextOffsetEntry >= index.length) return
    const indexed = index.positionAt(this.#nextOffsetEntry)
    if (indexed > position) return
    const offset = this.#baseOffset + index.relativeOffsetAt(this.#nextOffsetEntry)
    if (indexed < position) this.#noteOffset(`position ${indexed} is no batch's`)
    // Older Kafkas index several batches by the last offset of all.
    else if (offset < baseOffset)
      this.#noteOffset(`it says offset ${offset}, but the batch there begins with ${baseOffset}`)
    else {
      this.#nextOffsetEntry++
      return
    }
    this.#isOffsetIndexWrong = true
  }

  /** Offsets grow along the index, so the last entry stands for all. */
  #checkLastOffset(nextOffset: number): void {
    const index = this.#offsets
    if (index === undefined || this.#isOffsetIndexWrong || index.length === 0) return
    if (this.#nextOffsetEntry < index.length) {
      this.#noteOffset(`position ${index.positionAt(this.#nextOffsetEntry)} is no batch's`)
      return
    }
    const last = index.length - 1
    const offset = this.#baseOffset + index.relativeOffsetAt(last)
    if (offset < nextOffset) return
    this.#note('index', last * offsetEntryBytes, `it says offset ${offset}, but the segment ends at ${nextOffset}`)
  }

  #checkTimes(lastOffset: number): void {
    const index = this.#times
    while (index !== undefined && this.#nextTimeEntry < index.length) {
      const offset = this.#baseOffset + index.relativeOffsetAt(this.#nextTimeEntry)
      if (offset > lastOffset) return
      const timestamp = index.timestampAt(this.#nextTimeEntry)
      if (timestamp !== this.#maxTimestamp) {
        this.#noteTime(
          `it says ${timestamp} for offset ${offset}, but the largest timestamp up to there is ${this.#maxTimestamp}`,
        )
        this.#nextTimeEntry = index.length
        return
      }
      this.#nextTimeEntry++
    }
  }

  #checkAborted(nextOffset: number, transactionsFrom: number): void {
    const bytes = this.#read('txnindex')
    if (bytes === undefined && this.#aborted.length === 0) return
    const entries = decodeTransactionIndex(bytes ?? Buffer.alloc(0), { baseOffset: this.#baseOffset, nextOffset })
    if (entries === undefined) {
      this.#note('txnindex', undefined, 'the index is damaged, or is of other offsets than the segment')
      return
    }
    for (const { producerId, firstOffset, lastOffset } of this.#aborted) {
      const isThere = entries.some(
        entry =>
          entry.producerId === producerId && entry.lastOffset === lastOffset && entry.firstOffset === firstOffset,
      )
      const text = `the aborted transaction of producer ${producerId} from ${firstOffset} to ${lastOffset} is missing`
      if (!isThere) this.#note('txnindex', undefined, text)
    }
    for (const [index, { producerId, firstOffset, lastOffset }] of entries.entries()) {
      if (
        firstOffset < transactionsFrom ||
        this.#aborted.some(one => one.producerId === producerId && one.lastOffset === lastOffset)
      )
        continue
      const text = `the transaction of producer ${producerId} was not aborted at offset ${lastOffset}`
      this.#note('txnindex', index * transactionEntryBytes, text)
    }
  }

  #noteOffset(text: string): void {
    this.#note('index', this.#nextOffsetEntry * offsetEntryBytes, text)
  }

  #noteTime(text: string): void {
    this.#note('timeindex', this.#nextTimeEntry * timeEntryBytes, text)
  }

  #note(kind: SegmentFileKind, position: number | undefined, problem: string): void {
    this.#found.push({ path: this.#pathOf(kind), position, problem })
  }

  #read(kind: SegmentFileKind): Buffer | undefined {
    return this.#disk.readSmallFile(this.#pathOf(kind), maxIndexBytes)
  }

  #pathOf(kind: SegmentFileKind): string {
    return `${this.#directory}/${segmentFileName(this.#baseOffset, kind)}`
  }
}
