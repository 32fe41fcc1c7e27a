import type { OffsetCheckpointEntry } from '../core/log/checkpoint-text.ts'
import { encodeOffsetCheckpoint } from '../core/log/checkpoint-text.ts'
import { partitionDirectoryName } from '../core/log/file-names.ts'
import { type Disk, replaceFile } from '../io/disk.ts'
import { type OffsetCheckpointName, readOffsetCheckpoint } from './directory-files.ts'
import { SharedTask } from './shared-task.ts'

/** Writes one checkpoint of a directory: one write at a time, the next one has what everybody asked for meanwhile. */
export class CheckpointWriter {
  readonly #disk: Disk
  readonly #directory: string
  readonly #name: OffsetCheckpointName
  readonly #entries: () => OffsetCheckpointEntry[]
  readonly #task = new SharedTask(() => this.#write())
  #saved: Buffer | undefined
  /** Partitions that the file may speak of; undefined until somebody asks. */
  #named: Set<string> | undefined
  #isWriting = false

  constructor(disk: Disk, directory: string, name: OffsetCheckpointName, entries: () => OffsetCheckpointEntry[]) {
    this.#disk = disk
    this.#directory = directory
    this.#name = name
    this.#entries = entries
  }

  /** Resolves when what holds now is durable. Rejects with `DiskError`. */
  save(): Promise<void> {
    return this.#task.run()
  }

  /**
   * A log of this name is gone: what the file says of it must not be taken for a new one's. Returns whether it said
   * anything. The file is replaced at once, unless it is being written; it is durable with the next `save`. Throws
   * `DiskError`.
   */
  forget(name: string): boolean {
    this.#named ??= new Set(readOffsetCheckpoint(this.#disk, this.#directory, this.#name)?.keys())
    if (!this.#named.has(name)) return false
    if (this.#isWriting) return true
    const entries = this.#entries()
    const path = `${this.#directory}/${this.#name}`
    this.#saved = undefined
    this.#disk.writeSmallFile(`${path}.tmp`, encodeOffsetCheckpoint(entries))
    this.#disk.rename(`${path}.tmp`, path)
    this.#named = namesOf(entries)
    return true
  }

  async #write(): Promise<void> {
    const entries = this.#entries()
    const bytes = encodeOffsetCheckpoint(entries)
    if (this.#saved?.equals(bytes)) return
    this.#saved = undefined
    this.#isWriting = true
    try {
      const names = namesOf(entries)
      if (this.#named !== undefined) this.#named = this.#named.union(names)
      await replaceFile(this.#disk, `${this.#directory}/${this.#name}`, bytes)
      this.#named = names
      this.#saved = bytes
    } finally {
      this.#isWriting = false
    }
  }
}

function namesOf(entries: readonly OffsetCheckpointEntry[]): Set<string> {
  return new Set(entries.map(({ topic, partition }) => partitionDirectoryName(topic, partition)))
}
