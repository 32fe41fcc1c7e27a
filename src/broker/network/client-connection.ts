import type { Lease } from '../../base/lease.ts'
import { FrameReader } from '../../channel/frame-reader.ts'
import type { Clock } from '../../io/clock.ts'
import type { FileRange } from '../../io/disk.ts'
import { type Connection, NetworkError, type Receiver } from '../../io/network.ts'
import { ApiKey } from '../../protocol/apis.ts'
import { decodeRequestHeader, type ServedVersions } from '../../protocol/frames.ts'
import { ProtocolError } from '../../protocol/protocol-error.ts'
import { Reader } from '../../protocol/reader.ts'
import type { MemoryBudget } from '../memory-budget.ts'
import type { AnswerHold, AnswerMemory } from './answer-memory.ts'
import { Request, type RequestOwner } from './request.ts'
import type { RequestTurns, TurnTaker } from './request-turns.ts'

/** Produce requests that may wait for their answers on one connection; of all others, one. */
const maxPipelinedProduces = 8

/** Requests of one connection that are worked on in one turn; the rest waits for the next, so that others have theirs. */
const maxRequestsPerTurn = 16

/**
 * No further request of a connection is worked on while more than this of its answers waits for the client to read, or
 * anything at all while memory for answers is short.
 */
const maxUnsentBytes = 256 * 1024

/**
 * What a frame that is arriving, requests behind one that waits, or answers that are not read may take while others wait for
 * memory.
 */
const shortage = { graceMs: 2000, minBytesPerMs: 256, maxHeldBytes: 64 * 1024 }
/** Whoever has taken something of its answers in this time is not deaf, however short memory is. */
const readingMs = 200

/** What all connections of one listener share. */
export interface ConnectionHost {
  readonly clock: Clock
  readonly budget: MemoryBudget
  readonly listenerName: string
  readonly maxRequestBytes: number
  /** Shared by all connections of a broker. */
  readonly answers: AnswerMemory
  readonly turns: RequestTurns
  connectionCount(): number
  served(apiKey: number): ServedVersions | undefined
  /** Handles one request. Throws `ProtocolError` when its body cannot be read. */
  handle(request: Request): void
  /** A handler has thrown what it must not: a bug. */
  handlerFailed(connection: ClientConnection, error: unknown): void
  /** Counts a request that has been answered, for metrics. Returns the monotonic time. */
  requestEnded(request: Request): number
  /** More is held than there is room for, though nothing large is made any more. */
  answersOverdrawn(): void
  warn(problem: string, address: string, kind: string): void
  connectionEnded(connection: ClientConnection, reason: string | undefined): void
}

/**
 * One client's connection: frames in, answers out in the same order. One request is worked on at a time, except that
 * produces may follow unanswered produces; everything else waits unread.
 */
export class ClientConnection implements Receiver, RequestOwner, TurnTaker {
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
  /** Bytes of unsent answers in memory, without what else lies in their chunks. */
  #unsentBytes = 0
  /** The connection's progress when it was last looked at, and since when it is the same while answers wait. */
  #progress = 0
  #progressAtMs: number
  #closeReason: string | undefined
  #isClosed = false

  constructor(connection: Connection, host: ConnectionHost) {
    this.#connection = connection
    this.#host = host
    this.lastActiveMs = host.clock.now().monotonicMs
    this.#progressAtMs = this.lastActiveMs
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

  get answers(): AnswerMemory {
    return this.#host.answers
  }

  /** Part of a frame has arrived, and the rest should follow. */
  get isInsideFrame(): boolean {
    return this.#reader.isInsideFrame
  }

  /** Requests that wait for their answers. */
  get unansweredCount(): number {
    return this.#unanswered.length
  }

  /** Bytes of answers that wait in memory for the client to read. */
  get unsentBytes(): number {
    return this.#unsentBytes
  }

  /** It has been decided that the connection ends. */
  get isEnding(): boolean {
    return this.#closeReason !== undefined
  }

  /** How long the client has taken nothing of the answers that wait for it, in milliseconds, as far as was looked. */
  stalledForMs(monotonicMs: number): number {
    const { unsentBytes, progress } = this.#connection
    if (unsentBytes === 0 || progress !== this.#progress) this.#progressAtMs = monotonicMs
    this.#progress = progress
    return monotonicMs - this.#progressAtMs
  }

  /** The same, where that is so long that the connection may be closed for the memory that its answers take. */
  deafForMs(monotonicMs: number, isOverdrawn: boolean): number | undefined {
    const stalledMs = this.stalledForMs(monotonicMs)
    return stalledMs > (isOverdrawn ? readingMs : shortage.graceMs) ? stalledMs : undefined
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
    if (this.#host.budget.isOverdrawn && this.#reader.heldBytes > this.#maxHeldBytes) {
      this.destroy('there is no memory for what it sends (queued.max.request.bytes)')
    }
  }

  /** All connections together do not hold more than what is held beyond the budget once more. */
  get #maxHeldBytes(): number {
    return Math.min(shortage.maxHeldBytes, this.#host.budget.overdraftBytes / this.#host.connectionCount())
  }

  closed(error: Error | undefined): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#reader.end()
    this.#host.turns.forget(this)
    for (const request of this.#unanswered) {
      if (request.answer === undefined) request.abandon()
      else this.#release(request)
    }
    this.#unanswered.length = 0
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
    // A frame that is too short for a key is found out when its header is read.
    const apiKey = bytes.length >= 2 ? bytes.readInt16BE(0) : ApiKey.produce
    if (waiting === 0) {
      return this.#host.turns.admits(this, {
        apiKey,
        bytes: bytes.length,
        isFirst: this.#takenThisTurn === 0,
        isAwaited: !this.#reader.isFollowed && this.#connection.unsentBytes === 0,
      })
    }
    const isProduce = apiKey === ApiKey.produce
    return isProduce && waiting < maxPipelinedProduces && this.#unanswered[waiting - 1].header.apiKey === ApiKey.produce
  }

  /** While memory is short a client reads what it was answered before it asks for more. What was sent resumes it then. */
  get #maxUnsentBytes(): number {
    return this.#host.answers.isShort ? 0 : maxUnsentBytes
  }

  turnCame(): void {
    this.#reader.resume()
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
    const nowMs = this.#host.requestEnded(request)
    const { answer, answerHold } = request
    if (answer === undefined || answerHold === undefined) return
    if (this.#connection.unsentBytes === 0) this.#progressAtMs = nowMs
    this.#unsentBytes += bytesOf(answerHold)
    this.#connection.send(answer, () => this.#sent(answerHold))
    this.#host.turns.answered(request.header.apiKey, answerHold.encodedBytes, answerHold.otherBytes)
    if (this.#host.answers.isOverdrawn) this.#host.answersOverdrawn()
  }

  /** Runs also when the connection has failed: before that the memory is not to be used again. */
  #sent(hold: AnswerHold): void {
    this.#host.answers.release(hold)
    this.#unsentBytes -= bytesOf(hold)
    if (this.#isClosed) return
    this.lastActiveMs = this.#host.clock.now().monotonicMs
    this.#progressAtMs = this.lastActiveMs
    this.#reader.resume()
  }

  /** An answer that came too late: its memory and the files it points into are let go. */
  #release(request: Request): void {
    if (request.answerHold !== undefined) this.#host.answers.release(request.answerHold)
    for (const part of request.answer ?? []) if (!Buffer.isBuffer(part)) (part as FileRange).file.release()
  }
}

function bytesOf({ encodedBytes, otherBytes }: AnswerHold): number {
  return encodedBytes + otherBytes
}

/** Why a connection has broken. That a client breaks off, with an answer on its way perhaps, is the course of things. */
function reasonOf(error: Error | undefined): string | undefined {
  return error instanceof NetworkError && error.code === 'reset' ? undefined : error?.message
}

function frameFault(error: 'negativeLength' | 'tooLarge', length: number, limit: number): string {
  if (error === 'negativeLength') return `it sent a frame of negative length ${length}: no Kafka client does that`
  return `it sent a frame of ${length} bytes; socket.request.max.bytes allows ${limit}`
}
