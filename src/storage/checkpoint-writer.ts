import type { OffsetCheckpointEntry } from '../core/log/checkpoint-text.ts'
import { encodeOffsetCheckpoint } from '../core/log/checkpoint-text.ts'
import { type Disk, replaceFile } from '../io/disk.ts'
import type { OffsetCheckpointName } from './directory-files.ts'

/** Writes one checkpoint of a directory: one write at a time, the next one has what everybody asked for meanwhile. */
export class CheckpointWriter {
  readonly #disk: Disk
  readonly #path: string
  readonly #entries: () => OffsetCheckpointEntry[]
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #saved: Buffer | undefined

  constructor(disk: Disk, directory: string, name: OffsetCheckpointName, entries: () => OffsetCheckpointEntry[]) {
    this.#disk = disk
    this.#path = `${directory}/${name}`
    this.#entries = entries
  }

  /** Resolves when what holds now is durable. Rejects with `DiskError`. */
  save(): Promise<void> {
    if (this.#running === undefined) return this.#start()
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined
        return this.#start()
      })
    return this.#next
  }

  #start(): Promise<void> {
    this.#running = this.#write().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #write(): Promise<void> {
    const bytes = encodeOffsetCheckpoint(this.#entries())
    if (this.#saved?.equals(bytes)) return
    this.#saved = undefined
    await replaceFile(this.#disk, this.#path, bytes)
    this.#saved = bytes
  }
}
