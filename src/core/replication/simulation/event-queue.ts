interface Scheduled {
  readonly atMs: number
  readonly order: number
  readonly run: () => void
}

/** Virtual time: a heap of things to run, in order of time and then of scheduling. */
export class EventQueue {
  nowMs = 0
  handled = 0
  readonly #heap: Scheduled[] = []
  #order = 0

  schedule(delayMs: number, run: () => void): void {
    const heap = this.#heap
    const item = { atMs: this.nowMs + delayMs, order: this.#order++, run }
    let at = heap.push(item) - 1
    while (at > 0) {
      const parent = (at - 1) >>> 1
      if (!isBefore(item, heap[parent])) break
      heap[at] = heap[parent]
      at = parent
    }
    heap[at] = item
  }

  runUntil(timeMs: number): void {
    while (this.#heap.length > 0 && this.#heap[0].atMs <= timeMs) {
      const next = this.#take()
      this.nowMs = Math.max(this.nowMs, next.atMs)
      this.handled++
      next.run()
    }
    this.nowMs = Math.max(this.nowMs, timeMs)
  }

  #take(): Scheduled {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()!
    if (heap.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child++
      if (!isBefore(heap[child], last)) break
      heap[at] = heap[child]
      at = child
    }
    heap[at] = last
    return first
  }
}

function isBefore(a: Scheduled, b: Scheduled): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}
