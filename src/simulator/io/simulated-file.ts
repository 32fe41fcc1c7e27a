import { assert } from '../../base/assert.ts'
import { DiskError, type DiskFile } from '../../io/disk.ts'
import type { FileNode } from './directory-tree.ts'
import type { DiskOperation } from './disk-faults.ts'
import type { Life } from './life.ts'
import type { SeededRandom } from './seeded-random.ts'
import type { SimulatedDisk, UnwrittenBytes } from './simulated-disk.ts'

const APPEND_US = 60
const POOLED_APPEND_US = 2000
const READ_US = 300
const SYNC_US = 4000

interface QueuedAppend {
  readonly bytes: Buffer
  readonly done: (error: DiskError | undefined) => void
  /** False while the bytes have not reached the page cache. */
  isWritten: boolean
  error: DiskError | undefined
}

/** Somebody who is sending bytes of a file. */
export interface RangeReader {
  readonly endPosition: number
  /** The file was cut below the end of the range. */
  cut(): void
}

export class SimulatedFile implements DiskFile, UnwrittenBytes {
  readonly path: string
  readonly #disk: SimulatedDisk
  readonly #life: Life
  readonly #node: FileNode
  #references = 1
  #sizeBytes: number
  /** Set by a failed append: the end of the file is unknown until the caller has cut it. */
  #isBroken = false
  readonly #queue: QueuedAppend[] = []
  readonly #rangeReaders = new Set<RangeReader>()
  #lastCompletionUs = 0

  constructor(disk: SimulatedDisk, life: Life, node: FileNode, path: string) {
    this.#disk = disk
    this.#life = life
    this.#node = node
    this.path = path
    this.#sizeBytes = node.content.sizeBytes
    disk.openFiles++
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  append(parts: readonly Buffer[], done: (error: DiskError | undefined) => void): void {
    if (!this.#life.isAlive) return
    assert(this.#references > 0, 'appends go to an open file')
    const append: QueuedAppend = { bytes: Buffer.concat(parts), done, isWritten: false, error: undefined }
    this.#sizeBytes += append.bytes.length
    const isFirst = this.#queue.every(earlier => earlier.isWritten)
    this.#queue.push(append)
    this.#disk.unwritten.add(this)
    const atOnce = isFirst && this.#disk.random.chance(0.7)
    if (atOnce) this.#write(append)
    const afterUs = this.#disk.completionUs(atOnce ? APPEND_US : POOLED_APPEND_US)
    const now = this.#life.scheduler.timeUs
    this.#lastCompletionUs = Math.max(this.#lastCompletionUs, now + afterUs)
    // Each of these events completes the append that is first by then, so that order holds whatever they are drawn.
    this.#life.schedule('disk append', this.#lastCompletionUs - now, () => this.#completeFirstAppend())
  }

  async read(position: number, length: number): Promise<Buffer> {
    return this.#later('read', READ_US, () => Buffer.from(this.#node.content.cached.view(position, length)))
  }

  async readInto(position: number, target: Buffer): Promise<number> {
    const bytes = await this.read(position, target.length)
    return bytes.copy(target)
  }

  readNow(position: number, target: Buffer): number {
    this.#life.assertAlive()
    assert(this.#references > 0, 'reads go to an open file')
    const error = this.#disk.faults.decide('read', this.path, this.#disk.random)
    if (error !== undefined) throw error
    return this.#node.content.cached.view(position, target.length).copy(target)
  }

  write(position: number, bytes: Buffer): Promise<void> {
    const copy = Buffer.from(bytes)
    return this.#later('write', POOLED_APPEND_US, () => {
      this.#node.content.write(this.#life.scheduler.timeUs, position, copy)
      this.#sizeBytes = Math.max(this.#sizeBytes, position + copy.length)
      this.#noteCompletedChange()
    })
  }

  sync(): Promise<void> {
    const covered = this.#node.completedChanges
    const sync = () => this.#node.content.syncThrough(covered)
    const fail = () => this.#node.content.failSyncThrough(covered, this.#disk.random)
    return this.#later('sync', SYNC_US, sync, fail)
  }

  truncate(sizeBytes: number): void {
    this.#life.assertAlive()
    assert(this.#references > 0, 'only an open file is cut')
    assert(this.#queue.length === 0, 'no append is in flight when a file is cut')
    const error = this.#disk.faults.decide('truncate', this.path, this.#disk.random)
    if (error !== undefined) throw error
    this.#disk.faults.freeBytes += this.#node.content.sizeBytes - sizeBytes
    this.#node.content.truncate(this.#life.scheduler.timeUs, sizeBytes)
    this.#sizeBytes = sizeBytes
    this.#isBroken = false
    this.#noteCompletedChange()
    for (const reader of this.#rangeReaders) if (reader.endPosition > sizeBytes) reader.cut()
  }

  retain(): void {
    assert(this.#references > 0, 'a closed file is not retained')
    this.#references++
  }

  release(): void {
    assert(this.#references > 0, 'a file is released once for each reference')
    this.#references--
    if (this.#references === 0 && this.#life.isAlive) this.#disk.openFiles--
  }

  /** For the network: tells when bytes that are being sent are cut off. */
  watchRange(reader: RangeReader): { cancel(): void } {
    this.#rangeReaders.add(reader)
    return { cancel: () => void this.#rangeReaders.delete(reader) }
  }

  /** What a process crash leaves of appends that were with the thread pool: the first bytes, as many as it happened. */
  writeSome(random: SeededRandom): void {
    if (this.#isBroken) return
    for (const append of this.#queue) {
      if (append.isWritten || append.error !== undefined) continue
      const isWhole = random.chance(0.5)
      const length = isWhole ? append.bytes.length : random.between(0, append.bytes.length)
      this.#put(append.bytes.subarray(0, length))
      if (!isWhole) return
    }
  }

  #write(append: QueuedAppend): void {
    append.isWritten = true
    append.error = this.#isBroken
      ? this.#failedBefore()
      : this.#disk.faults.decide('append', this.path, this.#disk.random)
    const isFull = append.error === undefined && append.bytes.length > this.#disk.faults.freeBytes
    if (isFull) append.error = new DiskError('noSpace', 'append', this.path)
    if (append.error === undefined) {
      this.#put(append.bytes)
      return
    }
    const mayBePartial = !this.#isBroken && append.error.code !== 'readOnly'
    this.#isBroken = true
    const room = Math.min(append.bytes.length, Math.max(0, this.#disk.faults.freeBytes))
    if (mayBePartial && room > 0) this.#put(append.bytes.subarray(0, this.#disk.random.below(room)))
  }

  #put(bytes: Buffer): void {
    const content = this.#node.content
    content.write(this.#life.scheduler.timeUs, content.sizeBytes, bytes)
    this.#disk.faults.freeBytes -= bytes.length
    this.#disk.changed(this.#node)
    this.#life.scheduler.trace.recordBytes(bytes)
  }

  #completeFirstAppend(): void {
    const append = this.#queue[0]
    assert(append !== undefined, 'there is one completion for each append')
    if (!append.isWritten) this.#write(append)
    this.#queue.shift()
    if (this.#queue.length === 0) this.#disk.unwritten.delete(this)
    // Later appends may have reached the cache already; a sync may cover them too, but does not promise to.
    if (append.error === undefined) this.#noteCompletedChange()
    append.done(append.error)
  }

  #noteCompletedChange(): void {
    this.#disk.changed(this.#node)
    this.#node.noteCompletedChanges()
  }

  #failedBefore(): DiskError {
    return new DiskError(
      'io',
      'append',
      this.path,
      new Error('an earlier append failed and the file was not cut since'),
    )
  }

  /** `act` runs when the time has come, or `fail` when a fault was drawn. Never settles when the life ends before. */
  #later<T>(operation: DiskOperation, typicalUs: number, act: () => T, fail?: () => void): Promise<T> {
    if (!this.#life.isAlive) return new Promise(() => undefined)
    assert(this.#references > 0, 'the file is open')
    this.retain()
    return new Promise((resolve, reject) => {
      this.#life.schedule(`disk ${operation}`, this.#disk.completionUs(typicalUs), () => {
        this.release()
        const error = this.#disk.faults.decide(operation, this.path, this.#disk.random)
        if (error !== undefined) {
          fail?.()
          return reject(error)
        }
        const result = act()
        if (Buffer.isBuffer(result)) this.#life.scheduler.trace.recordBytes(result)
        resolve(result)
      })
    })
  }
}
