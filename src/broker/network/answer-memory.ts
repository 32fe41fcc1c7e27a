import { assert } from '../../base/assert.ts'
import type { FileRange } from '../../io/disk.ts'
import { type ChunkSource, Writer } from '../../protocol/writer.ts'
import { freeBytes } from '../../records/compression/free-bytes.ts'
import type { MemoryBudget } from '../memory-budget.ts'

/** The part of the budget that unsent answers may take: requests that arrive have the rest. */
const shareOfAnswers = 0.5
/** So much may wait to be sent whatever else is held, or at most an eighth of the budget. */
const maxFloorBytes = 8 * 1024 * 1024

/** Memory in which answers lie, one behind the other. */
interface Chunk {
  readonly bytes: Buffer
  /** Answers in it that are not sent. */
  unsentCount: number
  /** The writer has gone on to another. */
  isLeft: boolean
}

/** What one answer keeps in memory until it is sent. */
export interface AnswerHold {
  readonly chunk: Chunk
  /** Its bytes in the chunk: those that were encoded. */
  readonly encodedBytes: number
  /** Its bytes elsewhere in memory. A range of a file costs none. */
  readonly otherBytes: number
  /** Those that were made for it alone. */
  readonly own: readonly Buffer[]
}

const none: readonly Buffer[] = []

/**
 * Where all answers of a broker are written, and what those that are not sent keep in memory. A chunk counts whole while one
 * answer in it is unsent, since that is what it costs, and its memory is used again: left to the garbage collector,
 * answers that nobody reads came to several times of what they are.
 */
export class AnswerMemory implements ChunkSource {
  readonly writer: Writer
  readonly #budget: MemoryBudget
  readonly #roomAgain: () => void
  #chunk: Chunk | undefined
  #leftChunk: Chunk | undefined
  #heldBytes = 0
  #otherBytes = 0
  /** Somebody was told that memory is short, or even used up. */
  #wasShort = false
  #wasUsedUp = false

  /** `roomAgain` is called when answers may be worked on again after `isShort` or `isUsedUp` was asked, and was true. */
  constructor(budget: MemoryBudget, roomAgain: () => void) {
    this.#budget = budget
    this.#roomAgain = roomAgain
    this.writer = new Writer({ chunks: this })
  }

  /** Of all unsent answers together, but for what lies in the chunk that is being written to. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  get shareBytes(): number {
    return shareOfAnswers * this.#budget.capacityBytes
  }

  get #floorBytes(): number {
    return Math.min(this.#budget.capacityBytes / 8, maxFloorBytes)
  }

  /** No large answer is to be made now. */
  get isShort(): boolean {
    const { usedBytes, capacityBytes } = this.#budget
    const isShort =
      this.#heldBytes >= this.shareBytes || (usedBytes >= capacityBytes && this.#heldBytes >= this.#floorBytes)
    this.#wasShort ||= isShort
    return isShort
  }

  /**
   * Not even for clients that read what they are answered: they have some of what may be held beyond the budget, and while others
   * have used that up with what they send, half as much again as the others.
   */
  get isUsedUp(): boolean {
    const { overdraftBytes, isOverdrawn } = this.#budget
    const isUsedUp = this.#heldBytes >= (isOverdrawn ? 1.5 * this.#floorBytes : this.shareBytes + overdraftBytes / 2)
    this.#wasUsedUp ||= isUsedUp
    return isUsedUp
  }

  /** What was copied for answers and not sent comes to so much that what can be sent from a file had better be. */
  get sparesMemory(): boolean {
    return this.#otherBytes >= this.#floorBytes
  }

  /** More is held than small answers may add to what large ones take. */
  get isOverdrawn(): boolean {
    return this.#heldBytes > this.shareBytes + this.#budget.overdraftBytes
  }

  take(bytes: number): Buffer {
    this.#leftChunk = this.#chunk
    this.#chunk = { bytes: this.#budget.takeSlab(bytes), unsentCount: 0, isLeft: false }
    return this.#chunk.bytes
  }

  left(): void {
    const chunk = this.#leftChunk
    assert(chunk !== undefined, 'a writer leaves a chunk for another')
    this.#leftChunk = undefined
    chunk.isLeft = true
    if (chunk.unsentCount === 0) this.#budget.giveSlab(chunk.bytes)
    else this.#count(chunk.bytes.length)
  }

  /**
   * The answer that the writer has finished last. It is released once. `isOwner`: what it has in memory beside the chunk nobody
   * else will ever use, and it is freed then.
   */
  hold(parts: readonly (Buffer | FileRange)[], isOwner = false): AnswerHold {
    const chunk = this.#chunk!
    let encodedBytes = 0
    let otherBytes = 0
    let own: Buffer[] | undefined
    for (const part of parts) {
      if (!Buffer.isBuffer(part)) continue
      if (part.buffer === chunk.bytes.buffer) encodedBytes += part.length
      else {
        otherBytes += part.length
        if (isOwner) {
          own ??= []
          own.push(part)
        }
      }
    }
    chunk.unsentCount++
    this.#otherBytes += otherBytes
    if (otherBytes > 0) this.#count(otherBytes)
    return { chunk, encodedBytes, otherBytes, own: own ?? none }
  }

  /** The answer was sent, or never will be: nobody reads its bytes any more. */
  release({ chunk, otherBytes, own }: AnswerHold): void {
    assert(chunk.unsentCount > 0, 'an answer is released once')
    for (const bytes of own) freeBytes(bytes)
    chunk.unsentCount--
    this.#otherBytes -= otherBytes
    let freedBytes = otherBytes
    if (chunk.isLeft && chunk.unsentCount === 0) {
      freedBytes += chunk.bytes.length
      this.#budget.giveSlab(chunk.bytes)
    }
    if (freedBytes === 0) return
    this.#heldBytes -= freedBytes
    this.#budget.letGo(freedBytes)
    this.lookForRoom()
  }

  /** Calls `roomAgain` if it is time: what others hold in the budget counts too, and may have become less. */
  lookForRoom(): void {
    const isForReaders = this.#wasUsedUp && !this.isUsedUp
    const isForAll = this.#wasShort && !this.isShort
    if (isForReaders) this.#wasUsedUp = false
    if (isForAll) this.#wasShort = false
    if (isForReaders || isForAll) this.#roomAgain()
  }

  #count(bytes: number): void {
    this.#heldBytes += bytes
    this.#budget.hold(bytes)
  }
}
