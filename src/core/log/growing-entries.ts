const firstCapacity = 16
const noBytes: Buffer = Buffer.alloc(0)

/** Entries of equal size one after the other in a buffer that doubles when it is full. Empty ones take no memory. */
export class GrowingEntries {
  readonly #entryBytes: number
  #bytes: Buffer | undefined
  #length: number

  /** Takes a copy of `bytes`: a view would keep alive whatever else lies in the same slab. */
  constructor(entryBytes: number, bytes = noBytes) {
    this.#entryBytes = entryBytes
    this.#length = bytes.length / entryBytes
    this.#bytes = bytes.length === 0 ? undefined : Buffer.allocUnsafeSlow(bytes.length)
    if (this.#bytes !== undefined) bytes.copy(this.#bytes)
  }

  get length(): number {
    return this.#length
  }

  get sizeBytes(): number {
    return this.#length * this.#entryBytes
  }

  get bytes(): Buffer {
    return this.#bytes ?? noBytes
  }

  view(): Buffer {
    return this.bytes.subarray(0, this.sizeBytes)
  }

  /** Makes room for one more entry and answers its position. */
  grow(): number {
    const position = this.sizeBytes
    if (position === this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(firstCapacity * this.#entryBytes, position * 2))
      this.#bytes?.copy(larger, 0, 0, position)
      this.#bytes = larger
    }
    this.#length++
    return position
  }

  truncate(length: number): void {
    this.#length = Math.min(this.#length, length)
  }
}
