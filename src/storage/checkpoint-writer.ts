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

  /** Resolves when it is not being written. */
  whenIdle(): Promise<void> {
    return this.#task.whenIdle()
  }

  /** Whether the file, or what is being written to it, may speak of a partition of this name. Throws `DiskError`. */
  mayName(name: string): boolean {
    this.#named ??= this.#namesInFile()
    return this.#named.has(name)
  }

  #namesInFile(): Set<string> {
    return new Set(readOffsetCheckpoint(this.#disk, this.#directory, this.#name)?.keys())
  }

  async #write(): Promise<void> {
    const entries = this.#entries()
    const bytes = encodeOffsetCheckpoint(entries)
    if (this.#saved?.equals(bytes)) return
    this.#saved = undefined
    const names = namesOf(entries)
    // Until it is in place nobody knows which of the two a crash leaves.
    this.#named = (this.#named ?? this.#namesInFile()).union(names)
    await replaceFile(this.#disk, `${this.#directory}/${this.#name}`, bytes)
    this.#named = names
    this.#saved = bytes
  }
}

function namesOf(entries: readonly OffsetCheckpointEntry[]): Set<string> {
  return new Set(entries.map(({ topic, partition }) => partitionDirectoryName(topic, partition)))
}
