import { gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib'
import { type BlockReader, joinBlocks } from './block-reader.ts'
import { Codec } from './codec.ts'
import { compressSync } from './compress.ts'
import { blockReader, decompressSync } from './decompress.ts'
import type { Decompressed } from './decompressed.ts'
import { gzipFailure, gzipPackOptions, gzipUnpackOptions } from './gzip.ts'
import { planZstd, zstdFailure, zstdPackOptions, zstdUnpackOptions } from './zstd.ts'

/** What of lz4 and snappy is unpacked in one turn of the loop: about a millisecond. */
const turnBytes = 2 << 20

/**
 * As `decompressSync`, for large input: gzip and zstd in Node's thread pool, lz4 and snappy block by block with
 * `yieldTurn` between slices. `bytes` stay unchanged until the answer. Never rejects for what is in them.
 */
export function decompressOffLoop(
  codec: number,
  bytes: Buffer,
  maxBytes: number,
  yieldTurn: () => Promise<void>,
): Promise<Decompressed> {
  const reader = blockReader(codec, bytes)
  if (reader !== undefined) return unpackInSlices(reader, maxBytes, yieldTurn)
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
  maxBytes: number,
  yieldTurn: () => Promise<void>,
): Promise<Decompressed> {
  const blocks: Buffer[] = []
  let totalBytes = 0
  let nextYieldAt = turnBytes
  for (let block = reader.next(maxBytes); block !== undefined; block = reader.next(maxBytes - totalBytes)) {
    blocks.push(block)
    totalBytes += block.length
    if (totalBytes >= nextYieldAt) {
      await yieldTurn()
      nextYieldAt = totalBytes + turnBytes
    }
  }
  return reader.failure ?? joinBlocks(blocks)
}

function unpackGzip(bytes: Buffer, maxBytes: number): Promise<Decompressed> {
  return new Promise(resolve => {
    gunzip(bytes, gzipUnpackOptions(bytes, maxBytes), (error, output) =>
      resolve(error === null ? { type: 'done', output } : gzipFailure(error)),
    )
  })
}

async function unpackZstd(bytes: Buffer, maxBytes: number): Promise<Decompressed> {
  const pieces = planZstd(bytes)
  if ('type' in pieces) return pieces
  const outputs: Buffer[] = []
  let room = maxBytes
  for (const { start, end, contentBytes } of pieces) {
    if (contentBytes !== undefined && contentBytes > room) return { type: 'tooLarge' }
    const result = await unpackPiece(bytes.subarray(start, end), room, contentBytes)
    if (result.type !== 'done') return result
    outputs.push(result.output)
    room -= result.output.length
  }
  return joinBlocks(outputs)
}

function unpackPiece(bytes: Buffer, maxBytes: number, contentBytes: number | undefined): Promise<Decompressed> {
  return new Promise(resolve => {
    zstdDecompress(bytes, zstdUnpackOptions(maxBytes, contentBytes), (error, output) =>
      resolve(error === null ? { type: 'done', output } : zstdFailure(error)),
    )
  })
}
