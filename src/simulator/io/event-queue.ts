/** Something that will happen at a time. */
export interface Event {
  readonly timeUs: number
  /** Decides between events of one time: drawn by seed, so that nothing can rely on an order nobody promised. */
  readonly tie: number
  readonly sequence: number
}

/** The events to come, the earliest first: a binary heap. */
export class EventQueue<E extends Event> {
  readonly #heap: E[] = []

  get length(): number {
    return this.#heap.length
  }

  peek(): E | undefined {
    return this.#heap[0]
  }

  push(event: E): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(event)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(event, heap[parent] as E)) break
      heap[at] = heap[parent] as E
      at = parent
    }
    heap[at] = event
  }

  pop(): E | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1] as E, heap[child] as E)) child++
      if (!isBefore(heap[child] as E, last)) break
      heap[at] = heap[child] as E
      at = child
    }
    heap[at] = last
    return first
  }
}

function isBefore(left: Event, right: Event): boolean {
  if (left.timeUs !== right.timeUs) return left.timeUs < right.timeUs
  if (left.tie !== right.tie) return left.tie < right.tie
  return left.sequence < right.sequence
}
