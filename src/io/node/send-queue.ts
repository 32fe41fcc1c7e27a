import type net from 'node:net'
import { assert } from '../../base/assert.ts'
import type { FileRange } from '../disk.ts'
import { NetworkError } from '../network.ts'
import type { ChunkPool } from './chunk-pool.ts'
import type { NativeCalls } from './native-calls.ts'
import { PendingRange } from './pending-range.ts'
import { RangeSender } from './range-sender.ts'
import { handleOf } from './socket-handle.ts'
import type { TurnQueue } from './turn-queue.ts'

/** Buffers below this are put together before they are written: a copy costs less than one more piece in the call. */
const SMALL_BYTES = 4096
/** Pieces of one write, so that none is refused by the kernel (IOV_MAX is 1024). */
const MAX_PIECES = 512

/** What the connections of one network share for sending. */
export interface SendShared {
  readonly turns: TurnQueue
  readonly chunks: ChunkPool
  readonly native: NativeCalls | undefined
  /** Whether file ranges may go by sendfile. */
  readonly useSendfile: boolean
}

type Sent = (error: Error | undefined) => void

/** The outgoing half of a connection: what is to be sent, in order, and who wants to know when it was. */
export class SendQueue {
  readonly #socket: net.Socket
  readonly #shared: SendShared
  readonly #ranges: RangeSender
  readonly #fail: (error: Error) => void
  #items: (Buffer | PendingRange)[] = []
  #head = 0
  /** Bytes ever given to `send`, and how many of them the kernel has taken. */
  #queuedBytes = 0
  #acceptedBytes = 0
  /** Who is told when the kernel has taken the first `at` bytes. */
  readonly #marks: { at: number; sent: Sent }[] = []
  #isFlushPlanned = false
  #isAbandoned = false
  #whenEmpty: (() => void) | undefined
  readonly #flush = () => {
    this.#isFlushPlanned = false
    this.#pump()
  }

  /** `fail` is called when a file range cannot be sent: the peer cannot tell what is missing, so the connection has to end. */
  constructor(socket: net.Socket, shared: SendShared, fail: (error: Error) => void) {
    this.#socket = socket
    this.#shared = shared
    this.#fail = fail
    this.#ranges = new RangeSender(socket, shared, {
      accepted: bytes => this.#accept(bytes),
      resume: () => this.#pump(),
      fail,
    })
  }

  get unsentBytes(): number {
    return this.#queuedBytes - this.#acceptedBytes
  }

  /** Of a write that is under way, libuv knows what is left: its queue is counted from the total of what it was given. */
  get progress(): number {
    const handle = handleOf(this.#socket)
    if (handle === undefined) return this.#acceptedBytes
    return this.#acceptedBytes + handle.bytesWritten - handle.writeQueueSize
  }

  send(parts: readonly (Buffer | FileRange)[], sent: Sent | undefined): void {
    if (this.#isAbandoned) {
      for (const part of parts) if (!Buffer.isBuffer(part)) part.file.release()
      if (sent !== undefined) this.#shared.turns.next(() => sent(new NetworkError('reset', 'the connection is closed')))
      return
    }
    for (const part of parts) {
      this.#items.push(Buffer.isBuffer(part) ? part : new PendingRange(part, () => this.#failCut(part)))
      this.#queuedBytes += part.length
    }
    if (sent !== undefined) this.#marks.push({ at: this.#queuedBytes, sent })
    if (this.#isFlushPlanned) return
    this.#isFlushPlanned = true
    this.#shared.turns.last(this.#flush)
  }

  /** Calls back once all that was given has been taken by the kernel. */
  whenEmpty(callback: () => void): void {
    assert(this.#whenEmpty === undefined, 'one caller waits for the end of a queue')
    this.#whenEmpty = callback
    if (!this.#isFlushPlanned) this.#pump()
  }

  /** The socket is gone: nothing more will be sent. */
  abandon(error: Error): void {
    this.#isAbandoned = true
    for (const item of this.#items) if (item instanceof PendingRange) item.release()
    this.#items = []
    this.#head = 0
    this.#queuedBytes = this.#acceptedBytes
    for (const { sent } of this.#marks.splice(0)) this.#shared.turns.next(() => sent(error))
  }

  #pump(): void {
    if (this.#isAbandoned || this.#socket.destroyed) return
    while (this.#head < this.#items.length) {
      const item = this.#items[this.#head]!
      if (Buffer.isBuffer(item)) this.#writeBuffers()
      else if (!this.#sendRange(item)) return
    }
    this.#items = []
    this.#head = 0
    this.#tellMarks()
    if (this.unsentBytes === 0) this.#tellEmpty()
  }

  /** Writes the buffers up to the next range in one call. */
  #writeBuffers(): void {
    const pieces: Buffer[] = []
    let small: Buffer[] = []
    let length = 0
    const endSmall = () => {
      if (small.length > 0) pieces.push(small.length === 1 ? small[0]! : Buffer.concat(small))
      small = []
    }
    for (; this.#head < this.#items.length && pieces.length < MAX_PIECES; this.#head++) {
      const item = this.#items[this.#head]
      if (!Buffer.isBuffer(item)) break
      length += item.length
      if (item.length === 0) continue
      if (item.length >= SMALL_BYTES) {
        endSmall()
        pieces.push(item)
      } else small.push(item)
    }
    endSmall()
    this.#write(pieces, length)
  }

  #write(pieces: readonly Buffer[], length: number): void {
    const last = pieces.length - 1
    if (last < 0) return
    const written = (error?: Error | null) => {
      if (error) return
      this.#accept(length)
      this.#pump()
    }
    if (last > 0) this.#socket.cork()
    for (let i = 0; i < last; i++) this.#socket.write(pieces[i]!)
    this.#socket.write(pieces[last]!, written)
    if (last > 0) this.#socket.uncork()
  }

  /** False when it has to wait; it goes on by itself. */
  #sendRange(range: PendingRange): boolean {
    // The native call writes past Node's own queue, so that must be empty. The write that fills it resumes the pump.
    if (this.#socket.writableLength > 0) return false
    if ((handleOf(this.#socket)?.writeQueueSize ?? 0) > 0) {
      this.#shared.turns.next(() => this.#pump())
      return false
    }
    if (!this.#ranges.proceed(range)) return false
    range.release()
    this.#head++
    return true
  }

  #failCut({ file }: FileRange): void {
    this.#fail(new NetworkError('failed', `${file.path} was cut while bytes of it were being sent`))
  }

  #accept(bytes: number): void {
    this.#acceptedBytes += bytes
    this.#tellMarks()
  }

  #tellMarks(): void {
    while (this.#marks.length > 0 && this.#marks[0]!.at <= this.#acceptedBytes) {
      const { sent } = this.#marks.shift()!
      this.#shared.turns.next(() => sent(undefined))
    }
  }

  #tellEmpty(): void {
    const callback = this.#whenEmpty
    this.#whenEmpty = undefined
    callback?.()
  }
}
