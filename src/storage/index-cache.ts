import type { Segment } from './segment.ts'

/** Bounds the memory of the indexes of inactive segments: those used longest ago go first. */
export class IndexCache {
  readonly #maxBytes: number
  /** In the order of their last use, oldest first, with the size that is counted for each. */
  readonly #segments = new Map<Segment, number>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get sizeBytes(): number {
    return this.#bytes
  }

  /** The segment has its indexes in memory and has just used them. */
  touch(segment: Segment): void {
    const size = this.#segments.get(segment) ?? segment.indexes?.sizeBytes ?? 0
    if (!this.#segments.delete(segment)) this.#bytes += size
    this.#segments.set(segment, size)
    if (this.#bytes > this.#maxBytes) this.#evict(segment)
  }

  /** The segment is gone, or is the active one again. */
  forget(segment: Segment): void {
    this.#bytes -= this.#segments.get(segment) ?? 0
    this.#segments.delete(segment)
  }

  #evict(newest: Segment): void {
    for (const segment of this.#segments.keys()) {
      if (this.#bytes <= this.#maxBytes || segment === newest) return
      this.forget(segment)
      segment.indexes = undefined
    }
  }
}
