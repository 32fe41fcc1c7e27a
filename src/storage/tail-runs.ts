import { assert } from '../base/assert.ts'

/** Whole batches of one segment that lie together in a chunk of the tail ring. */
export interface TailRun {
  readonly baseOffset: number
  readonly endOffset: number
  readonly segmentBaseOffset: number
  /** Where the first of them begins in the segment's file. */
  readonly position: number
  readonly chunkId: number
  /** Where it begins in the chunk. */
  readonly start: number
  readonly length: number
}

const fields = ['baseOffset', 'endOffset', 'segmentBaseOffset', 'position', 'chunkId', 'start', 'length'] as const
const columnOf = Object.fromEntries(fields.map((field, index) => [field, index])) as Record<keyof TailRun, number>
const initialCapacity = 8

/**
 * Runs in the order of their offsets, as numbers in one array that goes round: a batch of its own is a run, and as objects,
 * which live for some seconds, they would bring on full collections.
 */
export class TailRuns {
  #numbers = new Float64Array(initialCapacity * fields.length)
  #capacity = initialCapacity
  #head = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  /** How many there is memory for. */
  get capacity(): number {
    return this.#capacity
  }

  get(index: number, field: keyof TailRun): number {
    return this.#numbers[this.#slot(index) + columnOf[field]]
  }

  at(index: number): TailRun {
    const slot = this.#slot(index)
    return {
      baseOffset: this.#numbers[slot],
      endOffset: this.#numbers[slot + 1],
      segmentBaseOffset: this.#numbers[slot + 2],
      position: this.#numbers[slot + 3],
      chunkId: this.#numbers[slot + 4],
      start: this.#numbers[slot + 5],
      length: this.#numbers[slot + 6],
    }
  }

  push(run: TailRun): void {
    if (this.#length === this.#capacity) this.#resize(2 * this.#capacity)
    this.#length++
    const slot = this.#slot(this.#length - 1)
    this.#numbers[slot] = run.baseOffset
    this.#numbers[slot + 1] = run.endOffset
    this.#numbers[slot + 2] = run.segmentBaseOffset
    this.#numbers[slot + 3] = run.position
    this.#numbers[slot + 4] = run.chunkId
    this.#numbers[slot + 5] = run.start
    this.#numbers[slot + 6] = run.length
  }

  /** The last run goes on. */
  extendLast(endOffset: number, addedBytes: number): void {
    const slot = this.#slot(this.#length - 1)
    this.#numbers[slot + columnOf.endOffset] = endOffset
    this.#numbers[slot + columnOf.length] += addedBytes
  }

  /** Answers the bytes that go. */
  dropFirst(): number {
    const bytes = this.get(0, 'length')
    this.#head = (this.#head + 1) % this.#capacity
    this.#length--
    this.#giveBack()
    return bytes
  }

  /** Answers the bytes that go. */
  dropLast(): number {
    const bytes = this.get(this.#length - 1, 'length')
    this.#length--
    this.#giveBack()
    return bytes
  }

  clear(): void {
    this.#length = 0
    this.#resize(initialCapacity)
  }

  /** The last run that begins at or below the offset; -1 when there is none. */
  floor(offset: number): number {
    let low = 0
    let high = this.#length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.get(middle, 'baseOffset') <= offset) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  #slot(index: number): number {
    assert(index >= 0 && index < this.#length, 'a run that is asked for is there')
    return ((this.#head + index) % this.#capacity) * fields.length
  }

  /** There are as many of these as there are partitions, and each was busy once. */
  #giveBack(): void {
    if (this.#capacity > initialCapacity && this.#length * 4 <= this.#capacity) this.#resize(this.#capacity / 2)
  }

  #resize(capacity: number): void {
    const runs = Array.from({ length: this.#length }, (_, index) => this.at(index))
    this.#capacity = capacity
    this.#numbers = new Float64Array(this.#capacity * fields.length)
    this.#head = 0
    this.#length = 0
    for (const run of runs) this.push(run)
  }
}
