import {
  batchPrefixBytes,
  batchSizeAt,
  corrupt,
  isCrcValid,
  magicPosition,
  readBaseOffset,
  readLastOffset,
  readLastOffsetDelta,
  readMagic,
  readRecordCount,
} from '../batch.ts'
import { isLegacyCrcValid } from '../legacy.ts'
import type { OffsetRange } from './contract.ts'

const anyOffset: OffsetRange = { from: 0, to: Number.POSITIVE_INFINITY }
const impossibleHeader = 'its header cannot be one of a batch'

/** Goes from one batch of a chunk to the next, checking that each is whole and as it was written. */
export class ChunkWalk {
  readonly #bytes: Buffer
  readonly #followingBytes: number
  #at = 0
  #sizeBytes = 0
  readonly #endOffset: number
  #lastOffset: number
  #damage: string | undefined

  constructor(bytes: Buffer, followingBytes: number, { from, to }: OffsetRange = anyOffset) {
    this.#lastOffset = from - 1
    this.#endOffset = to
    this.#bytes = bytes
    this.#followingBytes = followingBytes
  }

  /** Where the batch lies that `next` came to; after its last answer, where what is left begins. */
  get at(): number {
    return this.#at
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Of magic 2; entries of older formats are whole otherwise. */
  get isBatch(): boolean {
    return readMagic(this.#bytes, this.#at) === 2
  }

  get lastOffset(): number {
    return this.#lastOffset
  }

  /** Why the batch at `at` cannot be read. */
  get damage(): string | undefined {
    return this.#damage
  }

  /** At least how long what begins at `at` has to be. */
  get neededBytes(): number {
    const left = this.#bytes.length - this.#at
    if (left < batchPrefixBytes) return magicPosition + 1
    return Math.max(magicPosition + 1, batchPrefixBytes + this.#bytes.readInt32BE(this.#at + 8))
  }

  /** Goes to the next batch. False when no whole one is left, or it is damaged. */
  next(): boolean {
    this.#at += this.#sizeBytes
    this.#sizeBytes = 0
    const bytes = this.#bytes
    const at = this.#at
    const size = batchSizeAt(bytes, at)
    if (size === corrupt) return this.#fail(impossibleHeader)
    if (size <= 0) return this.#end()
    const isBatch = readMagic(bytes, at) === 2
    if (!(isBatch ? isCrcValid(bytes, at, size) : isLegacyCrcValid(bytes, at, size)))
      return this.#fail('its CRC is wrong')
    if (isBatch && (readRecordCount(bytes, at) < 0 || readLastOffsetDelta(bytes, at) < 0))
      return this.#fail(impossibleHeader)
    const lastOffset = isBatch ? readLastOffset(bytes, at) : readBaseOffset(bytes, at)
    // The CRC does not cover the base offset.
    if (lastOffset === Number.POSITIVE_INFINITY || readBaseOffset(bytes, at) <= this.#lastOffset) {
      return this.#fail('its offset is not above those before it')
    }
    if (lastOffset >= this.#endOffset) return this.#fail('its offset is beyond its segment')
    this.#lastOffset = lastOffset
    this.#sizeBytes = size
    return true
  }

  /** What is left may be the beginning of a batch, whose end is in the bytes that follow. */
  #end(): false {
    const left = this.#bytes.length - this.#at
    if (left > 0 && this.neededBytes > left + this.#followingBytes)
      this.#fail('it is cut off at the end of the segment')
    return false
  }

  #fail(reason: string): false {
    this.#damage = reason
    return false
  }
}
