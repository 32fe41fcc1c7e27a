import { assert } from '../../base/assert.ts'
import type { SnapshotId } from '../../core/raft/log-view.ts'
import { type Disk, DiskError, type DiskFile } from '../../io/disk.ts'

const name = /^(\d{20})-(\d{10})\.checkpoint$/
const partSuffix = '.part'

/** `00000000000000000012-0000000003.checkpoint`: end offset (exclusive) and epoch. */
export function snapshotFileName({ endOffset, epoch }: SnapshotId): string {
  return `${String(endOffset).padStart(20, '0')}-${String(epoch).padStart(10, '0')}.checkpoint`
}

function order(a: SnapshotId, b: SnapshotId): number {
  return a.epoch - b.epoch || a.endOffset - b.endOffset
}

/** The snapshots of the metadata log, beside its segments. Only complete ones have their name; others end in `.part`. */
export class SnapshotFiles {
  readonly #disk: Disk
  readonly #directory: string
  /** Complete ones, oldest first. */
  #known: SnapshotId[]
  #writing: { readonly id: SnapshotId; readonly file: DiskFile } | undefined
  #isClosed = false

  constructor(disk: Disk, directory: string) {
    this.#disk = disk
    this.#directory = directory
    const names = disk.list(directory).map(entry => entry.name)
    this.#known = names
      .map(text => name.exec(text))
      .filter(match => match !== null)
      .map(match => ({ endOffset: Number(match[1]), epoch: Number(match[2]) }))
      .sort(order)
  }

  get earliest(): SnapshotId | undefined {
    return this.#known[0]
  }

  get latest(): SnapshotId | undefined {
    return this.#known.at(-1)
  }

  get all(): readonly SnapshotId[] {
    return this.#known
  }

  /** What a fetch or a crash left unfinished goes; none is ever resumed. */
  async dropUnfinished(): Promise<void> {
    const names = this.#disk.list(this.#directory).map(entry => entry.name)
    const leftOver = names.filter(text => text.includes('.checkpoint.'))
    await Promise.all(leftOver.map(text => this.#disk.remove(`${this.#directory}/${text}`)))
  }

  sizeOf(id: SnapshotId): number | undefined {
    if (!this.#known.some(one => order(one, id) === 0)) return undefined
    return this.#disk.status(this.#path(id))?.sizeBytes
  }

  /** undefined when it is gone. */
  async read(id: SnapshotId, position: number, maxBytes: number): Promise<Buffer | undefined> {
    let file: DiskFile
    try {
      file = this.#disk.open(this.#path(id), 'read')
    } catch (error) {
      if (error instanceof DiskError && error.code === 'notFound') return undefined
      throw error
    }
    try {
      return await file.read(position, Math.min(maxBytes, Math.max(0, file.sizeBytes - position)))
    } finally {
      file.release()
    }
  }

  /** Appends to an unfinished snapshot; position 0 starts it anew. Resolves when written, not synced. */
  async write(id: SnapshotId, position: number, bytes: Buffer): Promise<void> {
    if (position === 0) {
      this.#writing?.file.release()
      this.#writing = undefined
      const path = this.#path(id) + partSuffix
      await this.#disk.remove(path)
      if (this.#isClosed) return
      this.#writing = { id, file: this.#disk.open(path, 'create') }
    }
    const writing = this.#writing
    assert(writing !== undefined && order(writing.id, id) === 0, 'one snapshot is written at a time')
    assert(writing.file.sizeBytes === position, 'a snapshot is written without gaps')
    await new Promise<void>((resolve, reject) => {
      writing.file.append([bytes], error => (error === undefined ? resolve() : reject(error)))
    })
  }

  /** All of an unfinished snapshot that was written. */
  async readWritten(id: SnapshotId): Promise<Buffer> {
    const writing = this.#writing
    assert(writing !== undefined && order(writing.id, id) === 0, 'what was written is read')
    return await writing.file.read(0, writing.file.sizeBytes)
  }

  /** Syncs what was written and gives it its name. */
  async complete(id: SnapshotId): Promise<void> {
    const writing = this.#writing
    assert(writing !== undefined && order(writing.id, id) === 0, 'what was written is completed')
    this.#writing = undefined
    try {
      await writing.file.sync()
    } finally {
      writing.file.release()
    }
    this.#disk.rename(this.#path(id) + partSuffix, this.#path(id))
    await this.#disk.syncDirectory(this.#directory)
    this.#known = [...this.#known.filter(one => order(one, id) !== 0), id].sort(order)
  }

  /** Drops an unfinished snapshot. */
  async discard(id: SnapshotId): Promise<void> {
    if (this.#writing !== undefined && order(this.#writing.id, id) === 0) {
      this.#writing.file.release()
      this.#writing = undefined
    }
    await this.#disk.remove(this.#path(id) + partSuffix)
  }

  /** Removes complete snapshots below the given one. */
  async removeBefore(id: SnapshotId): Promise<void> {
    const old = this.#known.filter(one => order(one, id) < 0)
    this.#known = this.#known.filter(one => order(one, id) >= 0)
    for (const one of old) await this.#disk.remove(this.#path(one))
  }

  /**
   * Removes complete snapshots that end below the start of the log, where another one covers that: the log start moved, and
   * then the process ended before they were gone, or the power took their removal back.
   */
  async removeBelow(logStartOffset: number): Promise<void> {
    const covering = this.#known.find(one => one.endOffset >= logStartOffset)
    if (covering !== undefined) await this.removeBefore(covering)
  }

  /** Nothing more is written. */
  close(): void {
    this.#isClosed = true
    this.#writing?.file.release()
    this.#writing = undefined
  }

  #path(id: SnapshotId): string {
    return `${this.#directory}/${snapshotFileName(id)}`
  }
}
