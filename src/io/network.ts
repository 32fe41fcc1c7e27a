import type { FileRange } from './disk.ts'

export interface Endpoint {
  readonly host: string
  readonly port: number
}

/** Takes what arrives on one connection. */
export interface Receiver {
  /**
   * Where the next bytes should be read to: the free part of a slab that is filling, or undefined for the scratch buffer
   * that all connections at rest share. Asked at the start and after each `received`, once: what it names belongs to the
   * connection until the next `received` or `closed`, also while it is paused. Bytes may still come in another buffer.
   */
  target(): Buffer | undefined
  /**
   * Bytes arrived. Those in the buffer that `target` named are in place already (`bytes` is a view of it). All others
   * are valid only until this call returns: keep a copy or a lease, never the view. The bytes may be changed in place.
   */
  received(bytes: Buffer): void
  /**
   * The peer has ended its side, or the connection broke, or it was closed here. Runs once; nothing follows it. What was
   * given to `send` before still goes out to a peer that has only ended its side.
   */
  closed(error: Error | undefined): void
}

export interface Connection {
  /** Numeric address of the peer, without a port, for limits and log lines. */
  readonly remoteAddress: string
  readonly remotePort: number
  readonly localPort: number
  /** Bytes given to `send` that the kernel has not taken yet; those of one write are counted off together. */
  readonly unsentBytes: number
  /**
   * Grows whenever the kernel takes some of what was given to `send`, of a part of one write too: what tells a slow reader
   * from one that reads nothing. Says nothing else.
   */
  readonly progress: number
  /** Called once, before the first read; nothing is delivered earlier. */
  start(receiver: Receiver): void
  /** No read is started after this until `resume`. */
  pause(): void
  resume(): void
  /**
   * Sends the parts in order, without copying large ones: they must not change until `sent` ran. Sends of one turn leave
   * together. `sent` runs exactly once, in a later turn, when the kernel has taken all of it or the connection has failed.
   * File ranges are released by then. A file that was cut or could not be read fails the send and closes the connection.
   */
  send(parts: readonly (Buffer | FileRange)[], sent?: (error: Error | undefined) => void): void
  /** Sends what is queued, then closes. Bounded by `lingerMs`, then as `destroy`. */
  close(lingerMs: number): void
  /** Closes at once; what is unsent is dropped. */
  destroy(reason?: Error): void
}

export interface Listener {
  /** As bound: the port is the real one when 0 was asked for. */
  readonly endpoint: Endpoint
  /** Stops accepting. Connections that are open stay open. */
  close(): Promise<void>
}

export interface ListenOptions {
  /** Called for each accepted connection, in a turn of its own. */
  readonly accept: (connection: Connection) => void
  /** How many may wait to be accepted; 1024 when not given. */
  readonly backlog?: number | undefined
}

export interface ConnectOptions {
  readonly timeoutMs: number
}

export interface Network {
  /** Rejects with an Error whose `code` is 'addressInUse', 'addressNotAvailable', 'notPermitted' or 'failed'. */
  listen(endpoint: Endpoint, options: ListenOptions): Promise<Listener>
  /** Rejects when no connection stands within `timeoutMs`. Names are resolved; all addresses are tried in turn. */
  connect(endpoint: Endpoint, options: ConnectOptions): Promise<Connection>
}

export type NetworkErrorCode =
  | 'addressInUse'
  | 'addressNotAvailable'
  | 'notPermitted'
  | 'refused'
  | 'timedOut'
  | 'reset'
  | 'failed'

export class NetworkError extends Error {
  override readonly name = 'NetworkError'
  readonly code: NetworkErrorCode

  constructor(code: NetworkErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}
