import { assert } from '../base/assert.ts'
import type { Segment } from './segment.ts'

/** A place between two batches: the batch that begins there has this base offset, or will have it. */
export interface LogPosition {
  readonly offset: number
  readonly segment: Segment
  readonly position: number
}

/** The segments of one log in the order of their offsets; never empty. The last one is the active one. */
export class SegmentList {
  readonly #segments: Segment[]
  #layout = 0

  constructor(segments: Segment[]) {
    assert(segments.length > 0, 'a log has a segment')
    this.#segments = segments
  }

  get all(): readonly Segment[] {
    return this.#segments
  }

  /**
   * Another number whenever something that could be read lies elsewhere, or nowhere any more: the log was cut, or compaction or
   * retention has taken segments. Who waited for the disk, and finds it the same, may go by what it saw before. That an append
   * which failed is taken back, and that segments are added, changes nothing of that.
   */
  get layout(): number {
    return this.#layout
  }

  get active(): Segment {
    return this.#segments[this.#segments.length - 1]
  }

  get first(): Segment {
    return this.#segments[0]
  }

  get sizeBytes(): number {
    let size = 0
    for (const segment of this.#segments) size += segment.sizeBytes
    return size
  }

  indexOf(segment: Segment): number {
    return this.#segments.lastIndexOf(segment)
  }

  includes(segment: Segment): boolean {
    return this.#segments.includes(segment)
  }

  add(segment: Segment): void {
    assert(segment.baseOffset >= this.active.nextOffset, 'a new segment begins where the log ends')
    this.#segments.push(segment)
  }

  /** The segment that holds the offset, or would: the last one that does not begin above it; the first when all do. */
  floor(offset: number): Segment {
    let low = 0
    let high = this.#segments.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#segments[middle].baseOffset <= offset) low = middle + 1
      else high = middle
    }
    return this.#segments[Math.max(0, low - 1)]
  }

  /** Undefined for the active one, and for one that is gone. */
  after(segment: Segment): Segment | undefined {
    return segment.isGone ? undefined : this.#segments[this.indexOf(segment) + 1]
  }

  /** The log is cut within this segment, which is the active one again. Answers those above it. */
  cutWithin(segment: Segment): Segment[] {
    this.#layout++
    return this.#takeOutAfter(segment)
  }

  /** Takes out the segments above this one, which were begun for batches that could not be written; it is the active one again. */
  takeBackAfter(segment: Segment): Segment[] {
    return this.#takeOutAfter(segment)
  }

  #takeOutAfter(segment: Segment): Segment[] {
    const index = this.indexOf(segment)
    assert(index >= 0, 'the segment that stays is one of the log')
    return this.#takeOut(index + 1, this.#segments.length)
  }

  /** Puts one segment in the place of some that follow one another. */
  replace(segments: readonly Segment[], segment: Segment): void {
    const index = this.indexOf(segments[0])
    assert(index >= 0, 'segments that are replaced are of the log')
    assert(index + segments.length < this.#segments.length, 'the active segment is not replaced')
    assert(
      segments.every((one, at) => this.#segments[index + at] === one),
      'segments that are replaced follow one another',
    )
    assert(segment.baseOffset === segments[0].baseOffset, 'a segment begins where those did that it replaces')
    this.#layout++
    this.#takeOut(index, segments.length, segment)
  }

  /** Takes out one of which compaction has left nothing. */
  removeEmptied(segment: Segment): void {
    const index = this.indexOf(segment)
    assert(index > 0 && segment !== this.active, 'an emptied segment stands between others')
    this.#layout++
    this.#takeOut(index, 1)
  }

  /** Takes out the oldest segments, but not the active one. */
  removeFirst(count: number): Segment[] {
    assert(count < this.#segments.length, 'a log keeps its active segment')
    this.#layout++
    return this.#takeOut(0, count)
  }

  /** Takes out all and goes on with this one. */
  replaceAll(segment: Segment): Segment[] {
    this.#layout++
    return this.#takeOut(0, this.#segments.length, segment)
  }

  #takeOut(index: number, count: number, ...replacements: Segment[]): Segment[] {
    const taken = this.#segments.splice(index, count, ...replacements)
    for (const segment of taken) segment.isGone = true
    return taken
  }
}
