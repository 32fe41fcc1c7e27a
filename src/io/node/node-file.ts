import fs from 'node:fs'
import { assert } from '../../base/assert.ts'
import { DiskError, type DiskFile } from '../disk.ts'
import { AppendBatch, type AppendDone, type CopySlabs } from './append-batch.ts'
import type { AppendPace } from './append-pace.ts'
import { orDiskError, promised, toDiskError } from './disk-errors.ts'
import type { Slots } from './slots.ts'
import type { TurnQueue } from './turn-queue.ts'

/** What the files of one disk share. */
export interface DiskShared {
  readonly turns: TurnQueue
  readonly pace: AppendPace
  readonly copies: CopySlabs
  readonly reads: Slots
  readonly syncs: Slots
  readonly appends: Slots
}

/** Written at once in the loop when the pool has become fast: a few milliseconds' worth. */
const MAX_CATCH_UP_BYTES = 16 << 20

/** Somebody who is sending bytes of a file. */
export interface RangeReader {
  readonly endPosition: number
  /** The file was cut below the end of the range. */
  cut(): void
}

export class NodeFile implements DiskFile {
  readonly path: string
  readonly #shared: DiskShared
  readonly #descriptor: number
  #references = 1
  #sizeBytes: number
  /** Bytes that are in the file: all but what waits for the pool. */
  #writtenBytes: number
  /** Set by a failed append: what the file ends with is unknown until the caller has cut it. */
  #isBroken = false
  /** What waits for the write that the pool is at. */
  #waiting: AppendBatch
  #isPoolWriting = false
  /** Appends whose `done` has not run. */
  #inFlight = 0
  #runningSync: Promise<void> | undefined
  #nextSync: Promise<void> | undefined
  readonly #rangeReaders = new Set<RangeReader>()
  /** The file system cannot say what it has in memory (tmpfs cannot): sending then takes the risk of waiting for it. */
  cannotTellMemory = false

  constructor(shared: DiskShared, path: string, opened: { descriptor: number; sizeBytes: number }) {
    this.#shared = shared
    this.path = path
    this.#descriptor = opened.descriptor
    this.#sizeBytes = opened.sizeBytes
    this.#writtenBytes = opened.sizeBytes
    this.#waiting = new AppendBatch(shared.copies)
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Of the open file. To be asked for anew whenever it is used: the number means another file once this one is closed. */
  get descriptor(): number {
    assert(this.#references > 0, 'a closed file has no descriptor')
    return this.#descriptor
  }

  append(parts: readonly Buffer[], done: AppendDone): void {
    assert(this.#references > 0, 'appends go to an open file')
    let length = 0
    for (const part of parts) length += part.length
    this.#sizeBytes += length
    this.#inFlight++
    if (this.#isPoolWriting || (this.#shared.pace.isSlow && !this.#isBroken)) this.#appendInPool(parts, done)
    else this.#completeInTurn(done, this.#isBroken ? this.#failedBefore() : this.#appendInLoop(parts, length))
  }

  async read(position: number, length: number): Promise<Buffer> {
    const target = Buffer.allocUnsafeSlow(length)
    return target.subarray(0, await this.readInto(position, target))
  }

  async readInto(position: number, target: Buffer): Promise<number> {
    let filled = 0
    this.retain()
    try {
      while (filled < target.length) {
        const count = await this.#readSome(target, filled, position + filled)
        if (count === 0) break
        filled += count
      }
    } finally {
      this.release()
    }
    return filled
  }

  readNow(position: number, target: Buffer): number {
    return orDiskError('read', this.path, () => {
      let filled = 0
      while (filled < target.length) {
        const count = fs.readSync(this.descriptor, target, filled, target.length - filled, position + filled)
        if (count === 0) break
        filled += count
      }
      return filled
    })
  }

  async write(position: number, bytes: Buffer): Promise<void> {
    const copy = Buffer.from(bytes)
    this.retain()
    try {
      let written = 0
      while (written < copy.length)
        written += await promised<number>('write', this.path, callback =>
          fs.write(this.descriptor, copy, written, copy.length - written, position + written, callback),
        )
      this.#sizeBytes = Math.max(this.#sizeBytes, position + copy.length)
      this.#writtenBytes = Math.max(this.#writtenBytes, position + copy.length)
    } finally {
      this.release()
    }
  }

  /** One at a time: all that ask while one runs share the next, which covers what each of them has completed. */
  sync(): Promise<void> {
    if (this.#runningSync === undefined) {
      this.#runningSync = this.#startSync()
      return this.#runningSync
    }
    this.#nextSync ??= this.#runningSync.then(ignore, ignore).then(() => {
      this.#nextSync = undefined
      this.#runningSync = this.#startSync()
      return this.#runningSync
    })
    return this.#nextSync
  }

  truncate(sizeBytes: number): void {
    assert(this.#inFlight === 0, 'no append is in flight when a file is cut')
    orDiskError('truncate', this.path, () => fs.ftruncateSync(this.descriptor, sizeBytes))
    this.#sizeBytes = sizeBytes
    this.#writtenBytes = sizeBytes
    this.#isBroken = false
    for (const reader of [...this.#rangeReaders]) if (reader.endPosition > sizeBytes) reader.cut()
  }

  retain(): void {
    assert(this.#references > 0, 'a closed file is not retained')
    this.#references++
  }

  release(): void {
    assert(this.#references > 0, 'a file is released once for each reference')
    this.#references--
    // In the pool: with the last reference to a removed file its blocks are freed, which takes long for a large one.
    if (this.#references === 0) fs.close(this.#descriptor, assertWasOpen)
  }

  /** For the network: tells when bytes that are being sent are cut off. */
  watchRange(reader: RangeReader): void {
    this.#rangeReaders.add(reader)
  }

  unwatchRange(reader: RangeReader): void {
    this.#rangeReaders.delete(reader)
  }

  #appendInLoop(parts: readonly Buffer[], length: number): DiskError | undefined {
    const error = this.#writeInLoop(parts, length)
    if (error === undefined) this.#writtenBytes += length
    else this.#isBroken = true
    return error
  }

  #writeInLoop(parts: readonly Buffer[], length: number): DiskError | undefined {
    const startMs = performance.now()
    try {
      if (length > 0) writeWhole(this.#descriptor, parts, this.#writtenBytes)
    } catch (error) {
      return toDiskError(error, 'append', this.path)
    } finally {
      const endMs = performance.now()
      this.#shared.pace.tookInLoop(endMs - startMs, length, endMs)
    }
    return undefined
  }

  #appendInPool(parts: readonly Buffer[], done: AppendDone): void {
    this.#waiting.add(parts, done)
    if (!this.#isPoolWriting) this.#writeInPool()
  }

  /** Writes all that has gathered. */
  #writeInPool(): void {
    this.#isPoolWriting = true
    this.retain()
    this.#shared.appends.run(end => {
      const batch = this.#takeWaiting()
      const startMs = performance.now()
      writeWholeInPool(this.#descriptor, batch.parts, this.#writtenBytes, error => {
        end()
        this.release()
        this.#isPoolWriting = false
        this.#shared.pace.tookInPool(performance.now() - startMs, batch.byteCount)
        this.#finishBatch(batch, error && toDiskError(error, 'append', this.path))
        if (!this.#waiting.isEmpty) this.#goOn()
      })
    })
  }

  /**
   * With what came in while the pool wrote. Once writes are fast again it is written here, and the next append finds the
   * pool idle; under steady load there would always be something that waits.
   */
  #goOn(): void {
    if (this.#isBroken) this.#finishBatch(this.#takeWaiting(), this.#failedBefore())
    else if (this.#shared.pace.isSlow || this.#waiting.byteCount > MAX_CATCH_UP_BYTES) this.#writeInPool()
    else {
      const batch = this.#takeWaiting()
      this.#finishBatch(batch, this.#writeInLoop(batch.parts, batch.byteCount))
    }
  }

  #takeWaiting(): AppendBatch {
    const batch = this.#waiting
    this.#waiting = new AppendBatch(this.#shared.copies)
    return batch
  }

  #finishBatch(batch: AppendBatch, error: DiskError | undefined): void {
    batch.release()
    if (error === undefined) this.#writtenBytes += batch.byteCount
    else this.#isBroken = true
    for (const done of batch.dones) this.#completeInTurn(done, error)
  }

  #completeInTurn(done: AppendDone, error: DiskError | undefined): void {
    this.#shared.turns.next(() => {
      this.#inFlight--
      done(error)
    })
  }

  #readSome(target: Buffer, filled: number, position: number): Promise<number> {
    return promised('read', this.path, callback =>
      this.#shared.reads.run(end =>
        fs.read(this.descriptor, target, filled, target.length - filled, position, (error, count) => {
          end()
          callback(error, count)
        }),
      ),
    )
  }

  #startSync(): Promise<void> {
    this.retain()
    const synced = promised<void>('sync', this.path, callback =>
      this.#shared.syncs.run(end =>
        fs.fdatasync(this.descriptor, error => {
          end()
          callback(error)
        }),
      ),
    )
    const settle = () => {
      if (this.#nextSync === undefined) this.#runningSync = undefined
      this.release()
    }
    synced.then(settle, settle)
    return synced
  }

  #failedBefore(): DiskError {
    return new DiskError(
      'io',
      'append',
      this.path,
      new Error('an earlier append failed and the file was not cut since'),
    )
  }
}

function ignore(): void {}

/** Other errors are of earlier writes, which a sync has reported or nobody has asked about. */
function assertWasOpen(error: NodeJS.ErrnoException | null | undefined): void {
  assert(error?.code !== 'EBADF', 'a descriptor is closed once')
}

/** Writes all parts at `position`, however many calls it takes. */
function writeWhole(descriptor: number, parts: readonly Buffer[], position: number): void {
  const [first] = parts
  let written =
    parts.length === 1 && first !== undefined
      ? fs.writeSync(descriptor, first, 0, first.length, position)
      : fs.writevSync(descriptor, parts as Buffer[], position)
  for (let rest = withoutFirst(parts, written); rest.length > 0; rest = withoutFirst(parts, written))
    written += fs.writevSync(descriptor, rest, position + written)
}

/** As `writeWhole`, in the thread pool. */
function writeWholeInPool(
  descriptor: number,
  parts: readonly Buffer[],
  position: number,
  done: (error: Error | undefined) => void,
): void {
  fs.writev(descriptor, parts as Buffer[], position, (error, written) => {
    if (error) return done(error)
    const rest = withoutFirst(parts, written)
    if (rest.length === 0) done(undefined)
    else writeWholeInPool(descriptor, rest, position + written, done)
  })
}

/** What is left of the parts after their first bytes. */
function withoutFirst(parts: readonly Buffer[], bytes: number): Buffer[] {
  let left = bytes
  const rest: Buffer[] = []
  for (const part of parts) {
    if (left < part.length) rest.push(part.subarray(left))
    left = Math.max(0, left - part.length)
  }
  return rest
}
