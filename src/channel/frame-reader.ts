import { assert } from '../base/assert.ts'
import type { Lease } from '../base/lease.ts'

/** What is held moves to smaller memory when this part of it is left. */
const sparseShare = 1 / 4

/** Memory for frames that do not arrive whole, and for what has to wait. */
export interface FrameMemory {
  /**
   * A lease of at least `bytes`, or undefined when so much is not free now; then `granted` runs once, in a later turn, when
   * it is. A frame is reserved whole, so that one that has begun can always be read to its end. `arrivedBytes` of it are
   * here already: those that come are worth more than those that are only announced.
   */
  lease(bytes: number, granted: (lease: Lease) => void, arrivedBytes: number): Lease | undefined
  /** The owner of this callback has gone; it will not run. */
  forget(granted: (lease: Lease) => void): void
  /** A lease of a copy of just these bytes, whether there is room for them or not. */
  copy(bytes: Buffer): Lease
}

export type FrameError = 'negativeLength' | 'tooLarge'

export interface FrameReaderOptions {
  readonly maxFrameBytes: number
  readonly memory: FrameMemory
  /**
   * One whole frame, without its length. Valid, and free to be changed, only until the call returns, unless `keep` is
   * called meanwhile. `hold` means: not now; the same frame is given again after `resume`.
   */
  readonly frame: (bytes: Buffer) => 'taken' | 'hold'
  /** The stream cannot be read on. Nothing follows. */
  readonly failed: (error: FrameError, lengthGiven: number) => void
  readonly pause: () => void
  readonly resume: () => void
}

/**
 * Cuts one connection's stream into frames (int32 length, then so many bytes).
 *
 * At rest it owns no memory: whole frames are handed on where they lie. A frame that is not whole is copied once into a
 * leased slab, and the rest of it is read straight there. Reading pauses only between frames.
 */
export class FrameReader {
  readonly #options: FrameReaderOptions
  /** The part of a length that has arrived: fewer than four bytes. */
  readonly #lengthBytes = Buffer.alloc(4)
  #lengthHave = 0
  /** Length of the frame that is being gathered; -1 between frames. */
  #frameLength = -1
  #slab: Lease | undefined
  #slabFill = 0
  /** Bytes that arrived and wait for memory or for `resume`, and the memory that they are the end of. */
  #held: Buffer | undefined
  #heldLease: Lease | undefined
  #waiting: 'no' | 'memory' | 'resume' = 'no'
  #ended = false
  /** The slab whose frame is being handed on, if `keep` may take it. */
  #offered: Lease | undefined
  #current: Buffer | undefined
  /** Bytes have arrived behind the frame that is being handed on. */
  #isFollowed = false
  readonly #granted = (lease: Lease) => this.#memoryGranted(lease)

  constructor(options: FrameReaderOptions) {
    this.#options = options
  }

  /** Whether a frame has begun, is not whole, and waits for nothing but the peer: it should arrive before long. */
  get isInsideFrame(): boolean {
    return (this.#lengthHave > 0 || this.#frameLength >= 0) && this.#waiting === 'no'
  }

  /** How much of the frame that is being gathered has arrived. */
  get gatheredBytes(): number {
    return this.#slab === undefined ? 0 : this.#slabFill
  }

  /** The memory of what the last read brought before reading paused. */
  get heldBytes(): number {
    return this.#heldLease?.bytes.length ?? 0
  }

  /** A frame has begun that there is no memory for yet. */
  get waitsForMemory(): boolean {
    return this.#waiting === 'memory'
  }

  /** Inside the `frame` callback only: more has arrived behind the frame. */
  get isFollowed(): boolean {
    return this.#isFollowed
  }

  /** Where the next bytes belong, for `Receiver.target`. Never nowhere: a read into an empty buffer fails the connection. */
  target(): Buffer | undefined {
    if (this.#slab === undefined || this.#slabFill === this.#frameLength) return undefined
    return this.#slab.bytes.subarray(this.#slabFill, this.#frameLength)
  }

  received(bytes: Buffer): void {
    if (this.#ended) return
    const rest = this.#isWaiting ? bytes : this.#consume(bytes)
    if (rest !== undefined) this.#hold(rest)
  }

  /** Inside the `frame` callback only: the frame's bytes stay valid until the lease is released. */
  keep(): Lease {
    assert(this.#current !== undefined, 'a frame is kept while it is being handed on')
    const offered = this.#offered
    if (offered === undefined) return this.#options.memory.copy(this.#current)
    this.#offered = undefined
    return { bytes: this.#current, release: () => offered.release() }
  }

  /** After a frame was held: offers it again, and reads on. */
  resume(): void {
    if (this.#waiting !== 'resume' || this.#ended) return
    this.#continue()
  }

  /** The connection is gone: gives all memory back. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    if (this.#waiting === 'memory') this.#options.memory.forget(this.#granted)
    this.#slab?.release()
    this.#slab = undefined
    this.#heldLease?.release()
    this.#held = undefined
    this.#heldLease = undefined
  }

  #continue(): void {
    const held = this.#held
    const lease = this.#heldLease
    this.#held = undefined
    this.#heldLease = undefined
    this.#waiting = 'no'
    if (this.#slab !== undefined && this.#slabFill === this.#frameLength) {
      this.#isFollowed = held !== undefined
      this.#offerSlab()
    }
    const rest = held === undefined || this.#isWaiting ? held : this.#consume(held)
    if (lease !== undefined) this.#holdOn(rest, lease)
    if (this.#waiting === 'no' && !this.#ended) this.#options.resume()
  }

  /** Returns what has to wait. */
  #consume(bytes: Buffer): Buffer | undefined {
    let at = 0
    while (at < bytes.length && !this.#ended) {
      if (this.#isWaiting) return bytes.subarray(at)
      at = this.#slab === undefined ? this.#takeFromStream(bytes, at) : this.#fillSlab(bytes, at)
    }
    return undefined
  }

  get #isWaiting(): boolean {
    return this.#waiting !== 'no'
  }

  /** Between frames: takes a length, then the frame where it lies when it is whole. Returns the new position. */
  #takeFromStream(bytes: Buffer, start: number): number {
    let at = start
    if (this.#frameLength < 0) {
      if (this.#lengthHave === 0 && bytes.length - at >= 4) {
        const length = bytes.readInt32BE(at)
        if (!this.#lengthIsGood(length)) return bytes.length
        if (bytes.length - at - 4 >= length) return this.#offerInPlace(bytes, at, length)
        this.#frameLength = length
        at += 4
      } else {
        while (this.#lengthHave < 4 && at < bytes.length) this.#lengthBytes[this.#lengthHave++] = bytes[at++]
        if (this.#lengthHave < 4) return at
        const length = this.#lengthBytes.readInt32BE(0)
        if (!this.#lengthIsGood(length)) return bytes.length
        this.#lengthHave = 0
        this.#frameLength = length
      }
    }
    this.#requestSlab(bytes.length - at)
    return at
  }

  #lengthIsGood(length: number): boolean {
    if (length >= 0 && length <= this.#options.maxFrameBytes) return true
    this.#ended = true
    this.#options.failed(length < 0 ? 'negativeLength' : 'tooLarge', length)
    return false
  }

  #offerInPlace(bytes: Buffer, at: number, length: number): number {
    const end = at + 4 + length
    this.#isFollowed = end < bytes.length
    if (this.#offer(bytes.subarray(at + 4, end)) === 'taken') return end
    this.#pauseFor('resume')
    return at
  }

  #offer(frame: Buffer): 'taken' | 'hold' {
    this.#current = frame
    const answer = this.#options.frame(frame)
    this.#current = undefined
    return answer
  }

  #requestSlab(arrivedBytes: number): void {
    const lease = this.#options.memory.lease(Math.max(1, this.#frameLength), this.#granted, arrivedBytes)
    if (lease === undefined) this.#pauseFor('memory')
    else this.#startSlab(lease)
  }

  #startSlab(lease: Lease): void {
    this.#slab = lease
    this.#slabFill = 0
    if (this.#frameLength === 0) this.#offerSlab()
  }

  #memoryGranted(lease: Lease): void {
    if (this.#ended) {
      lease.release()
      return
    }
    assert(this.#waiting === 'memory', 'memory is granted to a reader that waits for it')
    this.#startSlab(lease)
    this.#continue()
  }

  #fillSlab(bytes: Buffer, at: number): number {
    const slab = this.#slab!.bytes
    const length = Math.min(this.#frameLength - this.#slabFill, bytes.length - at)
    const isInPlace = bytes.buffer === slab.buffer && bytes.byteOffset + at === slab.byteOffset + this.#slabFill
    if (!isInPlace) bytes.copy(slab, this.#slabFill, at, at + length)
    this.#slabFill += length
    if (this.#slabFill === this.#frameLength) {
      this.#isFollowed = at + length < bytes.length
      this.#offerSlab()
    }
    return at + length
  }

  #offerSlab(): void {
    const slab = this.#slab!
    this.#offered = slab
    const answer = this.#offer(slab.bytes.subarray(0, this.#frameLength))
    if (answer === 'hold') {
      this.#offered = undefined
      this.#pauseFor('resume')
      return
    }
    this.#slab = undefined
    this.#frameLength = -1
    this.#offered?.release()
    this.#offered = undefined
  }

  #pauseFor(what: 'memory' | 'resume'): void {
    this.#waiting = what
    this.#options.pause()
  }

  #hold(bytes: Buffer): void {
    const before = this.#heldLease
    this.#heldLease = this.#options.memory.copy(this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes]))
    this.#held = this.#heldLease.bytes
    before?.release()
  }

  /** Of what was held `rest` has to wait on, the end of the lease. */
  #holdOn(rest: Buffer | undefined, lease: Lease): void {
    if (rest === undefined || this.#ended) lease.release()
    else if (rest.length < sparseShare * lease.bytes.length) {
      this.#hold(rest)
      lease.release()
    } else {
      this.#held = rest
      this.#heldLease = lease
    }
  }
}
