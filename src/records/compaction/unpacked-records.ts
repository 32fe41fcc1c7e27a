import { batchHeaderBytes, readCodec } from '../batch.ts'
import { Codec } from '../compression/codec.ts'
import { decompressSync } from '../compression/decompress.ts'
import { unpacksTooFar } from './contract.ts'

/** The records of one batch, where they lie or where they were unpacked to. */
export class UnpackedRecords {
  bytes!: Buffer
  /** Of `bytes`. */
  view!: DataView
  start = 0
  end = 0
  readonly #chunk: Buffer
  readonly #chunkView: DataView
  readonly #maxBytes: number

  constructor(chunk: Buffer, maxBytes: number) {
    this.#chunk = chunk
    this.#chunkView = viewOf(chunk)
    this.#maxBytes = maxBytes
  }

  /** Goes to the records of the batch at `at`. The answer is what is wrong with them, if anything is. */
  open(at: number, sizeBytes: number): string | undefined {
    const codec = readCodec(this.#chunk, at)
    if (codec === Codec.none) {
      this.bytes = this.#chunk
      this.view = this.#chunkView
      this.start = at + batchHeaderBytes
      this.end = at + sizeBytes
      return undefined
    }
    const packed = this.#chunk.subarray(at + batchHeaderBytes, at + sizeBytes)
    const unpacked = decompressSync(codec, packed, this.#maxBytes)
    if (unpacked.type === 'tooLarge') return unpacksTooFar
    if (unpacked.type === 'corrupt') return unpacked.reason
    this.bytes = unpacked.output
    this.view = viewOf(unpacked.output)
    this.start = 0
    this.end = unpacked.output.length
    return undefined
  }
}

export function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}
