import { assert } from '../../base/assert.ts'
import type { Lease } from '../../base/lease.ts'
import type { Now } from '../../base/time.ts'
import type { FileRange } from '../../io/disk.ts'
import { encodeResponse, type RequestHeader } from '../../protocol/frames.ts'
import { EncodeError } from '../../protocol/protocol-error.ts'
import type { Fields, Input, Message } from '../../protocol/schema.ts'
import type { Written } from '../../protocol/writer.ts'
import type { AnswerHold, AnswerMemory } from './answer-memory.ts'

/** What a request needs of the connection it came by. */
export interface RequestOwner {
  readonly remoteAddress: string
  readonly listenerName: string
  /** The port the client has reached us by. */
  readonly localPort: number
  readonly answers: AnswerMemory
  /** Name and version that the client gave in ApiVersions. */
  clientSoftware: { readonly name: string; readonly version: string }
  /** The answer stands, or there will be none: everything that is ready, in order, is sent. */
  answered(request: Request): void
  /** Inside the handler's call only: the request's frame, in memory that outlives the call. */
  keepFrame(): Lease
  /** Says in the log what was wrong with a request: of one kind, of which the text tells no figures, one a second. */
  warn(problem: string, kind: string): void
  destroy(reason: string): void
}

export interface Abandonable {
  abandon(): void
}

/**
 * One request on its way through the broker. It is answered exactly once, with `reply` or `replyNothing`, now or later.
 * `body` may be read only until the handler returns; what `keep` gave, until the answer is given.
 */
export class Request {
  readonly owner: RequestOwner
  readonly header: RequestHeader
  /** The frame behind its header. */
  readonly body: Buffer
  readonly receivedAt: Now
  /** What will be sent; undefined until the answer stands. An empty list means that nothing is sent. */
  answer: readonly (Buffer | FileRange)[] | undefined
  answerBytes = 0
  /** What the answer keeps in memory; whoever sends or drops it releases that. */
  answerHold: AnswerHold | undefined
  /** The code the metrics count this request under. */
  errorCode = 0
  throttleTimeMs = 0
  /**
   * Told when the connection goes before the answer stands. An object and not a closure: with one, the young collector has been
   * seen to keep every fetch that ever waited until the next full collection.
   */
  waiting: Abandonable | undefined
  #lease: Lease | undefined
  #pins = 0

  constructor(owner: RequestOwner, header: RequestHeader, body: Buffer, receivedAt: Now) {
    this.owner = owner
    this.header = header
    this.body = body
    this.receivedAt = receivedAt
  }

  get apiVersion(): number {
    return this.header.apiVersion
  }

  get clientId(): string {
    return this.header.clientId
  }

  /** Inside the handler's call: a part of `body`, where it stays valid until the answer is given. It may have to move. */
  keep(part: Buffer): Buffer {
    const { body } = this
    assert(part.buffer === body.buffer, 'what is kept is a part of the body')
    this.#lease ??= this.owner.keepFrame()
    const frame = this.#lease.bytes
    const at = frame.length - body.length + part.byteOffset - body.byteOffset
    return frame.subarray(at, at + part.length)
  }

  /**
   * For another thread that reads what was kept: it stays until the returned function is called, though the answer may be
   * given before. That function may be called again.
   */
  pin(): () => void {
    assert(this.#lease !== undefined, 'what is pinned was kept')
    this.#pins++
    let isPinned = true
    return () => {
      if (!isPinned) return
      isPinned = false
      this.#pins--
      this.#releaseKept()
    }
  }

  #releaseKept(): void {
    if (this.answer === undefined || this.#pins > 0) return
    this.#lease?.release()
    this.#lease = undefined
  }

  /** `bodyVersion` differs from the request's only where ApiVersions answers a version that it does not know. */
  reply<F extends Fields>(message: Message<F>, value: Input<Message<F>>, bodyVersion = this.apiVersion): void {
    this.#reply(message, value, bodyVersion, false)
  }

  /** As `reply`, where the bytes in `value` were copied for this answer: they are freed when it was sent. */
  replyOwning<F extends Fields>(message: Message<F>, value: Input<Message<F>>): void {
    this.#reply(message, value, this.apiVersion, true)
  }

  #reply<F extends Fields>(message: Message<F>, value: Input<Message<F>>, bodyVersion: number, isOwner: boolean): void {
    assert(this.answer === undefined, 'a request is answered once')
    const { writer } = this.owner.answers
    const header = { apiVersion: bodyVersion, correlationId: this.header.correlationId }
    let written: Written
    try {
      written = encodeResponse(writer, header, message, value)
    } catch (error) {
      writer.abandon()
      if (!(error instanceof EncodeError)) throw error
      // The fault is ours and concerns this answer only.
      this.closeConnection(
        `its request ${this.header.apiKey} v${bodyVersion} has an answer that cannot be written: ${error.message}`,
      )
      return
    }
    const parts = written.parts as readonly (Buffer | FileRange)[]
    this.answerHold = this.owner.answers.hold(parts, isOwner)
    this.#answer(parts, written.byteLength)
  }

  replyNothing(): void {
    assert(this.answer === undefined, 'a request is answered once')
    this.#answer([], 0)
  }

  /** For requests that have no answer but this: the connection ends, and the log says why. */
  closeConnection(reason: string): void {
    this.owner.destroy(reason)
    if (this.answer === undefined) this.#answer([], 0)
  }

  #answer(parts: readonly (Buffer | FileRange)[], byteLength: number): void {
    this.answer = parts
    this.answerBytes = byteLength
    this.#releaseKept()
    this.owner.answered(this)
  }

  /**
   * The connection has gone before the answer, which will not be sent. What was kept stays until the answer all the same: a
   * batch may be waiting in a partition, and other bytes in its place would be stored as if they were its.
   */
  abandon(): void {
    if (this.answer === undefined) this.waiting?.abandon()
  }
}
