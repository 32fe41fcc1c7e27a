import { assert } from '../base/assert.ts'
import type { Clock } from '../io/clock.ts'
import { type DiskError, expectDiskError } from '../io/disk.ts'
import type { OpenFiles } from './open-files.ts'
import type { Segment, SegmentMark } from './segment.ts'

/** Batches that go to one segment in one call, and what the log looked like before them. */
export interface Write {
  readonly segment: Segment
  readonly mark: SegmentMark
  readonly fromOffset: number
  readonly latestEpoch: number
  endOffset: number
  parts: Buffer[]
  byteLength: number
}

export interface WriterOwner {
  /** Writes complete in the order of their offsets. */
  writeCompleted(write: Write): void
  /** The file of a new segment has been made. */
  fileCreated(): void
  /** This write has failed and so have all after it; nothing is in flight any more. */
  writesFailed(first: Write, error: DiskError): void
}

/** Writes what a turn has gathered, for all logs of a broker with one callback. */
export class WriteTurn {
  readonly #clock: Clock
  #writers: LogWriter[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(writer: LogWriter): void {
    this.#writers.push(writer)
    if (this.#writers.length === 1) this.#clock.nextTurn(() => this.#run())
  }

  later(callback: () => void): void {
    this.#clock.nextTurn(callback)
  }

  #run(): void {
    const writers = this.#writers
    this.#writers = []
    for (const writer of writers) writer.turnEnded()
  }
}

/** Bytes that one log gathers in a turn before it writes them. */
export const maxGatheredBytes = 64 * 1024

/**
 * Brings the batches of one log to the disk in order. Small ones are gathered until the turn ends; a large one is written
 * at once, with what was gathered before it. The file of a new segment is not touched before all writes to the one before
 * it are complete: then a failure never has to undo more than one file.
 */
export class LogWriter {
  readonly #owner: WriterOwner
  readonly #turn: WriteTurn
  readonly #openFiles: OpenFiles
  #gathering: Write | undefined
  readonly #inFlight: Write[] = []
  /** They wait for the writes in flight, which go to an earlier segment. */
  readonly #waiting: Write[] = []
  #failure: DiskError | undefined
  #isInTurn = false

  constructor(owner: WriterOwner, turn: WriteTurn, openFiles: OpenFiles) {
    this.#owner = owner
    this.#turn = turn
    this.#openFiles = openFiles
  }

  get isIdle(): boolean {
    return this.#gathering === undefined && this.#inFlight.length === 0 && this.#waiting.length === 0
  }

  /** Bytes that were gathered have not been given to a file yet, which copies what it does not write at once. */
  get hasUnwritten(): boolean {
    return this.#gathering !== undefined || this.#waiting.length > 0
  }

  /** A write failed, and others that were in flight with it have not been answered yet: nothing more may be appended. */
  get isFailing(): boolean {
    return this.#failure !== undefined
  }

  /** The write that the next batches belong to. Asked for before they are noted anywhere: it remembers what was before. */
  begin(segment: Segment, fromOffset: number, latestEpoch: number): Write {
    if (this.#gathering !== undefined) return this.#gathering
    const mark = segment.mark()
    return { segment, mark, fromOffset, latestEpoch, endOffset: fromOffset, parts: [], byteLength: 0 }
  }

  /** Batches that stay valid; they are written when the turn ends, with those that follow. */
  gather(write: Write, bytes: Buffer): void {
    write.parts.push(bytes)
    write.byteLength += bytes.length
    this.#gathering = write
    if (this.#isInTurn) return
    this.#isInTurn = true
    this.#turn.add(this)
  }

  /** The log is given up: what has not begun is not written, for its file may be another log's by then. */
  abandon(): void {
    this.#gathering = undefined
    this.#waiting.length = 0
  }

  /** Batches that are valid only until this returns. */
  writeNow(write: Write, bytes: Buffer): void {
    this.#gathering = undefined
    write.parts.push(this.#mustWait(write) ? Buffer.from(bytes) : bytes)
    write.byteLength += bytes.length
    this.#submit(write)
  }

  /** The next batch goes to a new segment, or somebody waits: what was gathered is written. */
  writeGathered(): void {
    const write = this.#gathering
    this.#gathering = undefined
    if (write !== undefined) this.#submit(write)
  }

  turnEnded(): void {
    this.#isInTurn = false
    this.writeGathered()
  }

  #mustWait(write: Write): boolean {
    if (this.#waiting.length > 0 || this.#failure !== undefined) return true
    return this.#inFlight.length > 0 && this.#inFlight[0].segment !== write.segment
  }

  #submit(write: Write): void {
    if (this.#mustWait(write)) this.#waiting.push(write)
    else this.#start(write)
  }

  #start(write: Write): void {
    this.#inFlight.push(write)
    write.segment.appendsInFlight++
    try {
      const file = this.#openFiles.use(write.segment)
      if (!write.segment.isOnDisk) this.#owner.fileCreated()
      write.segment.isOnDisk = true
      write.segment.hasUnsyncedWrites = true
      // The file stays open until the append is over, also when the log is given up meanwhile.
      file.retain()
      file.append(write.parts, error => {
        file.release()
        this.#completed(write, error)
      })
    } catch (error) {
      expectDiskError(error)
      // As if the disk had said so later: nobody expects a failure within the call that appended.
      this.#failure = error
      this.#turn.later(() => this.#completed(write, error))
    }
    write.parts = []
  }

  #completed(write: Write, error: DiskError | undefined): void {
    assert(this.#inFlight.includes(write), 'a write completes once')
    write.segment.appendsInFlight--
    if (error === undefined && this.#failure === undefined) {
      assert(this.#inFlight[0] === write, 'writes complete in order')
      this.#inFlight.shift()
      this.#owner.writeCompleted(write)
      if (this.#inFlight.length === 0) this.#startWaiting()
      return
    }
    this.#failure ??= error
    if (write.segment.appendsInFlight === 0) this.#fail()
  }

  #startWaiting(): void {
    while (
      this.#waiting.length > 0 &&
      !(this.#inFlight.length > 0 && this.#inFlight[0].segment !== this.#waiting[0].segment)
    ) {
      this.#start(this.#waiting.shift() as Write)
    }
  }

  #fail(): void {
    const first = this.#inFlight[0]
    const error = this.#failure as DiskError
    this.#inFlight.length = 0
    this.#waiting.length = 0
    this.#gathering = undefined
    this.#failure = undefined
    this.#owner.writesFailed(first, error)
  }
}
