import { randomFillSync } from 'node:crypto'
import { assert } from '../../base/assert.ts'
import type { Random } from '../../base/random.ts'

/** Chance is fetched in pieces of this size, since asking the system costs more than a small draw. */
const BUFFERED_BYTES = 4096
const DRAW_BYTES = 6
const DRAWS = 2 ** 48

/** The operating system's. */
export class NodeRandom implements Random {
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFERED_BYTES)
  #used = BUFFERED_BYTES

  below(bound: number): number {
    assert(Number.isInteger(bound) && bound >= 1 && bound <= DRAWS, 'a bound is a whole number from 1 to 2^48')
    // Draws above the last multiple of the bound are drawn again, or small results would be more likely.
    const fair = DRAWS - (DRAWS % bound)
    for (;;) {
      const draw = this.#take(DRAW_BYTES).readUIntBE(0, DRAW_BYTES)
      if (draw < fair) return draw % bound
    }
  }

  bytes(length: number): Buffer {
    if (length > BUFFERED_BYTES / 4) return randomFillSync(Buffer.allocUnsafeSlow(length))
    return Buffer.from(this.#take(length))
  }

  /** A view that is valid until the next draw. What was drawn is wiped with the next filling only: it is no secret here. */
  #take(length: number): Buffer {
    if (this.#used + length > BUFFERED_BYTES) {
      randomFillSync(this.#buffer)
      this.#used = 0
    }
    this.#used += length
    return this.#buffer.subarray(this.#used - length, this.#used)
  }
}
