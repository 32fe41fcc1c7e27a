import type { Disk } from '../io/disk.ts'
import { DiskError, expectDiskError } from '../io/disk.ts'
import { type LogDirectory, minFreeBytes } from './log-directory.ts'

const reserveFileName = 'millrace-reserve'
const probeFileName = 'millrace-probe'
/** What a batch needs besides its own bytes: blocks are whole, and the small files beside the log are written anew. */
const margin = 64 * 1024

/**
 * Room on the disk for the metadata log. A write of it that fails stops the broker, so it is looked at before each batch. And a
 * full disk could not be emptied by deleting topics or shortening their retention, which are records too: for them some room
 * is set aside in a file that may always be deleted.
 */
export class MetadataRoom {
  readonly #disk: Disk
  readonly #directory: LogDirectory
  readonly #reserveBytes: number
  readonly #path: string
  #isSetAside = false
  #isGiven = false

  constructor(disk: Disk, directory: LogDirectory, reserveBytes: number) {
    this.#disk = disk
    this.#directory = directory
    this.#reserveBytes = reserveBytes
    this.#path = `${directory.path}/${reserveFileName}`
  }

  get isFull(): boolean {
    return this.#directory.lacksRoom
  }

  /** The directory takes nothing, but records by which room is made may go to what was set aside. */
  get isGiven(): boolean {
    return this.#isGiven && this.isFull
  }

  /** A disk that has filled up is noticed here if not before, and the directory is full then. */
  hasRoomFor(bytes: number): boolean {
    if (this.isGiven) return this.#fits(bytes + margin)
    if (!this.isFull && !this.#fits(bytes + minFreeBytes))
      this.#directory.writeFailed(new DiskError('noSpace', 'append', this.#path))
    return this.#directory.isWritable
  }

  /** What every start writes fits, be it into what was set aside. */
  get hasRoomToStart(): boolean {
    return this.#fits(margin)
  }

  /**
   * Before what is needed to run at all is written. A file that is not whole was given before, and a broker that was killed or
   * stopped since goes on with what is left of it.
   */
  giveIfFull(): void {
    if (this.#fits(minFreeBytes + margin) || !this.#wasSetAside()) return
    this.#directory.writeFailed(new DiskError('noSpace', 'append', this.#path))
    this.give()
  }

  /** From now on, until there is room again, batches go to what was set aside. */
  give(): void {
    if (!this.isFull || this.#isGiven) return
    this.#isGiven = true
    this.#isSetAside = false
    this.#directory.heldBackBytes = this.#reserveBytes
    this.#tryTo(() => this.#empty(this.#path))
  }

  /** Sets room aside where there is enough; from time to time. */
  keep(): void {
    if (!this.#directory.isWritable || this.#reserveBytes === 0) return
    this.#isGiven = false
    this.#directory.heldBackBytes = 0
    if (this.#isSetAside || this.#freeBytes() < 4 * (this.#reserveBytes + minFreeBytes)) return
    this.#isSetAside = this.#isThere() || this.#tryTo(() => this.#write())
  }

  #write(): boolean {
    // Not zeros: some file systems take no room for them.
    this.#disk.writeSmallFile(this.#path, Buffer.alloc(this.#reserveBytes, 'set aside for when the disk is full\n'))
    return true
  }

  #empty(path: string): boolean {
    const file = this.#disk.open(path, 'append')
    try {
      file.truncate(0)
      return true
    } finally {
      file.release()
    }
  }

  #isThere(): boolean {
    return this.#tryTo(() => this.#disk.status(this.#path)?.sizeBytes === this.#reserveBytes)
  }

  #wasSetAside(): boolean {
    return this.#tryTo(() => this.#disk.status(this.#path) !== undefined)
  }

  /** What a file system says is free need not be what this user may write, be it more or less. In doubt it is written. */
  #fits(bytes: number): boolean {
    if (this.#freeBytes() >= bytes) return true
    const path = `${this.#directory.path}/${probeFileName}`
    const fits = this.#tryTo(() => {
      this.#disk.writeSmallFile(path, Buffer.alloc(bytes, 'probe\n'))
      return true
    })
    this.#tryTo(() => this.#empty(path))
    return fits
  }

  /** A disk that does not say is not taken for full. */
  #freeBytes(): number {
    try {
      return this.#disk.freeBytesNow(this.#directory.path)
    } catch (error) {
      expectDiskError(error)
      return Number.POSITIVE_INFINITY
    }
  }

  /** It helps where it can; nothing depends on it. But what has become read-only is not full. */
  #tryTo(act: () => boolean): boolean {
    try {
      return act()
    } catch (error) {
      expectDiskError(error)
      if (error.code === 'readOnly') this.#directory.fail(error)
      return false
    }
  }
}
