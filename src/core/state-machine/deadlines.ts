import { assert } from '../../base/assert.ts'

/** One thing that may fall due. Made once, set and cleared any number of times by one `Deadlines`. */
export class Deadline<T> {
  readonly subject: T
  /** When it falls due, in monotonic time; undefined while it is not set. */
  atMs: number | undefined
  /** The key under which it lies in the heap: at most `atMs`. Undefined while it is not in the heap. */
  heapMs: number | undefined

  constructor(subject: T) {
    this.subject = subject
    this.atMs = undefined
    this.heapMs = undefined
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
    if (deadline.heapMs !== undefined && deadline.atMs === undefined) this.#clearedCount--
    deadline.atMs = atMs
    if (deadline.heapMs === undefined) {
      deadline.heapMs = atMs
      this.#heap.push(deadline)
      this.#siftUp(this.#heap.length - 1)
    } else if (atMs < deadline.heapMs) {
      deadline.heapMs = atMs
      // Rare (a session timeout that was shortened), so the search is affordable.
      this.#siftUp(this.#heap.indexOf(deadline))
    }
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
      } else if (top.atMs > top.heapMs!) {
        top.heapMs = top.atMs
        this.#siftDown(0)
      } else {
        return top
      }
    }
  }

  #removeTop(): void {
    const top = this.#heap[0]
    top.heapMs = undefined
    const last = this.#heap.pop()!
    if (last === top) return
    this.#heap[0] = last
    this.#siftDown(0)
  }

  #rebuild(): void {
    const kept = this.#heap.filter(deadline => deadline.atMs !== undefined)
    for (const deadline of this.#heap) deadline.heapMs = deadline.atMs
    this.#heap.length = 0
    for (const deadline of kept) this.#heap.push(deadline)
    this.#clearedCount = 0
    for (let i = (kept.length >> 1) - 1; i >= 0; i--) this.#siftDown(i)
  }

  #siftUp(from: number): void {
    assert(from >= 0, 'the deadline is in the heap')
    const heap = this.#heap
    const moving = heap[from]
    let i = from
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (heap[parent].heapMs! <= moving.heapMs!) break
      heap[i] = heap[parent]
      i = parent
    }
    heap[i] = moving
  }

  #siftDown(from: number): void {
    const heap = this.#heap
    const moving = heap[from]
    let i = from
    for (;;) {
      let child = 2 * i + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && heap[child + 1].heapMs! < heap[child].heapMs!) child++
      if (heap[child].heapMs! >= moving.heapMs!) break
      heap[i] = heap[child]
      i = child
    }
    heap[i] = moving
  }
}
