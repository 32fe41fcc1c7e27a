import { assert } from '../../base/assert.ts'
import { GrowingEntries } from './growing-entries.ts'

const entryBytes = 8

/**
 * The `.index` of one segment in memory: offset, as distance from the segment's base, of the last record of a batch, and
 * the position at which that batch begins. Sparse; both grow from entry to entry.
 */
export class OffsetIndex {
  readonly #entries: GrowingEntries

  constructor(bytes?: Buffer) {
    this.#entries = new GrowingEntries(entryBytes, bytes)
  }

  /**
   * Undefined when the content cannot be an index of a segment of this size. Zeros at the end are cut: a killed Kafka
   * leaves the file as large as it was preallocated.
   */
  static decode(bytes: Buffer, segmentBytes: number): OffsetIndex | undefined {
    if (bytes.length % entryBytes !== 0) return undefined
    let length = bytes.length
    while (length > 0 && bytes.readInt32BE(length - 4) === 0 && bytes.readInt32BE(length - 8) === 0)
      length -= entryBytes
    const index = new OffsetIndex(bytes.subarray(0, length))
    let lastOffset = -1
    let lastPosition = -1
    for (let at = 0; at < index.length; at++) {
      const offset = index.relativeOffsetAt(at)
      const position = index.positionAt(at)
      if (offset <= lastOffset || position <= lastPosition || position >= segmentBytes) return undefined
      lastOffset = offset
      lastPosition = position
    }
    return index
  }

  get length(): number {
    return this.#entries.length
  }

  get sizeBytes(): number {
    return this.#entries.sizeBytes
  }

  /** What the file holds: a view. */
  encode(): Buffer {
    return this.#entries.view()
  }

  append(relativeOffset: number, position: number): void {
    assert(this.length === 0 || relativeOffset > this.relativeOffsetAt(this.length - 1), 'index offsets grow')
    const at = this.#entries.grow()
    this.#entries.bytes.writeInt32BE(relativeOffset, at)
    this.#entries.bytes.writeInt32BE(position, at + 4)
  }

  relativeOffsetAt(entry: number): number {
    return this.#entries.bytes.readInt32BE(entry * entryBytes)
  }

  positionAt(entry: number): number {
    return this.#entries.bytes.readInt32BE(entry * entryBytes + 4)
  }

  /** The entry with the greatest offset that is not above this one; -1 when there is none. */
  floor(relativeOffset: number): number {
    let low = 0
    let high = this.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.relativeOffsetAt(middle) <= relativeOffset) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** The first entry whose batch begins at or after the position; `length` when there is none. */
  firstFromPosition(position: number): number {
    let low = 0
    let high = this.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.positionAt(middle) < position) low = middle + 1
      else high = middle
    }
    return low
  }

  /** All entries: relative offset and position. */
  entries(): [number, number][] {
    return Array.from({ length: this.length }, (_, entry) => [this.relativeOffsetAt(entry), this.positionAt(entry)])
  }

  /** Forgets entries of batches from this offset on. */
  truncate(relativeOffset: number): void {
    this.#entries.truncate(this.floor(relativeOffset - 1) + 1)
  }
}
