/**
 * Memory for the maps of passes that follow one another. It is large, and garbage collection is in no hurry with memory that
 * several threads share: with a new one for each pass there would soon be many.
 */
export class OffsetMapMemory {
  readonly #free: SharedArrayBuffer[] = []

  /**
   * Of at least `bytes`. New memory has `mostBytes`, so that it does for the passes that follow: what no key touches costs
   * nothing. What is in it is what the last pass left: `clearOffsetMap` comes next.
   */
  take(bytes: number, mostBytes = bytes): SharedArrayBuffer {
    const fitting = this.#free.findIndex(({ byteLength }) => byteLength >= bytes)
    // Where none fits, one is given up for a larger one, so that there are never more than passes at a time.
    const [memory] = this.#free.splice(Math.max(0, fitting), 1)
    return fitting < 0 ? new SharedArrayBuffer(Math.max(bytes, mostBytes)) : memory
  }

  /** No job that has it may be under way. */
  giveBack(memory: SharedArrayBuffer): void {
    this.#free.push(memory)
  }

  /** There will be no pass for a while. */
  release(): void {
    this.#free.length = 0
  }
}
