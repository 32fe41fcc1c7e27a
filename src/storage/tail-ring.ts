import { assert } from '../base/assert.ts'

/** Bytes of one partition in a chunk: numbers, so that who keeps them does not keep the chunk alive. */
export interface RingSlice {
  readonly chunkId: number
  readonly start: number
}

/** Told when a chunk is dropped. */
export interface RingUser {
  /** True when bytes that were copied into it have not been written yet: then its memory is not used again. */
  chunkDropped(chunkId: number): boolean
}

interface Chunk {
  readonly id: number
  readonly bytes: Buffer
  used: number
  readonly users: Set<RingUser>
}

const chunkBytes = 256 * 1024

/**
 * The newest small appends of all partitions of a broker, in memory: chunks that are filled one after the other and dropped
 * in the order in which they began. The memory of the one that is dropped serves the next: left to the garbage collector,
 * all that is produced would bring on a full collection every few seconds. So nobody keeps a view of a chunk but who still
 * has to write it.
 */
export class TailRing {
  readonly #maxBytes: number
  /** In the order of their ids. */
  readonly #chunks: Chunk[] = []
  #nextId = 0

  constructor(maxBytes: number) {
    assert(maxBytes >= 2 * chunkBytes, 'the tail ring has at least two chunks')
    this.#maxBytes = maxBytes
  }

  get sizeBytes(): number {
    return this.#chunks.length * chunkBytes
  }

  /** Copies bytes, at most a chunk, and answers where they are. */
  copy(bytes: Buffer, user: RingUser): RingSlice {
    assert(bytes.length <= chunkBytes, 'what goes into the ring fits a chunk')
    let chunk = this.#chunks.at(-1)
    if (chunk === undefined || chunk.used + bytes.length > chunkBytes) chunk = this.#begin()
    const start = chunk.used
    bytes.copy(chunk.bytes, start)
    chunk.used += bytes.length
    chunk.users.add(user)
    return { chunkId: chunk.id, start }
  }

  /** The bytes of a chunk; undefined when it has been dropped. */
  chunk(id: number): Buffer | undefined {
    const first = this.#chunks[0]?.id ?? 0
    return this.#chunks[id - first]?.bytes
  }

  #begin(): Chunk {
    const isFull = this.sizeBytes + chunkBytes > this.#maxBytes
    const bytes = (isFull ? this.#dropOldest() : undefined) ?? Buffer.allocUnsafeSlow(chunkBytes)
    const chunk = { id: this.#nextId++, bytes, used: 0, users: new Set<RingUser>() }
    this.#chunks.push(chunk)
    return chunk
  }

  /** The memory of the oldest chunk, if nobody needs it any more. */
  #dropOldest(): Buffer | undefined {
    const { id, bytes, users } = this.#chunks.shift()!
    let isNeeded = false
    for (const user of users) if (user.chunkDropped(id)) isNeeded = true
    return isNeeded ? undefined : bytes
  }
}
