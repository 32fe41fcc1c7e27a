import { AssertionFailure } from '../base/assert.ts'
import { ErrorCode, errorName, isRetriable } from '../base/error-code.ts'
import { adviceFor } from './advice.ts'

/** What can go wrong on this side, besides the codes that brokers answer. */
export type ClientErrorCode =
  /** No connection to a broker could be made, or it broke. */
  | 'CONNECTION_FAILED'
  /** Time was over before it was done. */
  | 'TIMED_OUT'
  /** The client, producer, consumer or admin was closed. */
  | 'CLOSED'
  /** Records are handed in faster than brokers take them. */
  | 'BUFFER_FULL'
  /** The caller asks for something that cannot be. */
  | 'INVALID_ARGUMENT'
  /** Brokers do not speak a version that could say this. */
  | 'UNSUPPORTED_VERSION'
  /** The peer does not keep to the protocol. */
  | 'PROTOCOL_BROKEN'
  /** Identity or password were refused. */
  | 'AUTHENTICATION_FAILED'
  /** The log was cut behind the consumer's position: records that it has seen are gone. */
  | 'LOG_TRUNCATED'
  /** There is no committed offset, or it is out of range, and `offsetReset` says `none`. */
  | 'NO_OFFSET'
  /** The partition does not belong to this consumer (any more). */
  | 'NOT_ASSIGNED'
  /** Several failed; `results` has each. */
  | 'PARTLY_FAILED'

export interface ErrorFacts {
  readonly retriable?: boolean
  readonly cause?: unknown
  /** Kafka's number of the code, when a broker answered it. */
  readonly errorCode?: ErrorCode
  /** The request may have been carried out although this error came. */
  readonly outcomeUnknown?: boolean
}

/**
 * The only error that this client rejects with. `code` is Kafka's name of an error (`NOT_LEADER_OR_FOLLOWER`) or one of
 * `ClientErrorCode`. The message says what happened, to what, and what to do about it.
 */
export class MillraceError extends Error {
  override readonly name = 'MillraceError'
  readonly code: string
  /** Whether the same call may succeed later. The client has tried for as long as it was told to already. */
  readonly retriable: boolean
  /** Kafka's number of the code; undefined for errors of this side. */
  readonly errorCode: ErrorCode | undefined
  /** True when the request may have been carried out nevertheless: the answer got lost, or never came. */
  readonly outcomeUnknown: boolean

  constructor(code: ClientErrorCode | (string & {}), message: string, facts: ErrorFacts = {}) {
    super(message, { cause: facts.cause })
    this.code = code
    this.retriable = facts.retriable ?? false
    this.errorCode = facts.errorCode
    this.outcomeUnknown = facts.outcomeUnknown ?? false
  }
}

/** The error for a code that a broker answered. `subject` says about what: `topic orders`, `group billing`. */
export function brokerError(code: ErrorCode, subject: string, brokerText?: string | null): MillraceError {
  const name = errorName(code)
  // Some brokers have no more to say than the name.
  const detail = brokerText && brokerText !== name ? `: ${brokerText.replace(/\.+$/, '')}` : ''
  const advice = adviceFor(code, brokerText)
  const message = `${subject}: ${name}${detail}${advice === undefined ? '' : `. ${advice}`}`
  return new MillraceError(name, message, {
    errorCode: code,
    retriable: isRetriable(code),
    outcomeUnknown: mayHaveHappened(code),
  })
}

/** Answers after which nobody knows whether it was done. */
function mayHaveHappened(code: ErrorCode): boolean {
  return (
    code === ErrorCode.requestTimedOut ||
    code === ErrorCode.notEnoughReplicasAfterAppend ||
    code === ErrorCode.unknownServerError ||
    code === ErrorCode.kafkaStorageError ||
    code === ErrorCode.networkException
  )
}

export function invalidArgument(message: string): MillraceError {
  return new MillraceError('INVALID_ARGUMENT', message)
}

export function closedError(what: string): MillraceError {
  return new MillraceError('CLOSED', `the ${what} is closed; make a new one`)
}

/**
 * Any thrown thing as a `MillraceError`. What is none came from a bug of ours or from the application, and is the cause; a
 * broken invariant is thrown on, since nothing that follows could be relied upon.
 */
export function toMillraceError(error: unknown): MillraceError {
  if (error instanceof MillraceError) return error
  if (error instanceof AssertionFailure) throw error
  const text = error instanceof Error ? error.message : String(error)
  return new MillraceError('UNKNOWN', text, { cause: error })
}
