import { assert } from '../base/assert.ts'
import type { Lease } from '../base/lease.ts'
import type { FrameMemory } from '../channel/frame-reader.ts'

/** Slabs are made in multiples of this, so that few sizes serve all frames. */
const slabStepBytes = 64 * 1024

interface Waiter {
  readonly bytes: number
  readonly granted: (lease: Lease) => void
}

export interface MemoryBudgetOptions {
  /** `queued.max.request.bytes`. */
  readonly capacityBytes: number
  /** Slabs that are kept for the next frame instead of being given back to the runtime. */
  readonly maxCachedBytes: number
  /** Overwrites what is given back, so that a use after release shows. For tests. */
  readonly poison: boolean
}

/**
 * The one budget of a broker for bytes that clients make it hold: frames that do not arrive whole, batches that are being
 * unpacked, answers that have not been sent. When it is used up, frames wait unread, first come first served. A frame
 * that is larger than the whole budget is taken when nothing else is held.
 */
export class MemoryBudget implements FrameMemory {
  readonly #options: MemoryBudgetOptions
  readonly #waiting: Waiter[] = []
  readonly #cache = new Map<number, Buffer[]>()
  #cachedBytes = 0
  #usedBytes = 0

  constructor(options: MemoryBudgetOptions) {
    this.#options = options
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  get capacityBytes(): number {
    return this.#options.capacityBytes
  }

  /** Frames that wait for memory now. */
  get waitingCount(): number {
    return this.#waiting.length
  }

  lease(bytes: number, granted: (lease: Lease) => void): Lease | undefined {
    if (this.#waiting.length === 0 && this.#fits(bytes)) return this.#make(bytes)
    this.#waiting.push({ bytes, granted })
    return undefined
  }

  forget(granted: (lease: Lease) => void): void {
    const index = this.#waiting.findIndex(waiter => waiter.granted === granted)
    if (index >= 0) this.#waiting.splice(index, 1)
    this.#serve()
  }

  /** Counts bytes that are held elsewhere (an unsent answer). May exceed the capacity: what is held is held. */
  hold(bytes: number): void {
    this.#usedBytes += bytes
  }

  letGo(bytes: number): void {
    assert(bytes <= this.#usedBytes, 'no more is let go than is held')
    this.#usedBytes -= bytes
    this.#serve()
  }

  #fits(bytes: number): boolean {
    return this.#usedBytes === 0 || this.#usedBytes + bytes <= this.#options.capacityBytes
  }

  #serve(): void {
    while (this.#waiting.length > 0 && this.#fits(this.#waiting[0].bytes)) {
      const { bytes, granted } = this.#waiting.shift()!
      granted(this.#make(bytes))
    }
  }

  #make(bytes: number): Lease {
    const size = Math.ceil(bytes / slabStepBytes) * slabStepBytes
    const slab = this.#takeSlab(size)
    this.#usedBytes += bytes
    let released = false
    return {
      bytes: slab,
      release: () => {
        assert(!released, 'a lease is released once')
        released = true
        this.#giveSlab(slab)
        this.letGo(bytes)
      },
    }
  }

  #takeSlab(size: number): Buffer {
    const cached = this.#cache.get(size)?.pop()
    if (cached === undefined) return Buffer.allocUnsafeSlow(size)
    this.#cachedBytes -= size
    return cached
  }

  #giveSlab(slab: Buffer): void {
    if (this.#options.poison) slab.fill(0xdb)
    if (this.#cachedBytes + slab.length > this.#options.maxCachedBytes) return
    let sameSize = this.#cache.get(slab.length)
    if (sameSize === undefined) {
      sameSize = []
      this.#cache.set(slab.length, sameSize)
    }
    sameSize.push(slab)
    this.#cachedBytes += slab.length
  }
}
