import { createGunzip, createZstdDecompress, type Gunzip, gzip, type ZstdDecompress, zstdCompress } from 'node:zlib'
import type { BlockReader } from './block-reader.ts'
import { Codec } from './codec.ts'
import { compressSync } from './compress.ts'
import { blockReader, decompressSync } from './decompress.ts'
import type { Decompressed, DecompressFailure } from './decompressed.ts'
import { freeBytes } from './free-bytes.ts'
import { gzipFailure, gzipPackOptions } from './gzip.ts'
import { planZstd, zstdFailure, zstdPackOptions } from './zstd.ts'

/** What of lz4 and snappy is unpacked in one turn of the loop: about a millisecond. */
const turnBytes = 2 << 20
/** What of gzip and zstd is unpacked in one go of the thread pool. */
const chunkBytes = 1 << 20
/** Most batches that are unpacked here are no longer than this. */
const likelyBytes = 8 << 20

/**
 * As `decompressSync`, for large input: gzip and zstd in Node's thread pool, lz4 and snappy block by block with
 * `yieldTurn` between slices. `bytes` stay unchanged until the answer. Never rejects for what is in them. The output is alone
 * in its memory, so that `freeBytes` can give it back.
 */
export function decompressOffLoop(
  codec: number,
  bytes: Buffer,
  maxBytes: number,
  yieldTurn: () => Promise<void>,
): Promise<Decompressed> {
  const reader = blockReader(codec, bytes)
  if (reader !== undefined) return unpackInSlices(reader, bytes, maxBytes, yieldTurn)
  if (codec === Codec.gzip) return unpackGzip(bytes, maxBytes)
  if (codec === Codec.zstd) return unpackZstd(bytes, maxBytes)
  return Promise.resolve(decompressSync(codec, bytes, maxBytes))
}

/** As `compressSync`: gzip and zstd in the thread pool. lz4 and snappy are fast enough for the largest batches as they are. */
export function compressOffLoop(codec: number, bytes: Buffer, level?: number): Promise<Buffer> {
  if (codec !== Codec.gzip && codec !== Codec.zstd) return Promise.resolve(compressSync(codec, bytes, level))
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, output: Buffer) => (error === null ? resolve(output) : reject(error))
    if (codec === Codec.gzip) gzip(bytes, gzipPackOptions(level), done)
    else zstdCompress(bytes, zstdPackOptions(level), done)
  })
}

async function unpackInSlices(
  reader: BlockReader,
  input: Buffer,
  maxBytes: number,
  yieldTurn: () => Promise<void>,
): Promise<Decompressed> {
  const output = new GrowingOutput(maxBytes)
  let nextYieldAt = turnBytes
  for (let block = reader.next(maxBytes); block !== undefined; block = reader.next(maxBytes - output.length)) {
    output.append(block)
    // One that was not compressed lies where it came from.
    if (block.buffer !== input.buffer) freeBytes(block)
    if (output.length >= nextYieldAt) {
      await yieldTurn()
      nextYieldAt = output.length + turnBytes
    }
  }
  return reader.failure === undefined ? output.finish() : output.fail(reader.failure)
}

async function unpackZstd(bytes: Buffer, maxBytes: number): Promise<Decompressed> {
  const pieces = planZstd(bytes)
  if ('type' in pieces) return pieces
  const output = new GrowingOutput(maxBytes)
  for (const { start, end, contentBytes } of pieces) {
    const isTooLarge = contentBytes !== undefined && contentBytes > maxBytes - output.length
    const failure = isTooLarge
      ? ({ type: 'tooLarge' } as const)
      : await unpackStream(
          createZstdDecompress({ chunkSize: chunkBytes }),
          bytes.subarray(start, end),
          output,
          zstdFailure,
        )
    if (failure !== undefined) return output.fail(failure)
  }
  return output.finish()
}

async function unpackGzip(bytes: Buffer, maxBytes: number): Promise<Decompressed> {
  const output = new GrowingOutput(maxBytes)
  const failure = await unpackStream(createGunzip({ chunkSize: chunkBytes }), bytes, output, gzipFailure)
  return failure === undefined ? output.finish() : output.fail(failure)
}

/** Resolves with what went wrong. The chunks that the library makes are given back one by one. */
function unpackStream(
  stream: Gunzip | ZstdDecompress,
  input: Buffer,
  output: GrowingOutput,
  failureOf: (error: unknown) => DecompressFailure,
): Promise<DecompressFailure | undefined> {
  return new Promise(resolve => {
    stream.on('data', (chunk: Buffer) => {
      if (output.append(chunk)) {
        // Until it is full, the library goes on writing behind what it has handed over.
        if (chunk.byteOffset + chunk.length === chunk.buffer.byteLength) freeBytes(chunk)
        return
      }
      stream.destroy()
      resolve({ type: 'tooLarge' })
    })
    stream.once('error', error => resolve(failureOf(error)))
    stream.once('end', () => resolve(undefined))
    stream.end(input)
  })
}

/**
 * One piece of memory for all of the output: pieces would have to be put together at the end, which takes their memory
 * twice. The system gives memory for what is written, not for what is asked for.
 */
class GrowingOutput {
  readonly #maxBytes: number
  #bytes: Buffer
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#bytes = Buffer.allocUnsafeSlow(Math.min(maxBytes, likelyBytes))
  }

  get length(): number {
    return this.#length
  }

  /** False when it would be longer than it may. */
  append(piece: Buffer): boolean {
    const end = this.#length + piece.length
    if (end > this.#maxBytes) return false
    if (end > this.#bytes.length) this.#grow()
    piece.copy(this.#bytes, this.#length)
    this.#length = end
    return true
  }

  finish(): Decompressed {
    return { type: 'done', output: this.#bytes.subarray(0, this.#length) }
  }

  fail(failure: DecompressFailure): DecompressFailure {
    freeBytes(this.#bytes)
    return failure
  }

  #grow(): void {
    const larger = Buffer.allocUnsafeSlow(this.#maxBytes)
    this.#bytes.copy(larger, 0, 0, this.#length)
    freeBytes(this.#bytes)
    this.#bytes = larger
  }
}
