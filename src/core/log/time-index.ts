import { GrowingEntries } from './growing-entries.ts'

const entryBytes = 12

/**
 * The `.timeindex` of one segment in memory: the largest timestamp so far, and the last offset of the batch that carried
 * it, as distance from the segment's base. Timestamps grow from entry to entry, offsets do not fall.
 */
export class TimeIndex {
  readonly #entries: GrowingEntries

  constructor(bytes?: Buffer) {
    this.#entries = new GrowingEntries(entryBytes, bytes)
  }

  /** Undefined when the content cannot be such an index. Entries of zeros at the end are cut. */
  static decode(bytes: Buffer): TimeIndex | undefined {
    if (bytes.length % entryBytes !== 0) return undefined
    let length = bytes.length
    while (length > 0 && isZero(bytes, length - entryBytes)) length -= entryBytes
    const index = new TimeIndex(bytes.subarray(0, length))
    for (let at = 0; at < index.length; at++) {
      if (index.relativeOffsetAt(at) < 0) return undefined
      if (at === 0) continue
      if (index.timestampAt(at) <= index.timestampAt(at - 1)) return undefined
      if (index.relativeOffsetAt(at) < index.relativeOffsetAt(at - 1)) return undefined
    }
    return index
  }

  get length(): number {
    return this.#entries.length
  }

  get sizeBytes(): number {
    return this.#entries.sizeBytes
  }

  encode(): Buffer {
    return this.#entries.view()
  }

  /** Adds the entry if its timestamp is larger than all before. */
  maybeAppend(timestamp: bigint, relativeOffset: number): void {
    if (timestamp < 0n || (this.length > 0 && timestamp <= this.timestampAt(this.length - 1))) return
    const at = this.#entries.grow()
    this.#entries.bytes.writeBigInt64BE(timestamp, at)
    this.#entries.bytes.writeInt32BE(relativeOffset, at + 8)
  }

  timestampAt(entry: number): bigint {
    return this.#entries.bytes.readBigInt64BE(entry * entryBytes)
  }

  relativeOffsetAt(entry: number): number {
    return this.#entries.bytes.readInt32BE(entry * entryBytes + 8)
  }

  /** The last entry whose timestamp is below this one: what comes up to its offset is older. -1 when there is none. */
  below(timestamp: bigint): number {
    let low = 0
    let high = this.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.timestampAt(middle) < timestamp) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** All entries: timestamp and relative offset. */
  entries(): [bigint, number][] {
    return Array.from({ length: this.length }, (_, entry) => [this.timestampAt(entry), this.relativeOffsetAt(entry)])
  }

  /** Forgets entries of batches from this offset on. */
  truncate(relativeOffset: number): void {
    let length = this.length
    while (length > 0 && this.relativeOffsetAt(length - 1) >= relativeOffset) length--
    this.#entries.truncate(length)
  }
}

function isZero(bytes: Buffer, at: number): boolean {
  return bytes.readInt32BE(at) === 0 && bytes.readInt32BE(at + 4) === 0 && bytes.readInt32BE(at + 8) === 0
}
