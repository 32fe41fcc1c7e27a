/**
 * One reading of both clocks. Deadlines are computed from `monotonicMs` only; what is stored or sent is `wallMs` only.
 * Both are milliseconds and may have a fraction.
 */
export interface Now {
  /** Never goes back within one process; its zero has no meaning. */
  readonly monotonicMs: number
  /** Milliseconds since 1970 by the host's clock; may step in either direction. A whole number. */
  readonly wallMs: number
}
