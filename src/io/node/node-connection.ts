import net from 'node:net'
import { assert } from '../../base/assert.ts'
import type { FileRange } from '../disk.ts'
import { type Connection, NetworkError, type Receiver } from '../network.ts'
import { toNetworkError } from './network-errors.ts'
import { SendQueue, type SendShared } from './send-queue.ts'

/** How long answers may still take to leave after the peer has ended its side. */
const PEER_ENDED_LINGER_MS = 30_000

/** What all connections of one network share. */
export interface ConnectionShared extends SendShared {
  /** Where connections at rest read to: its bytes are valid inside of one callback only. */
  readonly scratch: Buffer
  /** False: take what Node's streams deliver. The way back where sockets do not read into buffers that are given. */
  readonly readIntoBuffers: boolean
}

export class NodeConnection implements Connection {
  readonly remoteAddress: string
  readonly remotePort: number
  readonly localPort: number
  readonly #socket: net.Socket
  readonly #shared: ConnectionShared
  readonly #sends: SendQueue
  readonly #reader: SocketReader
  /** Why the connection ends, where that is an error. */
  #error: Error | undefined
  #isClosing = false
  #isPaused = false
  #lingerTimer: NodeJS.Timeout | undefined

  constructor(socket: net.Socket, reader: SocketReader, shared: ConnectionShared) {
    this.#socket = socket
    this.#reader = reader
    this.#shared = shared
    this.remoteAddress = plainAddress(socket.remoteAddress ?? '')
    this.remotePort = socket.remotePort ?? 0
    this.localPort = socket.localPort ?? 0
    this.#sends = new SendQueue(socket, shared, error => this.destroy(error))
    socket.on('error', error => {
      this.#error ??= toNetworkError(error, `connection with ${this.remoteAddress}:${this.remotePort}`)
    })
    socket.on('end', () => this.#peerEnded())
    socket.on('resume', () => this.#stayPaused())
    socket.on('close', () => this.#socketClosed())
  }

  get unsentBytes(): number {
    return this.#sends.unsentBytes
  }

  get progress(): number {
    return this.#sends.progress
  }

  start(receiver: Receiver): void {
    this.#reader.start(receiver)
    if (this.#socket.destroyed) this.#shared.turns.next(() => this.#reader.closed(this.#error))
    else this.#socket.resume()
  }

  pause(): void {
    if (this.#isClosing) return
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    assert(this.#reader.isStarted, 'a connection is started before it is resumed')
    this.#isPaused = false
    this.#socket.resume()
  }

  send(parts: readonly (Buffer | FileRange)[], sent?: (error: Error | undefined) => void): void {
    this.#sends.send(parts, sent)
  }

  close(lingerMs: number): void {
    if (this.#isClosing || this.#socket.destroyed) return
    this.#isClosing = true
    this.#reader.stop()
    this.#lingerTimer = setTimeout(() => this.destroy(), lingerMs)
    this.#sends.whenEmpty(() => this.#socket.end())
    // What still arrives is read and dropped: closing a socket that holds unread bytes would reset the connection, and
    // the peer might lose the last answers. Node closes when the peer has ended its side too.
    this.#isPaused = false
    this.#socket.resume()
  }

  destroy(reason?: Error): void {
    if (this.#socket.destroyed) return
    this.#error ??= reason
    this.#reader.stop()
    this.#socket.destroy()
  }

  /** Node's stream resumes a little later than it is told to, and would undo a pause that came in between. */
  #stayPaused(): void {
    if (this.#isPaused) this.#socket.pause()
  }

  #peerEnded(): void {
    this.#shared.turns.next(() => this.#reader.closed(undefined))
    this.close(PEER_ENDED_LINGER_MS)
  }

  #socketClosed(): void {
    clearTimeout(this.#lingerTimer)
    const error = this.#error
    this.#sends.abandon(error ?? new NetworkError('reset', 'the connection was closed'))
    this.#shared.turns.next(() => this.#reader.closed(error))
  }
}

/** Brings the bytes of one socket to its receiver. Made before the socket, which asks it for buffers at once. */
export class SocketReader {
  readonly #shared: ConnectionShared
  #receiver: Receiver | undefined
  /** No bytes are delivered any more; the end still is. */
  #isStopped = false
  #isClosed = false

  constructor(shared: ConnectionShared) {
    this.#shared = shared
  }

  get isStarted(): boolean {
    return this.#receiver !== undefined
  }

  /** The option for Node's socket that makes it read into our buffers. */
  get onread(): net.OnReadOpts | undefined {
    if (!this.#shared.readIntoBuffers) return undefined
    return { buffer: () => this.#target(), callback: (length, bytes) => this.#read(length, bytes as Buffer) }
  }

  /** For sockets without that option. */
  listen(socket: net.Socket): void {
    if (!this.#shared.readIntoBuffers) socket.on('data', bytes => this.#read(bytes.length, bytes as Buffer))
  }

  start(receiver: Receiver): void {
    assert(this.#receiver === undefined, 'a connection is started once')
    this.#receiver = receiver
  }

  stop(): void {
    this.#isStopped = true
  }

  closed(error: Error | undefined): void {
    this.#isStopped = true
    if (this.#isClosed || this.#receiver === undefined) return
    this.#isClosed = true
    this.#receiver.closed(error)
  }

  #target(): Buffer {
    return (this.#isStopped ? undefined : this.#receiver?.target()) ?? this.#shared.scratch
  }

  #read(length: number, bytes: Buffer): boolean {
    if (this.#isStopped || this.#receiver === undefined) return true
    const receiver = this.#receiver
    this.#shared.turns.call(() => receiver.received(bytes.length === length ? bytes : bytes.subarray(0, length)))
    return true
  }
}

/** An IPv4 address without the prefix that a socket for both kinds gives it, so that a limit counts one peer once. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && net.isIPv4(address.slice(7)) ? address.slice(7) : address
}
