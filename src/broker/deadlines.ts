import type { Clock, Timer } from '../io/clock.ts'

/** Something that is due at a moment of monotonic time, unless it is cancelled before. */
export interface Deadline {
  readonly atMs: number
  cancel(): void
}

class Entry implements Deadline {
  readonly atMs: number
  expired: (() => void) | undefined
  readonly #cancelled: () => void

  constructor(atMs: number, expired: () => void, cancelled: () => void) {
    this.atMs = atMs
    this.expired = expired
    this.#cancelled = cancelled
  }

  cancel(): void {
    if (this.expired === undefined) return
    this.expired = undefined
    this.#cancelled()
  }
}

/**
 * Many deadlines on one timer: a binary heap. Cancelling is cheap; cancelled entries are swept out when they are due or
 * when they are more than half of the heap.
 */
export class Deadlines {
  readonly #clock: Clock
  #heap: Entry[] = []
  #cancelledCount = 0
  #timer: Timer | undefined
  #timerAtMs = Number.POSITIVE_INFINITY
  #closed = false
  readonly #cancelled = () => {
    this.#cancelledCount++
    if (this.#cancelledCount > 64 && this.#cancelledCount * 2 > this.#heap.length) this.#sweep()
  }

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Deadlines that have neither passed nor been cancelled. */
  get size(): number {
    return this.#heap.length - this.#cancelledCount
  }

  /** `expired` runs once, in a later turn, at or after `atMs`. */
  add(atMs: number, expired: () => void): Deadline {
    const entry = new Entry(atMs, expired, this.#cancelled)
    this.#heap.push(entry)
    this.#siftUp(this.#heap.length - 1)
    this.#arm()
    return entry
  }

  /** Nothing runs any more. */
  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#heap = []
    this.#cancelledCount = 0
  }

  #arm(): void {
    if (this.#closed || this.#heap.length === 0) return
    const atMs = this.#heap[0].atMs
    if (this.#timer !== undefined && this.#timerAtMs <= atMs) return
    this.#timer?.cancel()
    this.#timerAtMs = atMs
    this.#timer = this.#clock.after(Math.max(0, atMs - this.#clock.now().monotonicMs), () => this.#run())
  }

  #run(): void {
    this.#timer = undefined
    this.#timerAtMs = Number.POSITIVE_INFINITY
    const nowMs = this.#clock.now().monotonicMs
    while (this.#heap.length > 0 && this.#heap[0].atMs <= nowMs) {
      const entry = this.#pop()
      const { expired } = entry
      entry.expired = undefined
      if (expired === undefined) this.#cancelledCount--
      else expired()
    }
    this.#arm()
  }

  #sweep(): void {
    const live = this.#heap.filter(entry => entry.expired !== undefined)
    live.sort((a, b) => a.atMs - b.atMs)
    this.#heap = live
    this.#cancelledCount = 0
  }

  #pop(): Entry {
    const first = this.#heap[0]
    const last = this.#heap.pop()!
    if (this.#heap.length > 0) {
      this.#heap[0] = last
      this.#siftDown()
    }
    return first
  }

  #siftUp(start: number): void {
    const heap = this.#heap
    let index = start
    const entry = heap[index]
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (heap[parent].atMs <= entry.atMs) break
      heap[index] = heap[parent]
      index = parent
    }
    heap[index] = entry
  }

  #siftDown(): void {
    const heap = this.#heap
    const entry = heap[0]
    let index = 0
    for (;;) {
      let child = index * 2 + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && heap[child + 1].atMs < heap[child].atMs) child++
      if (heap[child].atMs >= entry.atMs) break
      heap[index] = heap[child]
      index = child
    }
    heap[index] = entry
  }
}
