import type { Lease } from '../../base/lease.ts'
import { FrameReader } from '../../channel/frame-reader.ts'
import type { Clock } from '../../io/clock.ts'
import type { FileRange } from '../../io/disk.ts'
import { type Connection, NetworkError, type Receiver } from '../../io/network.ts'
import { ApiKey } from '../../protocol/apis.ts'
import { decodeRequestHeader, type ServedVersions } from '../../protocol/frames.ts'
import { ProtocolError } from '../../protocol/protocol-error.ts'
import { Reader } from '../../protocol/reader.ts'
import type { Writer } from '../../protocol/writer.ts'
import type { MemoryBudget } from '../memory-budget.ts'
import { Request, type RequestOwner } from './request.ts'

/** Produce requests that may wait for their answers on one connection; of all others, one. */
const maxPipelinedProduces = 8

/** Requests of one connection that are worked on in one turn; the rest waits for the next, so that others have theirs. */
const maxRequestsPerTurn = 16

/**
 * No further request of a connection is worked on while more than this of its answers waits for the client to read, and none at
 * all while the memory budget is used up.
 */
const maxUnsentBytes = 256 * 1024

/** What a frame that is arriving, or requests behind one that waits, may take while others wait for memory. */
const shortage = { graceMs: 2000, minBytesPerMs: 256, maxHeldBytes: 64 * 1024 }

/** What all connections of one listener share. */
export interface ConnectionHost {
  readonly clock: Clock
  readonly budget: MemoryBudget
  readonly listenerName: string
  readonly maxRequestBytes: number
  /** Shared by all connections: one message is encoded at a time. */
  readonly writer: Writer
  served(apiKey: number): ServedVersions | undefined
  /** Handles one request. Throws `ProtocolError` when its body cannot be read. */
  handle(request: Request): void
  /** A handler has thrown what it must not: a bug. */
  handlerFailed(connection: ClientConnection, error: unknown): void
  /** Counts a request that has been answered, for metrics. */
  requestEnded(request: Request): void
  warn(problem: string, address: string, kind: string): void
  connectionEnded(connection: ClientConnection, reason: string | undefined): void
}

/**
 * One client's connection: frames in, answers out in the same order. One request is worked on at a time, except that
 * produces may follow unanswered produces; everything else waits unread.
 */
export class ClientConnection implements Receiver, RequestOwner {
  readonly #connection: Connection
  readonly #host: ConnectionHost
  readonly #reader: FrameReader
  readonly #unanswered: Request[] = []
  clientSoftware: RequestOwner['clientSoftware'] = { name: 'unknown', version: 'unknown' }
  /** Monotonic time of the last byte in or answer out. */
  lastActiveMs: number
  /** Monotonic time since when the frame that is arriving arrives; undefined between frames. */
  #frameBeganMs: number | undefined
  #framesTaken = 0
  /** Requests that were taken since the connection's turn began. */
  #takenThisTurn = 0
  #waitsForTurn = false
  /** All bytes that were ever given to the connection, how many the client had taken when that was last looked at, and when. */
  #sentBytes = 0
  #takenBytes = 0
  #takenAtMs: number
  /** What unsent answers keep in memory. */
  #pinnedBytes = 0
  #closeReason: string | undefined
  #isClosed = false

  constructor(connection: Connection, host: ConnectionHost) {
    this.#connection = connection
    this.#host = host
    this.lastActiveMs = host.clock.now().monotonicMs
    this.#takenAtMs = this.lastActiveMs
    this.#reader = new FrameReader({
      maxFrameBytes: host.maxRequestBytes,
      memory: host.budget,
      frame: bytes => this.#frame(bytes),
      failed: (error, length) => this.destroy(frameFault(error, length, host.maxRequestBytes)),
      pause: () => connection.pause(),
      resume: () => this.#readOn(),
    })
  }

  get remoteAddress(): string {
    return this.#connection.remoteAddress
  }

  get localPort(): number {
    return this.#connection.localPort
  }

  get listenerName(): string {
    return this.#host.listenerName
  }

  get writer(): Writer {
    return this.#host.writer
  }

  /** Part of a frame has arrived, and the rest should follow. */
  get isInsideFrame(): boolean {
    return this.#reader.isInsideFrame
  }

  /** Requests that wait for their answers. */
  get unansweredCount(): number {
    return this.#unanswered.length
  }

  /** How long the client has taken nothing of the answers that wait for it, in milliseconds, as far as was looked. */
  stalledForMs(monotonicMs: number): number {
    const { unsentBytes } = this.#connection
    const takenBytes = this.#sentBytes - unsentBytes
    if (unsentBytes === 0 || takenBytes !== this.#takenBytes) this.#takenAtMs = monotonicMs
    this.#takenBytes = takenBytes
    return monotonicMs - this.#takenAtMs
  }

  /** Why this connection has to go while others wait for memory; undefined when it does its part. */
  shedReason(monotonicMs: number): string | undefined {
    const { graceMs, minBytesPerMs, maxHeldBytes } = shortage
    const frameMs = this.#frameBeganMs === undefined ? 0 : monotonicMs - this.#frameBeganMs
    if (this.isInsideFrame && this.#reader.gatheredBytes < (frameMs - graceMs) * minBytesPerMs) {
      return 'its frame arrives slowly while others wait for memory (queued.max.request.bytes)'
    }
    const holdsMuch = this.#reader.heldBytes > maxHeldBytes && !this.#reader.waitsForMemory
    if (holdsMuch && monotonicMs - this.lastActiveMs > graceMs) {
      return 'it sends requests behind one that waits while others wait for memory (queued.max.request.bytes)'
    }
    return undefined
  }

  start(): void {
    this.#connection.start(this)
  }

  target(): Buffer | undefined {
    return this.#reader.target()
  }

  received(bytes: Buffer): void {
    this.lastActiveMs = this.#host.clock.now().monotonicMs
    const framesBefore = this.#framesTaken
    this.#takenThisTurn = 0
    this.#reader.received(bytes)
    if (!this.#reader.isInsideFrame) this.#frameBeganMs = undefined
    else if (this.#framesTaken !== framesBefore) this.#frameBeganMs = this.lastActiveMs
    else this.#frameBeganMs ??= this.lastActiveMs
    if (this.#reader.heldBytes > shortage.maxHeldBytes && this.#host.budget.isOverdrawn) {
      this.destroy('there is no memory for what it sends (queued.max.request.bytes)')
    }
  }

  closed(error: Error | undefined): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#reader.end()
    for (const request of this.#unanswered) request.abandon()
    this.#unanswered.length = 0
    this.#host.budget.letGo(this.#pinnedBytes)
    this.#pinnedBytes = 0
    this.#host.connectionEnded(this, this.#closeReason ?? reasonOf(error))
  }

  keepFrame(): Lease {
    return this.#reader.keep()
  }

  warn(problem: string, kind: string): void {
    this.#host.warn(problem, this.remoteAddress, kind)
  }

  destroy(reason: string): void {
    this.#closeReason ??= reason
    this.#connection.destroy()
  }

  /** Sends what is answered, then closes. */
  close(lingerMs: number): void {
    this.#connection.close(lingerMs)
  }

  /** Whatever it waited for, the wait was not the client's. */
  #readOn(): void {
    this.lastActiveMs = this.#host.clock.now().monotonicMs
    if (this.#frameBeganMs !== undefined) this.#frameBeganMs = this.lastActiveMs
    this.#connection.resume()
  }

  #frame(bytes: Buffer): 'taken' | 'hold' {
    if (this.#isClosed) return 'taken'
    if (!this.#admits(bytes)) return 'hold'
    this.#framesTaken++
    this.#takenThisTurn++
    try {
      const reader = new Reader(bytes)
      const header = decodeRequestHeader(reader, apiKey => this.#host.served(apiKey))
      const request = new Request(this, header, bytes.subarray(reader.position), this.#host.clock.now())
      this.#unanswered.push(request)
      this.#host.handle(request)
    } catch (error) {
      if (error instanceof ProtocolError) this.destroy(`it sent a request that cannot be read: ${error.message}`)
      else this.#host.handlerFailed(this, error)
    }
    return 'taken'
  }

  #admits(bytes: Buffer): boolean {
    if (this.#waitsForTurn || this.#connection.unsentBytes > this.#maxUnsentBytes) return false
    if (this.#takenThisTurn === maxRequestsPerTurn) {
      this.#waitsForTurn = true
      this.#host.clock.nextTurn(() => this.#nextTurn())
      return false
    }
    const waiting = this.#unanswered.length
    if (waiting === 0) return true
    const isProduce = bytes.length >= 2 && bytes.readInt16BE(0) === ApiKey.produce
    return isProduce && waiting < maxPipelinedProduces && this.#unanswered[waiting - 1].header.apiKey === ApiKey.produce
  }

  /** While memory is short a client reads what it was answered before it asks for more. What was sent resumes it then. */
  get #maxUnsentBytes(): number {
    const { usedBytes, capacityBytes } = this.#host.budget
    return usedBytes < capacityBytes ? maxUnsentBytes : 0
  }

  #nextTurn(): void {
    this.#waitsForTurn = false
    this.#takenThisTurn = 0
    if (!this.#isClosed) this.#reader.resume()
  }

  answered(request: Request): void {
    if (this.#isClosed) {
      this.#release(request)
      return
    }
    if (request !== this.#unanswered[0]) return
    let sentAny = false
    while (this.#unanswered.length > 0 && this.#unanswered[0].answer !== undefined) {
      this.#send(this.#unanswered.shift()!)
      sentAny = true
    }
    if (sentAny) this.#reader.resume()
  }

  #send(request: Request): void {
    this.#host.requestEnded(request)
    const { answer, answerBytes } = request
    if (answer === undefined || answer.length === 0) return
    const pinnedBytes = bytesInMemory(answer)
    this.#sentBytes += answerBytes
    this.#pinnedBytes += pinnedBytes
    this.#host.budget.hold(pinnedBytes)
    this.#connection.send(answer, () => this.#sent(pinnedBytes))
  }

  #sent(pinnedBytes: number): void {
    if (this.#isClosed) return
    this.#pinnedBytes -= pinnedBytes
    this.lastActiveMs = this.#host.clock.now().monotonicMs
    this.#host.budget.letGo(pinnedBytes)
    this.#reader.resume()
  }

  /** An answer that came too late: the files it points into are let go. */
  #release(request: Request): void {
    for (const part of request.answer ?? []) if (!Buffer.isBuffer(part)) (part as FileRange).file.release()
  }
}

/** A range of a file costs no memory while it waits. */
function bytesInMemory(parts: readonly (Buffer | FileRange)[]): number {
  let bytes = 0
  for (const part of parts) if (Buffer.isBuffer(part)) bytes += part.length
  return bytes
}

/** Why a connection has broken. That a client breaks off, with an answer on its way perhaps, is the course of things. */
function reasonOf(error: Error | undefined): string | undefined {
  return error instanceof NetworkError && error.code === 'reset' ? undefined : error?.message
}

function frameFault(error: 'negativeLength' | 'tooLarge', length: number, limit: number): string {
  if (error === 'negativeLength') return `it sent a frame of negative length ${length}: no Kafka client does that`
  return `it sent a frame of ${length} bytes; socket.request.max.bytes allows ${limit}`
}
