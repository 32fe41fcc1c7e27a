import type { Clock } from '../io/clock.ts'
import type { Endpoint, Network } from '../io/network.ts'
import type { Fields, Infer, Input, Message } from '../protocol/schema.ts'
import type { Writer } from '../protocol/writer.ts'
import type { ChannelError } from './channel-error.ts'

/** Both messages of an API. */
export interface Api<Q extends Fields, R extends Fields> {
  readonly request: Message<Q>
  readonly response: Message<R>
}

/** The end of whoever wants the channel. */
export interface Owner {
  readonly isClosed: boolean
  /** Calls back at the end. Returns what takes the callback away. */
  onClose(callback: () => void): () => void
}

/** A request's body, or what makes it for the version that is going to be sent. */
export type Body<Q extends Fields> = Input<Message<Q>> | ((version: number) => Input<Message<Q>>)

export interface RequestOptions {
  /** How long until the answer must be here, waiting for earlier requests included. */
  readonly timeoutMs?: number
  /** Not to go above this version, although both ends could. */
  readonly maxVersion?: number
  /** False for a Produce with acks=0, which is never answered. */
  readonly expectsAnswer?: boolean
}

/** Where requests can be sent to. */
export interface Requester {
  request<Q extends Fields, R extends Fields>(
    api: Api<Q, R>,
    body: Body<Q>,
    options?: RequestOptions,
  ): Promise<Infer<Message<R>>>
}

export interface ChannelOptions {
  readonly clock: Clock
  readonly network: Network
  /** Shared by all channels of a process: a message is encoded in one go. */
  readonly writer: Writer
  readonly endpoint: Endpoint
  readonly clientId: string
  /** Told to the broker, for its logs. Letters, digits, dots and dashes. */
  readonly software: { readonly name: string; readonly version: string }
  /** Who should be at this address; brokers since 4.3 check it. Left out: whoever answers. */
  readonly expected?: { readonly clusterId: string; readonly nodeId: number }
  /** For connecting, negotiating and authenticating together. */
  readonly connectTimeoutMs: number
  readonly requestTimeoutMs: number
  /** A longer answer closes the connection. */
  readonly maxResponseBytes: number
  readonly maxInFlight: number
  /** Requests that may wait for those in flight; a further one is refused with `busy`. */
  readonly maxWaiting: number
  /** A connection that has been at rest for so long is closed from this side, before brokers close it from theirs. */
  readonly idleMs: number
  /** When it ends, connecting ends. What a connection that stands has to end with is up to its user. */
  readonly owner?: Owner
  /** Proves who we are, before anybody else may send. Throws to give up. */
  readonly authenticate?: (channel: Requester) => Promise<void>
  /** The channel has ended. Runs once, and never before `connectChannel` has resolved. */
  readonly closed?: (error: ChannelError) => void
}
