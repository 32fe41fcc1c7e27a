import type { BlockReader } from './block-reader.ts'
import { corruptInput, type DecompressFailure } from './decompressed.ts'
import { packSnappyBlock, snappyBlockOutput, unpackSnappyBlock } from './snappy-block.ts'

/**
 * Snappy as Kafka's clients send it: in the framing of xerial's library, which Java writes (a magic, a version and the
 * oldest version that can read it, then blocks with an int32 length before each, big-endian), or as one bare block, which
 * the others send. Java does not look at the versions, so neither do we.
 */
const magic = Buffer.from('82534e4150505900', 'hex')
const frameHeaderBytes = 16
const version = 1
const writtenBlockBytes = 32_768

export class SnappyReader implements BlockReader {
  readonly #bytes: Buffer
  readonly #isFramed: boolean
  #position: number
  #failure: DecompressFailure | undefined

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#isFramed = bytes.length >= frameHeaderBytes && bytes.compare(magic, 0, magic.length, 0, magic.length) === 0
    this.#position = this.#isFramed ? frameHeaderBytes : 0
    if (bytes.length === 0) this.#fail(corruptInput('no snappy data'))
  }

  get failure(): DecompressFailure | undefined {
    return this.#failure
  }

  next(maxBytes: number): Buffer | undefined {
    const bytes = this.#bytes
    let start = this.#position
    let end = bytes.length
    if (this.#failure !== undefined || start === end) return undefined
    if (this.#isFramed) {
      if (end - start < 4) return this.#fail(corruptInput('the snappy framing is cut off'))
      const length = bytes.readInt32BE(start)
      start += 4
      if (length < 0 || length > end - start) return this.#fail(corruptInput('the snappy framing is cut off'))
      end = start + length
    }
    this.#position = end
    return this.#block(start, end, maxBytes)
  }

  #block(start: number, end: number, maxBytes: number): Buffer | undefined {
    const outputBytes = snappyBlockOutput(this.#bytes, start, end)
    if (outputBytes === undefined) return this.#fail(corruptInput('a snappy block is corrupt'))
    if (outputBytes > maxBytes) return this.#fail({ type: 'tooLarge' })
    return unpackSnappyBlock(this.#bytes, start, end) ?? this.#fail(corruptInput('a snappy block is corrupt'))
  }

  #fail(failure: DecompressFailure): undefined {
    this.#failure = failure
  }
}

/** In xerial's framing, blocks of 32 KiB, as Kafka's producer writes it. Snappy has no levels. */
export function packSnappy(bytes: Buffer): Buffer {
  const header = Buffer.alloc(frameHeaderBytes)
  magic.copy(header)
  header.writeInt32BE(version, 8)
  header.writeInt32BE(version, 12)
  const parts: Buffer[] = [header]
  for (let start = 0; start < bytes.length; start += writtenBlockBytes) {
    const packed = packSnappyBlock(bytes.subarray(start, start + writtenBlockBytes))
    const length = Buffer.alloc(4)
    length.writeInt32BE(packed.length, 0)
    parts.push(length, packed)
  }
  return Buffer.concat(parts)
}
