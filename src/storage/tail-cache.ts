import { readBatchSize } from '../records/batch.ts'
import { storedLastOffset } from './stored-batch.ts'
import type { RingUser, TailRing } from './tail-ring.ts'
import { TailRuns } from './tail-runs.ts'

/** A longer run is not continued: finding a batch in it means walking from its beginning. */
const maxRunBytes = 32 * 1024

/** Where a batch begins: in its segment, and in the cache. */
export interface CachedPlace {
  readonly segmentBaseOffset: number
  readonly position: number
  readonly runIndex: number
  /** Position in the run's chunk. */
  readonly at: number
}

/** Where a batch lies in the log and its segment. */
interface AddedPlace {
  readonly baseOffset: number
  readonly endOffset: number
  readonly segmentBaseOffset: number
  readonly position: number
}

/** What one partition has in the tail ring. Runs follow one another, but gaps between them are possible. */
export class TailCache implements RingUser {
  readonly #ring: TailRing
  readonly #maxBytes: number
  readonly #isToBeWritten: () => boolean
  readonly #runs = new TailRuns()
  #bytes = 0

  /** `isToBeWritten` says whether what `add` answered, of any call, still has to be written. */
  constructor(ring: TailRing, maxBytes: number, isToBeWritten: () => boolean) {
    this.#ring = ring
    this.#maxBytes = maxBytes
    this.#isToBeWritten = isToBeWritten
  }

  /** Keeps a copy of a batch and answers a view of the copy, to write it from: it stays good for as long. */
  add(batch: Buffer, place: AddedPlace): Buffer {
    const { chunkId, start } = this.#ring.copy(batch, this)
    if (this.#isContinued(place, chunkId, start)) this.#runs.extendLast(place.endOffset, batch.length)
    else this.#runs.push({ ...place, chunkId, start, length: batch.length })
    this.#bytes += batch.length
    while (this.#bytes > this.#maxBytes && this.#runs.length > 1) this.#bytes -= this.#runs.dropFirst()
    return (this.#ring.chunk(chunkId) as Buffer).subarray(start, start + batch.length)
  }

  #isContinued({ segmentBaseOffset, position }: AddedPlace, chunkId: number, start: number): boolean {
    if (this.#runs.length === 0) return false
    const last = this.#runs.at(this.#runs.length - 1)
    return (
      last.length < maxRunBytes &&
      last.chunkId === chunkId &&
      last.start + last.length === start &&
      last.segmentBaseOffset === segmentBaseOffset &&
      last.position + last.length === position
    )
  }

  /** Where the batch that holds this offset begins, if it is here. */
  find(offset: number): CachedPlace | undefined {
    const runIndex = this.#runs.floor(offset)
    if (runIndex < 0 || offset >= this.#runs.get(runIndex, 'endOffset')) return undefined
    const run = this.#runs.at(runIndex)
    const bytes = this.#ring.chunk(run.chunkId)
    if (bytes === undefined) return undefined
    let at = run.start
    while (storedLastOffset(bytes, at) < offset) at += readBatchSize(bytes, at)
    return { segmentBaseOffset: run.segmentBaseOffset, position: run.position + at - run.start, runIndex, at }
  }

  /** The size of the batch at a place. */
  batchSize({ runIndex, at }: CachedPlace): number {
    return readBatchSize(this.#ring.chunk(this.#runs.get(runIndex, 'chunkId')) as Buffer, at)
  }

  /** A copy of the segment's bytes [place, endPosition) if all of them are here. */
  read(place: CachedPlace, endPosition: number): Buffer | undefined {
    const parts: Buffer[] = []
    let { position } = place
    for (let index = place.runIndex; index < this.#runs.length && position < endPosition; index++) {
      const run = this.#runs.at(index)
      const bytes = this.#ring.chunk(run.chunkId)
      const skipped = position - run.position
      const isNext = run.segmentBaseOffset === place.segmentBaseOffset && skipped >= 0 && skipped < run.length
      if (bytes === undefined || !isNext) return undefined
      const length = Math.min(run.length - skipped, endPosition - position)
      parts.push(bytes.subarray(run.start + skipped, run.start + skipped + length))
      position += length
    }
    return position === endPosition ? Buffer.concat(parts) : undefined
  }

  /** Forgets what is at or above the offset. */
  truncate(endOffset: number): void {
    while (this.#runs.length > 0 && this.#runs.get(this.#runs.length - 1, 'endOffset') > endOffset) {
      this.#bytes -= this.#runs.dropLast()
    }
  }

  /** Forgets what begins below the offset: it lies elsewhere now. */
  forgetBelow(offset: number): void {
    while (this.#runs.length > 0 && this.#runs.get(0, 'baseOffset') < offset) this.#bytes -= this.#runs.dropFirst()
  }

  clear(): void {
    this.#runs.clear()
    this.#bytes = 0
  }

  chunkDropped(chunkId: number): boolean {
    while (this.#runs.length > 0 && this.#runs.get(0, 'chunkId') <= chunkId) this.#bytes -= this.#runs.dropFirst()
    return this.#isToBeWritten()
  }
}
