/** Bytes that grow: what a file is in memory. Beyond its end lie zeros. */
export class GrowableBytes {
  #bytes = Buffer.alloc(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** A view, valid until the next change. Shorter where the bytes end. */
  view(position: number, length: number): Buffer {
    return this.#bytes.subarray(Math.min(position, this.#length), Math.min(position + length, this.#length))
  }

  write(position: number, bytes: Buffer): void {
    this.#reserve(position + bytes.length)
    bytes.copy(this.#bytes, position)
    this.#length = Math.max(this.#length, position + bytes.length)
  }

  resize(length: number): void {
    if (length < this.#length) this.#bytes.fill(0, length, this.#length)
    else this.#reserve(length)
    this.#length = length
  }

  copy(): GrowableBytes {
    const copy = new GrowableBytes()
    copy.write(0, this.view(0, this.#length))
    return copy
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return
    const grown = Buffer.alloc(Math.max(length, this.#bytes.length * 2, 256))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }
}
