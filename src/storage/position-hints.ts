import type { LogPosition, SegmentList } from './segment-list.ts'

const maxHints = 16

/** Where some offsets are: ends of writes and of reads, so that who goes on from there needs no index. */
export class PositionHints {
  readonly #positions: LogPosition[] = []
  #next = 0

  add(position: LogPosition): void {
    if (this.get(position.offset) !== undefined) return
    this.#positions[this.#next] = position
    this.#next = (this.#next + 1) % maxHints
  }

  get(offset: number): LogPosition | undefined {
    for (const position of this.#positions) if (position.offset === offset) return position
    return undefined
  }

  /** Something was cut or removed: keeps what still holds. */
  keepOnly(segments: SegmentList, endOffset: number): void {
    const kept = this.#positions.filter(({ offset, segment }) => offset <= endOffset && segments.includes(segment))
    this.#positions.length = 0
    this.#positions.push(...kept)
    this.#next = kept.length % maxHints
  }
}
