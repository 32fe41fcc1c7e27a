import { assert } from '../../base/assert.ts'
import type { FileRange } from '../../io/disk.ts'
import { NetworkError } from '../../io/network.ts'
import type { Life } from './life.ts'
import type { Pipe } from './pipe.ts'
import { type RangeReader, SimulatedFile } from './simulated-file.ts'
import type { Wire } from './wire.ts'

/** The largest piece that is taken at once. */
const MAX_PIECE_BYTES = 65_536

type Sent = (error: Error | undefined) => void

/** A file range in the queue, or what is left of it. It watches its file from the time it was given. */
class QueuedRange implements RangeReader {
  readonly file: SimulatedFile
  readonly endPosition: number
  readonly cut: () => void
  position: number
  readonly #watch: { cancel(): void }
  #isReleased = false

  constructor({ file, position, length }: FileRange, cut: () => void) {
    assert(file instanceof SimulatedFile, 'the file is of this world')
    this.file = file
    this.position = position
    this.endPosition = position + length
    this.cut = cut
    this.#watch = file.watchRange(this)
  }

  get length(): number {
    return this.endPosition - this.position
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#watch.cancel()
    this.file.release()
  }
}

/**
 * What one side of a connection has given to send. The kernel takes it in pieces of drawn sizes as there is room; bytes are
 * looked at only then, so that whoever changes them before `sent` ran is found out.
 */
export class SimulatedSendQueue {
  readonly #life: Life
  readonly #wire: Wire
  readonly #pipe: Pipe
  readonly #fail: (error: Error) => void
  readonly #parts: (Buffer | QueuedRange)[] = []
  readonly #marks: { at: number; sent: Sent }[] = []
  #queuedBytes = 0
  #acceptedBytes = 0
  #isPlanned = false
  #isReading = false
  #isAbandoned = false
  #whenEmpty: (() => void) | undefined

  constructor(life: Life, wire: Wire, pipe: Pipe, fail: (error: Error) => void) {
    this.#life = life
    this.#wire = wire
    this.#pipe = pipe
    this.#fail = fail
  }

  get unsentBytes(): number {
    return this.#queuedBytes - this.#acceptedBytes
  }

  get progress(): number {
    return this.#acceptedBytes
  }

  send(parts: readonly (Buffer | FileRange)[], sent: Sent | undefined): void {
    if (this.#isAbandoned) {
      for (const part of parts) if (!Buffer.isBuffer(part)) part.file.release()
      this.#report(sent, new NetworkError('reset', 'the connection is closed'))
      return
    }
    for (const part of parts) {
      this.#queuedBytes += part.length
      this.#parts.push(Buffer.isBuffer(part) ? part : new QueuedRange(part, () => this.#failCut(part)))
    }
    if (sent !== undefined) this.#marks.push({ at: this.#queuedBytes, sent })
    if (this.#isPlanned) return
    this.#isPlanned = true
    this.#life.nextTurn(() => {
      this.#isPlanned = false
      this.pump()
    })
  }

  /** Calls back once all that was given has been taken. */
  whenEmpty(callback: () => void): void {
    this.#whenEmpty = callback
    if (!this.#isPlanned) this.pump()
  }

  abandon(error: Error): void {
    if (this.#isAbandoned) return
    this.#isAbandoned = true
    for (const part of this.#parts) if (part instanceof QueuedRange) part.release()
    this.#parts.length = 0
    this.#queuedBytes = this.#acceptedBytes
    for (const { sent } of this.#marks.splice(0)) this.#report(sent, error)
  }

  pump(): void {
    while (!this.#isAbandoned && !this.#isReading && this.#parts.length > 0) {
      const part = this.#parts[0]!
      if (part.length > 0 && this.#pipe.room === 0) return
      if (Buffer.isBuffer(part)) this.#takeBytes(part)
      else if (part.length > 0) this.#readRange(part)
      else this.#finishRange(part)
    }
    this.#tellMarks()
    if (this.#parts.length > 0 || this.#isReading) return
    const callback = this.#whenEmpty
    this.#whenEmpty = undefined
    callback?.()
  }

  #takeBytes(part: Buffer): void {
    const length = this.#pieceLength(part.length)
    if (length > 0) this.#accept(Buffer.from(part.subarray(0, length)))
    if (length === part.length) this.#parts.shift()
    else this.#parts[0] = part.subarray(length)
  }

  #readRange(range: QueuedRange): void {
    this.#isReading = true
    const length = this.#pieceLength(range.length)
    range.file.read(range.position, length).then(
      bytes => {
        this.#isReading = false
        if (this.#isAbandoned) return
        if (bytes.length < length) this.#failCut(range)
        else {
          range.position += length
          this.#accept(bytes)
          this.pump()
        }
      },
      error => {
        this.#isReading = false
        if (!this.#isAbandoned) this.#fail(error)
      },
    )
  }

  #finishRange(range: QueuedRange): void {
    range.release()
    this.#parts.shift()
  }

  #pieceLength(left: number): number {
    const most = Math.min(left, this.#pipe.room, MAX_PIECE_BYTES)
    if (most <= 1) return most
    return this.#wire.random.chance(this.#wire.settings.tinyPieceChance)
      ? 1
      : this.#wire.random.between(most >> 1, most)
  }

  #accept(bytes: Buffer): void {
    this.#acceptedBytes += bytes.length
    this.#pipe.transmit(bytes)
  }

  #tellMarks(): void {
    while (this.#marks.length > 0 && this.#marks[0]!.at <= this.#acceptedBytes)
      this.#report(this.#marks.shift()!.sent, undefined)
  }

  #report(sent: Sent | undefined, error: Error | undefined): void {
    if (sent !== undefined) this.#life.nextTurn(() => sent(error))
  }

  #failCut({ file }: { file: { path: string } }): void {
    this.#fail(new NetworkError('failed', `${file.path} was cut while bytes of it were being sent`))
  }
}
