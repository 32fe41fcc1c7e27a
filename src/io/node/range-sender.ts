import type net from 'node:net'
import { NetworkError } from '../network.ts'
import type { NativeCalls } from './native-calls.ts'
import type { PendingRange } from './pending-range.ts'
import type { SendShared } from './send-queue.ts'
import { handleOf } from './socket-handle.ts'

/** One call of sendfile, and what is looked for in memory before it. */
const STEP_BYTES = 1024 * 1024
/** How far apart it is looked: what lies between was read or written together with one of the ends. */
const LOOK_BYTES = 256 * 1024
/** One connection's share of a turn. */
const TURN_BYTES = 2 * 1024 * 1024
/** Written through Node when the socket is full, to be told when it is not. */
const PROBE_BYTES = 4096
/** Refusals in a row after which sendfile is not tried again on this connection: it is no longer about a full socket. */
const MAX_REFUSALS = 16

export interface RangeEvents {
  /** The kernel has taken this many bytes more. */
  accepted(bytes: number): void
  /** After a `proceed` that had to wait: try again. */
  resume(): void
  fail(error: Error): void
}

/**
 * Sends file ranges of one connection, one after the other: by sendfile where it can and what is in memory, or else in
 * chunks that are read, by the pool unless they are known to be in memory, and written. Between two steps anything may have
 * happened to file and socket, so both are asked for their descriptors at every step.
 */
export class RangeSender {
  readonly #socket: net.Socket
  readonly #shared: SendShared
  readonly #events: RangeEvents
  /** A read or write is on its way that will call `resume`. */
  #isWaiting = false
  #refusals = 0

  constructor(socket: net.Socket, shared: SendShared, events: RangeEvents) {
    this.#socket = socket
    this.#shared = shared
    this.#events = events
  }

  /** Sends what the socket takes now, of a range that is the first in its queue. True when it is finished. */
  proceed(range: PendingRange): boolean {
    if (this.#isWaiting) return false
    let allowance = TURN_BYTES
    while (range.left > 0) {
      const handle = handleOf(this.#socket)
      if (handle === undefined) return false
      const { native, useSendfile } = this.#shared
      const length = Math.min(range.left, STEP_BYTES)
      if (native === undefined || !isInMemory(native, range, length)) return this.#copyThroughPool(range)
      if (!useSendfile || this.#refusals > MAX_REFUSALS) return this.#copyNow(range)
      if (allowance <= 0) return this.#continueNextTurn()
      const count = native.sendfile(handle.fd, range.file.descriptor, range.position, length)
      if (count <= 0) return this.#waitUntilWritable(range)
      this.#refusals = 0
      allowance -= count
      range.advance(count)
      this.#events.accepted(count)
    }
    return true
  }

  #continueNextTurn(): false {
    this.#isWaiting = true
    this.#shared.turns.next(() => this.#resume())
    return false
  }

  #copyThroughPool(range: PendingRange): false {
    this.#isWaiting = true
    const chunk = this.#shared.chunks.take()
    const target = chunk.subarray(0, Math.min(range.left, chunk.length))
    range.file.readInto(range.position, target).then(
      count => {
        if (!range.isReleased) this.#lookAgain(range)
        this.#writeChunk(range, chunk, target, count)
      },
      error => {
        this.#shared.chunks.giveBack(chunk, true)
        this.#events.fail(error)
      },
    )
    return false
  }

  /** What was read a moment ago is in memory, or else this file system never says so. */
  #lookAgain(range: PendingRange): void {
    const { native } = this.#shared
    if (native !== undefined && !native.isInMemory(range.file.descriptor, range.position))
      range.file.cannotTellMemory = true
  }

  #copyNow(range: PendingRange): false {
    this.#isWaiting = true
    const chunk = this.#shared.chunks.take()
    const target = chunk.subarray(0, Math.min(range.left, chunk.length))
    this.#writeChunk(range, chunk, target, this.#readNow(range, target))
    return false
  }

  #writeChunk(range: PendingRange, chunk: Buffer, target: Buffer, count: number): void {
    const { chunks } = this.#shared
    if (range.isReleased || count < target.length) {
      chunks.giveBack(chunk, true)
      if (!range.isReleased) this.#events.fail(cutRange(range))
      return
    }
    range.advance(count)
    this.#socket.write(target, error => {
      chunks.giveBack(chunk, !error)
      if (error) return
      this.#events.accepted(count)
      this.#resume()
    })
  }

  /** The socket is full, or the native call does not work here: a write through Node answers when there is room, or why not. */
  #waitUntilWritable(range: PendingRange): false {
    this.#refusals++
    this.#isWaiting = true
    const target = Buffer.allocUnsafe(Math.min(range.left, PROBE_BYTES))
    if (this.#readNow(range, target) < target.length) {
      this.#events.fail(cutRange(range))
      return false
    }
    range.advance(target.length)
    this.#socket.write(target, error => {
      if (error) return
      this.#events.accepted(target.length)
      this.#resume()
    })
    return false
  }

  /** Bytes that are in memory; -1 when they cannot be read, which the caller takes for too few. */
  #readNow(range: PendingRange, target: Buffer): number {
    try {
      return range.file.readNow(range.position, target)
    } catch {
      return -1
    }
  }

  #resume(): void {
    this.#isWaiting = false
    this.#events.resume()
  }
}

function isInMemory(native: NativeCalls, range: PendingRange, length: number): boolean {
  if (range.file.cannotTellMemory) return true
  const { descriptor } = range.file
  for (let at = 0; at < length; at += LOOK_BYTES) if (!native.isInMemory(descriptor, range.position + at)) return false
  return native.isInMemory(descriptor, range.position + length - 1)
}

function cutRange(range: PendingRange): NetworkError {
  return new NetworkError('failed', `${range.file.path} ends before byte ${range.endPosition}, which was to be sent`)
}
