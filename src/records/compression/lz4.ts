import type { BlockReader } from './block-reader.ts'
import { corruptInput, type DecompressFailure } from './decompressed.ts'
import { packLz4Block, unpackLz4Block } from './lz4-block.ts'
import { xxh32 } from './xxh32.ts'

/**
 * LZ4 frames as Kafka uses them: independent blocks of 64 KiB to 4 MiB. Laid out as magic 4, flags, block descriptor,
 * [content size 8], header checksum; then blocks of a length (its highest bit: the block is stored as it is) with
 * [block checksum 4]; then a length of 0 and [content checksum 4]. All integers are little-endian.
 */
const magic = 0x184d2204
const versionBits = 0x40
const independentBit = 0x20
const blockChecksumBit = 0x10
const contentSizeBit = 0x08
const contentChecksumBit = 0x04
const storedBit = 0x8000_0000
const writtenBlockBytes = 65_536
const shortestFrameBytes = 11

/** As Kafka's reader, ignores what follows the end of the frame, and refuses blocks that depend on earlier ones. */
export class Lz4FrameReader implements BlockReader {
  readonly #bytes: Buffer
  readonly #maxBlockBytes: number
  readonly #hasBlockChecksum: boolean
  readonly #hasContentChecksum: boolean
  #position: number
  #isAtEnd = false
  #failure: DecompressFailure | undefined

  /**
   * `hashesMagic`: the frame is in a message of magic 0, whose writers computed the header checksum over the frame's magic
   * too; it is then not checked.
   */
  constructor(bytes: Buffer, { hashesMagic = false } = {}) {
    this.#bytes = bytes
    const flags = bytes.length < shortestFrameBytes ? 0 : bytes[4]
    const blockSizeCode = bytes.length < shortestFrameBytes ? 0 : bytes[5] >>> 4
    this.#maxBlockBytes = 1 << (8 + 2 * blockSizeCode)
    this.#hasBlockChecksum = (flags & blockChecksumBit) !== 0
    this.#hasContentChecksum = (flags & contentChecksumBit) !== 0
    this.#position = 7 + (flags & contentSizeBit ? 8 : 0)
    const reason = wrongHeader(bytes, this.#position, hashesMagic)
    if (reason !== undefined) this.#fail(corruptInput(reason))
  }

  get failure(): DecompressFailure | undefined {
    return this.#failure
  }

  next(maxBytes: number): Buffer | undefined {
    if (this.#isAtEnd) return undefined
    const bytes = this.#bytes
    const start = this.#position + 4
    if (start > bytes.length) return this.#fail(corruptInput('the lz4 frame is cut off'))
    const word = bytes.readUInt32LE(this.#position)
    const isStored = word >= storedBit
    const length = isStored ? word - storedBit : word
    if (length === 0) return this.#end(start)
    const end = start + length
    if (length > this.#maxBlockBytes) return this.#fail(corruptInput('an lz4 block is larger than its frame allows'))
    this.#position = end + (this.#hasBlockChecksum ? 4 : 0)
    if (this.#position > bytes.length) return this.#fail(corruptInput('the lz4 frame is cut off'))
    if (this.#hasBlockChecksum && xxh32(bytes, start, end) !== bytes.readUInt32LE(end)) {
      return this.#fail(corruptInput('the checksum of an lz4 block is wrong'))
    }
    return this.#block(isStored, start, end, maxBytes)
  }

  #block(isStored: boolean, start: number, end: number, maxBytes: number): Buffer | undefined {
    if (isStored && end - start > maxBytes) return this.#fail({ type: 'tooLarge' })
    const room = Math.min(this.#maxBlockBytes, maxBytes)
    const block = isStored ? this.#bytes.subarray(start, end) : unpackLz4Block(this.#bytes, start, end, room)
    if (block === undefined) {
      // The library does not say whether it failed for want of room.
      const hasAllRoom =
        room === this.#maxBlockBytes || unpackLz4Block(this.#bytes, start, end, this.#maxBlockBytes) === undefined
      return this.#fail(hasAllRoom ? corruptInput('an lz4 block is corrupt') : { type: 'tooLarge' })
    }
    return block
  }

  #end(position: number): undefined {
    this.#isAtEnd = true
    // Kafka's reader skips the checksum over the whole content, and so do we: the batch has one of its own.
    const hasRoom = position + (this.#hasContentChecksum ? 4 : 0) <= this.#bytes.length
    if (!hasRoom) return this.#fail(corruptInput('the lz4 frame is cut off'))
  }

  #fail(failure: DecompressFailure): undefined {
    this.#isAtEnd = true
    this.#failure = failure
  }
}

function wrongHeader(bytes: Buffer, headerBytes: number, hashesMagic: boolean): string | undefined {
  if (bytes.length < Math.max(headerBytes, shortestFrameBytes)) return 'the lz4 frame is cut off'
  if (bytes.readUInt32LE(0) !== magic) return 'not an lz4 frame'
  const flags = bytes[4]
  if ((flags & 0xc3) !== versionBits) return 'the lz4 frame has an unknown version or flag'
  if ((flags & independentBit) === 0) return 'the lz4 blocks depend on one another'
  const descriptor = bytes[5]
  if ((descriptor & 0x8f) !== 0 || descriptor < 0x40) return 'the lz4 frame has an unknown block size'
  const checksum = bytes[headerBytes - 1]
  if (!hashesMagic && headerChecksum(bytes, headerBytes - 1) !== checksum)
    return 'the checksum of the lz4 header is wrong'
  return undefined
}

function headerChecksum(bytes: Buffer, end: number): number {
  return (xxh32(bytes, 4, end) >>> 8) & 0xff
}

/**
 * One frame as Kafka's producer writes it: blocks of 64 KiB, no checksums. There is one level: the library packs fast, and
 * a `compression.lz4.level` changes nothing that a reader can see but the size.
 */
export function packLz4(bytes: Buffer): Buffer {
  const header = Buffer.alloc(7)
  header.writeUInt32LE(magic, 0)
  header[4] = versionBits | independentBit
  header[5] = 0x40
  header[6] = headerChecksum(header, 6)
  const parts: Buffer[] = [header]
  for (let start = 0; start < bytes.length; start += writtenBlockBytes) {
    const block = bytes.subarray(start, start + writtenBlockBytes)
    const packed = packLz4Block(block)
    const isStored = packed === undefined || packed.length >= block.length
    const length = Buffer.alloc(4)
    length.writeUInt32LE(isStored ? block.length + storedBit : packed.length, 0)
    parts.push(length, isStored ? block : packed)
  }
  parts.push(Buffer.alloc(4))
  return Buffer.concat(parts)
}
