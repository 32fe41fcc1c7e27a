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
  /** Grows whenever something was cut or removed: whoever waited for the disk looks whether its segment still counts. */
  #removals = 0

  constructor(segments: Segment[]) {
    assert(segments.length > 0, 'a log has a segment')
    this.#segments = segments
  }

  get all(): readonly Segment[] {
    return this.#segments
  }

  get removals(): number {
    return this.#removals
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

  after(segment: Segment): Segment | undefined {
    return this.#segments[this.indexOf(segment) + 1]
  }

  /** Takes out the segments above this one; it is the active one again. */
  removeAfter(segment: Segment): Segment[] {
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
    this.#takeOut(index, segments.length, segment)
  }

  /** Takes out one of which compaction has left nothing. */
  removeEmptied(segment: Segment): void {
    const index = this.indexOf(segment)
    assert(index > 0 && segment !== this.active, 'an emptied segment stands between others')
    this.#takeOut(index, 1)
  }

  /** Takes out the oldest segments, but not the active one. */
  removeFirst(count: number): Segment[] {
    assert(count < this.#segments.length, 'a log keeps its active segment')
    return this.#takeOut(0, count)
  }

  /** Takes out all and goes on with this one. */
  replaceAll(segment: Segment): Segment[] {
    return this.#takeOut(0, this.#segments.length, segment)
  }

  #takeOut(index: number, count: number, ...replacements: Segment[]): Segment[] {
    this.#removals++
    const taken = this.#segments.splice(index, count, ...replacements)
    for (const segment of taken) segment.isGone = true
    return taken
  }
}
