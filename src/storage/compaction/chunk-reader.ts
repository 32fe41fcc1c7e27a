import type { LogState } from '../log-state.ts'
import type { Segment } from '../segment.ts'

/** Batches of one segment as they lie in its file, from the beginning of one on. */
export interface Chunk {
  /** Alone in its memory. */
  readonly batches: Buffer
  readonly position: number
  /** How many bytes of the segment follow. */
  readonly followingBytes: number
}

/** Reads segments in chunks, into memory that goes round. */
export class ChunkReader {
  readonly #state: LogState
  #memory: Buffer | undefined

  constructor(state: LogState) {
    this.#state = state
  }

  /**
   * As many bytes as are wanted, or as there are. Undefined when the file is shorter than it should be. Rejects with
   * `DiskError`.
   */
  async read(segment: Segment, position: number, wantedBytes: number): Promise<Chunk | undefined> {
    const { openFiles, traffic } = this.#state.context
    const length = Math.min(wantedBytes, segment.sizeBytes - position)
    const memory = this.#take(wantedBytes)
    const file = openFiles.use(segment)
    file.retain()
    try {
      const count = await file.readInto(position, memory.subarray(0, length))
      traffic.add(segment, count)
      if (count < length) return undefined
      return {
        batches: memory.subarray(0, length),
        position,
        followingBytes: segment.sizeBytes - position - length,
      }
    } finally {
      file.release()
    }
  }

  /** The chunk's memory is free again. */
  giveBack(batches: Buffer): void {
    this.#memory = wholeMemory(batches)
  }

  /** A batch that is larger than others makes the memory larger for a while only. */
  #take(byteLength: number): Buffer {
    const memory = this.#memory
    this.#memory = undefined
    return memory?.length === byteLength ? memory : Buffer.allocUnsafeSlow(byteLength)
  }
}

/** All of the memory that a Buffer is a view of. */
export function wholeMemory(view: Buffer): Buffer {
  return Buffer.from(view.buffer as ArrayBuffer)
}
