/**
 * The right to use bytes that belong to a pool. Whoever holds a lease releases it exactly once; nobody touches `bytes`
 * afterwards (the pool poisons them in tests). Bytes that reach a callback without a lease are valid until it returns.
 */
export interface Lease {
  readonly bytes: Buffer
  /** Gives the bytes back. A second call is an assertion failure. */
  release(): void
}
