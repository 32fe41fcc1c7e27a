import { copyBytes } from '../compression/copy-bytes.ts'

const initialRuns = 64

/** Which records of a batch stay, as runs that lie one behind the other in its bytes. */
export class RecordRuns {
  #ends = new Int32Array(2 * initialRuns)
  #length = 0
  #bytes = 0

  clear(): void {
    this.#length = 0
    this.#bytes = 0
  }

  /** The length of all runs together. */
  get totalBytes(): number {
    return this.#bytes
  }

  /** Adds a record that lies behind all before. */
  add(start: number, end: number): void {
    this.#bytes += end - start
    if (this.#length > 0 && this.#ends[this.#length - 1] === start) {
      this.#ends[this.#length - 1] = end
      return
    }
    if (this.#length === this.#ends.length) {
      const longer = new Int32Array(2 * this.#length)
      longer.set(this.#ends)
      this.#ends = longer
    }
    this.#ends[this.#length++] = start
    this.#ends[this.#length++] = end
  }

  /** The answer is the position behind the copy. There must be room for `totalBytes`. */
  copy(source: Buffer, target: Buffer, to: number): number {
    let at = to
    for (let run = 0; run < this.#length; run += 2) {
      at = copyBytes(target, at, source, this.#ends[run], this.#ends[run + 1] - this.#ends[run])
    }
    return at
  }
}
