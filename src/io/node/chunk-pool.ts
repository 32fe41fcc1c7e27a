const LARGE_BYTES = 256 * 1024
const SMALL_BYTES = 16 * 1024

/**
 * Buffers for file bytes that are copied on their way to a socket. There are large ones as long as their number lasts,
 * then small ones for all: a thousand readers that have stopped reading hold 16 KiB each, and nobody waits for them.
 */
export class ChunkPool {
  #largeLeft: number
  readonly #free: Buffer[] = []

  constructor(maxLargeBytes: number) {
    this.#largeLeft = Math.floor(maxLargeBytes / LARGE_BYTES)
  }

  take(): Buffer {
    if (this.#largeLeft === 0) return Buffer.allocUnsafeSlow(SMALL_BYTES)
    this.#largeLeft--
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(LARGE_BYTES)
  }

  /** `mayReuse` is false when Node may still hold the bytes. */
  giveBack(chunk: Buffer, mayReuse: boolean): void {
    if (chunk.length !== LARGE_BYTES) return
    this.#largeLeft++
    if (mayReuse) this.#free.push(chunk)
  }
}
