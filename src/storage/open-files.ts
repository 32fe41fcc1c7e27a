import { type Disk, DiskError, type DiskFile, expectDiskError } from '../io/disk.ts'

/** Whoever owns a file that may be closed when it has not been used for long. */
export interface FileUser {
  readonly filePath: string
  file: DiskFile | undefined
  /** `append` makes the file when it is absent. */
  readonly openedFor: 'read' | 'append'
  /** Set by `OpenFiles`; grows with every use. */
  lastUse: number
  /** Appends are in flight, or bytes are not synced: a file that is closed then could hide a failed write. */
  readonly mustStayOpen: boolean
  /** Another file may have the path by now: it is not opened again. */
  readonly isGone: boolean
  /** Asked when too many files must stay open. */
  syncSoon(): void
}

/** Bounds how many files are open: those that were used longest ago are closed, and opened again when they are needed. */
export class OpenFiles {
  readonly #disk: Disk
  readonly #maxFiles: number
  readonly #users = new Set<FileUser>()
  #clock = 0
  /** The bound, or above it for as long as too many files cannot be closed. */
  #trimFrom: number

  constructor(disk: Disk, maxFiles: number) {
    this.#disk = disk
    this.#maxFiles = maxFiles
    this.#trimFrom = maxFiles
  }

  get size(): number {
    return this.#users.size
  }

  /** The user's file, opened if it is not. Throws `DiskError`. */
  use(user: FileUser): DiskFile {
    user.lastUse = ++this.#clock
    if (user.file !== undefined) return user.file
    if (user.isGone) throw new DiskError('notFound', 'open', user.filePath)
    if (this.#users.size >= this.#trimFrom) this.#trim()
    user.file = this.#open(user.filePath, user.openedFor)
    this.#users.add(user)
    return user.file
  }

  /** Gives up the user's reference; ranges of the file that are being sent keep theirs. */
  close(user: FileUser): void {
    if (user.file === undefined) return
    user.file.release()
    user.file = undefined
    this.#users.delete(user)
  }

  /** The user's file need not stay open any more: it is closed at once where too many are open. */
  mayClose(user: FileUser): void {
    if (this.#users.size <= this.#maxFiles) this.#trimFrom = this.#maxFiles
    else if (!user.mustStayOpen) this.close(user)
  }

  #open(path: string, how: 'read' | 'append'): DiskFile {
    try {
      return this.#disk.open(path, how)
    } catch (error) {
      expectDiskError(error)
      if (error.code !== 'tooManyOpenFiles') throw error
      this.#closeIdle(Math.ceil(this.#users.size / 4))
      return this.#disk.open(path, how)
    }
  }

  #trim(): void {
    const step = Math.ceil(this.#maxFiles / 16)
    this.#closeIdle(this.#users.size - this.#maxFiles + step)
    if (this.#users.size < this.#maxFiles) {
      this.#trimFrom = this.#maxFiles
      return
    }
    const oldest = [...this.#users]
      .sort((a, b) => a.lastUse - b.lastUse)
      .slice(0, this.#users.size - this.#maxFiles + step)
    for (const user of oldest) user.syncSoon()
    this.#trimFrom = this.#users.size + step
  }

  #closeIdle(count: number): void {
    const idle = [...this.#users].filter(user => !user.mustStayOpen).sort((a, b) => a.lastUse - b.lastUse)
    for (const user of idle.slice(0, count)) this.close(user)
  }
}
