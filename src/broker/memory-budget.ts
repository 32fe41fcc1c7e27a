import { assert } from '../base/assert.ts'
import type { Lease } from '../base/lease.ts'
import type { FrameMemory } from '../channel/frame-reader.ts'
import { freeBytes } from '../records/compression/free-bytes.ts'

const smallestSlabBytes = 64 * 1024
/** A frame up to this size gets memory of its own size, which is not kept: a slab would be many times what is counted. */
const maxSmallBytes = 16 * 1024
/** A slab that is used again is at most so many times as large as what it is for, or so large. */
const maxSlack = 2
const maxSpareSlabBytes = 256 * 1024
/** What may be held beyond the capacity before connections are closed for it: a quarter of it, and at most so much. */
const maxOverdraftBytes = 32 * 1024 * 1024
/** Of a frame that has so much of it here, the rest may be expected soon. */
const eagerBytes = 64 * 1024
/** Of so many frames that get memory, one is of those that have hardly begun. */
const eagerShare = 4

interface Waiter {
  readonly bytes: number
  readonly granted: (lease: Lease) => void
}

export interface MemoryBudgetOptions {
  /** `queued.max.request.bytes`. */
  readonly capacityBytes: number
  /** Slabs that are kept for the next frame instead of being given back to the runtime, also when they were not used for long. */
  readonly maxUnusedBytes: number
  /** Overwrites what is given back, so that a use after release shows. For tests. */
  readonly poison: boolean
}

/**
 * The one budget of a broker for bytes that clients make it hold: frames that do not arrive whole, batches that are being
 * unpacked, answers that have not been sent. When it is used up, frames wait unread, first come first served, but for
 * those that have hardly begun: they would hold memory that others could use, so most of it goes to the others. One frame
 * at a time is taken however large it is and whatever else is held, so that the first in the queue never waits for ever.
 */
export class MemoryBudget implements FrameMemory {
  readonly #options: MemoryBudgetOptions
  /** Frames that wait: those that are arriving, and those that have hardly begun. */
  readonly #eager: Waiter[] = []
  readonly #idle: Waiter[] = []
  #served = 0
  /** By size, the smallest first. */
  readonly #cache: Buffer[] = []
  #cachedBytes = 0
  /** The least that was in the cache since `giveBackUnused` ran last. */
  #unusedBytes = 0
  #usedBytes = 0
  /** The part of it that is leased. */
  #leasedBytes = 0
  #isServing = false

  constructor(options: MemoryBudgetOptions) {
    this.#options = options
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  get capacityBytes(): number {
    return this.#options.capacityBytes
  }

  /** More is held than was foreseen: what clients have sent that waits for memory itself. */
  get isOverdrawn(): boolean {
    return this.#usedBytes > this.capacityBytes + this.overdraftBytes
  }

  get overdraftBytes(): number {
    return Math.min(this.capacityBytes / 4, maxOverdraftBytes)
  }

  /** Frames that wait for memory now. */
  get waitingCount(): number {
    return this.#eager.length + this.#idle.length
  }

  lease(bytes: number, granted: (lease: Lease) => void, arrivedBytes = bytes): Lease | undefined {
    const isEager = arrivedBytes >= Math.min(bytes, eagerBytes)
    const hasPrecedence = this.#eager.length === 0 && (isEager || this.#idle.length === 0)
    if (hasPrecedence && this.#fits(bytes)) return this.#make(bytes)
    const queue = isEager ? this.#eager : this.#idle
    queue.push({ bytes, granted })
    return undefined
  }

  forget(granted: (lease: Lease) => void): void {
    for (const queue of [this.#eager, this.#idle]) {
      const index = queue.findIndex(waiter => waiter.granted === granted)
      if (index >= 0) queue.splice(index, 1)
    }
    this.#serve()
  }

  copy(bytes: Buffer): Lease {
    const slab = this.takeSlab(bytes.length)
    const { length } = slab
    bytes.copy(slab)
    this.hold(length)
    return {
      bytes: slab.subarray(0, bytes.length),
      release: () => {
        this.giveSlab(slab)
        this.letGo(length)
      },
    }
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
    return this.#leasedBytes === 0 || this.#usedBytes + bytes <= this.#options.capacityBytes
  }

  /** Whoever is granted memory may give some back meanwhile; that is seen to here, not in a call within a call. */
  #serve(): void {
    if (this.#isServing) return
    this.#isServing = true
    this.#serveAll()
    this.#isServing = false
  }

  #serveAll(): void {
    for (let queue = this.#nextQueue(); queue.length > 0 && this.#fits(queue[0].bytes); queue = this.#nextQueue()) {
      const { bytes, granted } = queue.shift()!
      this.#served++
      granted(this.#make(bytes))
    }
  }

  #nextQueue(): Waiter[] {
    const isTurnOfIdle = this.#served % eagerShare === eagerShare - 1
    if (this.#eager.length === 0) return this.#idle
    return isTurnOfIdle && this.#idle.length > 0 ? this.#idle : this.#eager
  }

  /** Counts what the slab is, which may be more than was asked for. */
  #make(bytes: number): Lease {
    const slab = this.takeSlab(bytes)
    const { length } = slab
    this.#usedBytes += length
    this.#leasedBytes += length
    let released = false
    return {
      bytes: slab,
      release: () => {
        assert(!released, 'a lease is released once')
        released = true
        this.#leasedBytes -= length
        this.giveSlab(slab)
        this.letGo(length)
      },
    }
  }

  /**
   * Memory of at least `bytes` that nobody counts; whoever takes it counts it with `hold`. Frames of one client differ in size,
   * so a slab that is somewhat larger serves as well: making one is what costs.
   */
  takeSlab(bytes: number): Buffer {
    if (bytes <= maxSmallBytes) return Buffer.allocUnsafeSlow(bytes)
    const index = this.#firstOfAtLeast(bytes)
    const limit = Math.max(maxSpareSlabBytes, maxSlack * bytes)
    if (index === this.#cache.length || this.#cache[index].length > limit) return this.#makeSlab(slabSize(bytes))
    const [slab] = this.#cache.splice(index, 1)
    this.#cachedBytes -= slab.length
    this.#unusedBytes = Math.min(this.#unusedBytes, this.#cachedBytes)
    return slab
  }

  /** What lies ready in other sizes goes, where there would be too much of all. */
  #makeSlab(bytes: number): Buffer {
    this.#shrinkTo(this.#maxCachedBytes - bytes)
    return Buffer.allocUnsafeSlow(bytes)
  }

  /** What is used and what lies ready are together no more than may be used, so that memory which was used once is enough. */
  get #maxCachedBytes(): number {
    return Math.max(this.#options.maxUnusedBytes, this.capacityBytes + this.overdraftBytes - this.#usedBytes)
  }

  /** Nobody uses the slab any more. What is not kept is freed now: the runtime would collect it late, and much of it at a time. */
  giveSlab(slab: Buffer): void {
    if (this.#options.poison) slab.fill(0xdb)
    if (slab.length < smallestSlabBytes || slab.length > this.#options.maxUnusedBytes) {
      freeBytes(slab)
      return
    }
    this.#cache.splice(this.#firstOfAtLeast(slab.length), 0, slab)
    this.#cachedBytes += slab.length
    this.#shrinkTo(this.#maxCachedBytes)
  }

  /** For a timer: gives back half of what was not used since the last time, down to what is always kept. */
  giveBackUnused(): void {
    const surplus = Math.min(this.#unusedBytes, this.#cachedBytes - this.#options.maxUnusedBytes)
    if (surplus > 0) this.#shrinkTo(this.#cachedBytes - surplus / 2)
    this.#unusedBytes = this.#cachedBytes
  }

  /** Large ones serve every frame, so the small ones go. */
  #shrinkTo(maxBytes: number): void {
    while (this.#cachedBytes > maxBytes && this.#cache.length > 0) {
      const slab = this.#cache.shift()!
      this.#cachedBytes -= slab.length
      freeBytes(slab)
    }
    this.#unusedBytes = Math.min(this.#unusedBytes, this.#cachedBytes)
  }

  #firstOfAtLeast(bytes: number): number {
    let low = 0
    for (let high = this.#cache.length; low < high; ) {
      const middle = (low + high) >> 1
      if (this.#cache[middle].length >= bytes) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** Two sizes up to what one read brings, so that nearly each serves again; then the next of four sizes to each doubling. */
function slabSize(bytes: number): number {
  if (bytes <= smallestSlabBytes) return smallestSlabBytes
  if (bytes <= maxSpareSlabBytes) return maxSpareSlabBytes
  const step = 2 ** (Math.ceil(Math.log2(bytes)) - 3)
  return Math.ceil(bytes / step) * step
}
