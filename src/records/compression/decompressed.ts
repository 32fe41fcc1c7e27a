/** What became of compressed bytes. Data that a peer sent is never a reason to throw. */
export type Decompressed = { readonly type: 'done'; readonly output: Buffer } | DecompressFailure

export type DecompressFailure =
  /** The output would be longer than the bound; no more than the bound was made. */
  { readonly type: 'tooLarge' } | { readonly type: 'corrupt'; readonly reason: string }

export function corruptInput(reason: string): DecompressFailure {
  return { type: 'corrupt', reason }
}

/** Whether Node's zlib stopped because of the bound it was given. */
export function isTooLarge(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE'
}
