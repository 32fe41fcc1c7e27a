/**
 * Why a channel, or a request on it, came to nothing. `connectFailed`: no connection, so nothing was sent. `timedOut`,
 * `closed`: the request may have been carried out. `malformed`: the peer broke the protocol. `unsupportedVersion`, `busy`:
 * the request was not sent. `wrongNode`: at this address is another broker than was expected.
 */
export type ChannelErrorCode =
  | 'connectFailed'
  | 'authenticationFailed'
  | 'wrongNode'
  | 'timedOut'
  | 'closed'
  | 'malformed'
  | 'unsupportedVersion'
  | 'busy'

export class ChannelError extends Error {
  override readonly name = 'ChannelError'
  readonly code: ChannelErrorCode

  constructor(code: ChannelErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }

  /** Whether the peer cannot have seen the request. */
  get wasNotSent(): boolean {
    return notSent.has(this.code)
  }
}

const notSent: ReadonlySet<ChannelErrorCode> = new Set(['connectFailed', 'wrongNode', 'unsupportedVersion', 'busy'])
