/**
 * Bytes that are not a valid message, or a message that has no valid bytes. It ends the connection (or the file scan)
 * it came from; the place that owns the connection catches it.
 */
export class ProtocolError extends Error {
  override readonly name: string = 'ProtocolError'
  /** Where in the buffer the fault was noticed; undefined while encoding. */
  readonly offset: number | undefined

  constructor(problem: string, offset?: number) {
    super(offset === undefined ? problem : `${problem} (at byte ${offset})`)
    this.offset = offset
  }
}

/** A value that the asked version of its message cannot carry: out of range, null, too long, or a field it lacks. */
export class EncodeError extends ProtocolError {
  override readonly name = 'EncodeError'
}
