import type { OffsetCheckpointEntry } from '../core/log/checkpoint-text.ts'
import { encodeOffsetCheckpoint } from '../core/log/checkpoint-text.ts'
import { partitionDirectoryName } from '../core/log/file-names.ts'
import type { Disk } from '../io/disk.ts'
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
  #timesForgotten = 0

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
   * anything. The file is replaced at once, and a write that is under way begins anew; it is durable with the next `save`.
   * Throws `DiskError`.
   */
  forget(name: string): boolean {
    this.#named ??= new Set(readOffsetCheckpoint(this.#disk, this.#directory, this.#name)?.keys())
    if (!this.#named.has(name)) return false
    const entries = this.#entries()
    this.#saved = undefined
    this.#timesForgotten++
    this.#disk.writeSmallFile(this.#forgettingPath, encodeOffsetCheckpoint(entries))
    this.#disk.rename(this.#forgettingPath, this.#path)
    this.#named = namesOf(entries)
    return true
  }

  async #write(): Promise<void> {
    for (;;) {
      const entries = this.#entries()
      const bytes = encodeOffsetCheckpoint(entries)
      if (this.#saved?.equals(bytes)) return
      this.#saved = undefined
      const timesForgotten = this.#timesForgotten
      const names = namesOf(entries)
      if (this.#named !== undefined) this.#named = this.#named.union(names)
      this.#disk.writeSmallFile(this.#writingPath, bytes)
      await this.#disk.syncFile(this.#writingPath)
      // What is in this file may be of a log that is gone by now, and a new one of its name would take it for its own.
      if (timesForgotten !== this.#timesForgotten) continue
      this.#disk.rename(this.#writingPath, this.#path)
      this.#named = names
      await this.#disk.syncDirectory(this.#directory)
      if (timesForgotten !== this.#timesForgotten) continue
      this.#saved = bytes
      return
    }
  }

  get #path(): string {
    return `${this.#directory}/${this.#name}`
  }

  get #writingPath(): string {
    return `${this.#path}.tmp`
  }

  /** Another one, since the sync of the first may be under way. */
  get #forgettingPath(): string {
    return `${this.#path}.forget.tmp`
  }
}

function namesOf(entries: readonly OffsetCheckpointEntry[]): Set<string> {
  return new Set(entries.map(({ topic, partition }) => partitionDirectoryName(topic, partition)))
}
