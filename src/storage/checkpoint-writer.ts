import type { OffsetCheckpointEntry } from '../core/log/checkpoint-text.ts'
import { encodeOffsetCheckpoint } from '../core/log/checkpoint-text.ts'
import { type Disk, replaceFile } from '../io/disk.ts'
import type { OffsetCheckpointName } from './directory-files.ts'
import { SharedTask } from './shared-task.ts'

/** Writes one checkpoint of a directory: one write at a time, the next one has what everybody asked for meanwhile. */
export class CheckpointWriter {
  readonly #disk: Disk
  readonly #path: string
  readonly #entries: () => OffsetCheckpointEntry[]
  readonly #task = new SharedTask(() => this.#write())
  #saved: Buffer | undefined

  constructor(disk: Disk, directory: string, name: OffsetCheckpointName, entries: () => OffsetCheckpointEntry[]) {
    this.#disk = disk
    this.#path = `${directory}/${name}`
    this.#entries = entries
  }

  /** Resolves when what holds now is durable. Rejects with `DiskError`. */
  save(): Promise<void> {
    return this.#task.run()
  }

  async #write(): Promise<void> {
    const bytes = encodeOffsetCheckpoint(this.#entries())
    if (this.#saved?.equals(bytes)) return
    this.#saved = undefined
    await replaceFile(this.#disk, this.#path, bytes)
    this.#saved = bytes
  }
}
