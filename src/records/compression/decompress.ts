import { Codec } from './codec.ts'
import { corruptInput, type Decompressed } from './decompressed.ts'

/** Output up to this many bytes is made on the loop: about a millisecond of it. */
export const maxInlineBytes = 1 << 20

/** Unpacks all of `bytes`, to at most `maxBytes`. Never throws and never allocates much more than the bound. */
export function decompressSync(codec: number, bytes: Buffer, maxBytes: number): Decompressed {
  if (codec === Codec.none) return bytes.length > maxBytes ? { type: 'tooLarge' } : { type: 'done', output: bytes }
  return corruptInput('the codec is unknown')
}
