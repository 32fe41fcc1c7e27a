import { assert } from '../../base/assert.ts'

/** One thing that may fall due. Made once, set and cleared any number of times by one `Deadlines`. */
export class Deadline<T> {
  readonly subject: T
  /** When it falls due, in monotonic time; undefined while it is not set. */
  atMs: number | undefined
  /** Where it lies in the heap; -1 while it does not. */
  heapIndex = -1
  /** The key under which it lies there: at most `atMs`. */
  heapMs = 0

  constructor(subject: T) {
    this.subject = subject
    this.atMs = undefined
  }
}

/**
 * Many deadlines of which the earliest is wanted. Most are pushed back again and again before they fall due (a session that
 * each heartbeat renews), so pushing one back costs nothing: the heap keeps the old, earlier key, and the deadline moves
 * down only when it comes to the top. What `earliest` tidies up on the way is representation, not state.
 */
export class Deadlines<T> {
  readonly #heap: Deadline<T>[] = []
  /** Deadlines in the heap that were cleared. */
  #clearedCount = 0

  set(deadline: Deadline<T>, atMs: number): void {
    const isInHeap = deadline.heapIndex !== -1
    if (isInHeap && deadline.atMs === undefined) this.#clearedCount--
    deadline.atMs = atMs
    if (isInHeap && atMs >= deadline.heapMs) return
    deadline.heapMs = atMs
    if (!isInHeap) deadline.heapIndex = this.#heap.push(deadline) - 1
    this.#siftUp(deadline.heapIndex)
  }

  clear(deadline: Deadline<T>): void {
    if (deadline.atMs === undefined) return
    deadline.atMs = undefined
    this.#clearedCount++
    if (this.#clearedCount > 64 && this.#clearedCount * 2 > this.#heap.length) this.#rebuild()
  }

  /** The deadline that falls due first, without removing it. */
  earliest(): Deadline<T> | undefined {
    for (;;) {
      const top = this.#heap[0]
      if (top === undefined) return undefined
      if (top.atMs === undefined) {
        this.#clearedCount--
        this.#removeTop()
      } else if (top.atMs > top.heapMs) {
        top.heapMs = top.atMs
        this.#siftDown(0)
      } else {
        return top
      }
    }
  }

  #removeTop(): void {
    const top = this.#heap[0]
    top.heapIndex = -1
    const last = this.#heap.pop()!
    if (last === top) return
    this.#place(last, 0)
    this.#siftDown(0)
  }

  /** Without those that were cleared. */
  #rebuild(): void {
    const kept = this.#heap.filter(deadline => deadline.atMs !== undefined)
    for (const deadline of this.#heap) deadline.heapIndex = -1
    this.#heap.length = 0
    this.#clearedCount = 0
    for (const deadline of kept) this.set(deadline, deadline.atMs!)
  }

  #siftUp(from: number): void {
    const moving = this.#heap[from]
    assert(moving !== undefined, 'the deadline is in the heap')
    let i = from
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (this.#heap[parent].heapMs <= moving.heapMs) break
      this.#place(this.#heap[parent], i)
      i = parent
    }
    this.#place(moving, i)
  }

  #siftDown(from: number): void {
    const heap = this.#heap
    const moving = heap[from]
    let i = from
    for (;;) {
      let child = 2 * i + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && heap[child + 1].heapMs < heap[child].heapMs) child++
      if (heap[child].heapMs >= moving.heapMs) break
      this.#place(heap[child], i)
      i = child
    }
    this.#place(moving, i)
  }

  #place(deadline: Deadline<T>, at: number): void {
    this.#heap[at] = deadline
    deadline.heapIndex = at
  }
}
