import type { Decompressed, DecompressFailure } from './decompressed.ts'

/**
 * Unpacks one block after another of a format that is made of independent blocks (lz4, snappy), so that a reader never
 * needs the whole at once.
 */
export interface BlockReader {
  /**
   * The next block, of at most `maxBytes`; undefined at the end, or when `failure` is set: the input is corrupt, or the
   * block would be longer than `maxBytes`.
   */
  next(maxBytes: number): Buffer | undefined
  readonly failure: DecompressFailure | undefined
}

/** All blocks in one buffer, which is at most `maxBytes` long. */
export function readAllBlocks(reader: BlockReader, maxBytes: number): Decompressed {
  const blocks: Buffer[] = []
  let totalBytes = 0
  for (let block = reader.next(maxBytes); block !== undefined; block = reader.next(maxBytes - totalBytes)) {
    blocks.push(block)
    totalBytes += block.length
  }
  return reader.failure ?? joinBlocks(blocks)
}

export function joinBlocks(blocks: readonly Buffer[]): Decompressed {
  return { type: 'done', output: blocks.length === 1 ? blocks[0] : Buffer.concat(blocks) }
}
