import { assert } from '../base/assert.ts'
import type { Uuid } from '../base/uuid.ts'
import type { OffsetCheckpointEntry } from '../core/log/checkpoint-text.ts'
import { partitionDirectoryName } from '../core/log/file-names.ts'
import type { Timer } from '../io/clock.ts'
import { type DiskError, expectDiskError } from '../io/disk.ts'
import { CheckpointWriter } from './checkpoint-writer.ts'
import { metaPropertiesFileName, type OffsetCheckpointName } from './directory-files.ts'
import { SharedTask } from './shared-task.ts'
import type { StorageContext } from './storage-context.ts'

/**
 * `full`: appends are refused, reads go on, room is looked for each second. `offline`: nothing is read or written until the
 * broker starts again.
 */
export type LogDirectoryState = 'online' | 'full' | 'offline'

const retryMs = 1000
/** Room that must be there again before appends are taken. */
export const minFreeBytes = 1024 * 1024

/** What a directory has to know of a log for its checkpoints. */
export interface DirectoryLog {
  readonly topic: string
  readonly partition: number
  /** The file that says whose it is is on disk. Until then a log that is found broken is one that was being made. */
  readonly isIdentified: boolean
  readonly recoveryPoint: number
  /** Not above what is synced: after a power cut the log must not end below its start. */
  readonly durableLogStart: number
  readonly highWatermark: number
  /** Below it the log is compacted; undefined when it never was. */
  readonly cleanedOffset: number | undefined
}

/** What the checkpoints said of a log that could not be opened; undefined where they said nothing. */
export interface UnopenedLog {
  readonly topic: string
  readonly partition: number
  readonly recoveryPoint: number | undefined
  readonly durableLogStart: number | undefined
  readonly highWatermark: number | undefined
  readonly cleanedOffset: number | undefined
  /** Its last process did not end in good order. */
  readonly mustBeRecovered: boolean
}

/** What a log asks of the directory it lies in. */
export interface DirectoryOfLog {
  readonly path: string
  readonly isOffline: boolean
  readonly isWritable: boolean
  /** A write, or what goes with one, has failed. Without room the directory is full, otherwise offline. */
  writeFailed(error: DiskError): void
  /**
   * One bad sector does not take the directory down, nor a file that cannot be opened for lack of descriptors. A file that is
   * appended to is opened for both: where its file system has become read-only, nothing can be written any more.
   */
  readFailed(error: DiskError): void
  /** Goes offline for the rest of this process's life. */
  fail(error: DiskError): void
  /** Resolve when what holds now is durable; reject with `DiskError`. `syncNames`: that the directories of logs are there. */
  syncNames(): Promise<void>
  saveRecoveryPoints(): Promise<void>
  saveLogStarts(): Promise<void>
  saveCleanedOffsets(): Promise<void>
  saveCheckpoints(): Promise<void>
  /** Does it after this time, unless the directory is given up before. */
  after(delayMs: number, act: () => Promise<void>): void
}

/** One of the broker's `log.dirs`: the unit that fails. */
export class LogDirectory implements DirectoryOfLog {
  readonly path: string
  /** The `directory.id` of its meta.properties. */
  readonly id: Uuid
  readonly #context: StorageContext
  readonly #logs = new Map<string, DirectoryLog>()
  readonly #unopened: UnopenedLog[] = []
  readonly #recoveryPoints: CheckpointWriter
  readonly #logStarts: CheckpointWriter
  readonly #highWatermarks: CheckpointWriter
  readonly #cleanedOffsets: CheckpointWriter
  readonly #nameSync: SharedTask
  /** How often logs have come, and how many of these changes are synced. What was there before may not be. */
  #nameChanges = 1
  #syncedNameChanges = 0
  readonly #timers = new Set<Timer>()
  #state: LogDirectoryState = 'online'
  #hasFailed = false
  #lacksRoom = false
  /** Room that is there, but not for the logs. */
  heldBackBytes = 0

  constructor(context: StorageContext, path: string, id: Uuid) {
    this.#context = context
    this.path = path
    this.id = id
    this.#nameSync = new SharedTask(() => this.#syncNames())
    const writer = (name: OffsetCheckpointName, offsetOf: (log: DirectoryLog | UnopenedLog) => number | undefined) => {
      return new CheckpointWriter(context.disk, path, name, () => this.#entries(offsetOf))
    }
    this.#recoveryPoints = writer('recovery-point-offset-checkpoint', log => log.recoveryPoint)
    this.#logStarts = writer('log-start-offset-checkpoint', log => log.durableLogStart)
    this.#highWatermarks = writer('replication-offset-checkpoint', log => log.highWatermark)
    this.#cleanedOffsets = writer('cleaner-offset-checkpoint', log => log.cleanedOffset)
  }

  get logs(): ReadonlyMap<string, DirectoryLog> {
    return this.#logs
  }

  add(log: DirectoryLog): void {
    const name = partitionDirectoryName(log.topic, log.partition)
    assert(!this.#logs.has(name), 'a directory has one log of a partition')
    this.#logs.set(name, log)
    this.#nameChanges++
  }

  /** The checkpoints go on to say of it what they said. */
  keep(log: UnopenedLog): void {
    this.#unopened.push(log)
  }

  /** A log of which nobody may say that it was shut down cleanly. */
  get unrecovered(): UnopenedLog | undefined {
    return this.#unopened.find(log => log.mustBeRecovered)
  }

  remove(log: DirectoryLog): void {
    this.#logs.delete(partitionDirectoryName(log.topic, log.partition))
  }

  /** Only where a log has come since the last time: what happens within the directories of logs is theirs to sync. */
  syncNames(): Promise<void> {
    return this.#syncedNameChanges === this.#nameChanges ? Promise.resolve() : this.#nameSync.run()
  }

  async #syncNames(): Promise<void> {
    const changes = this.#nameChanges
    await this.#context.disk.syncDirectory(this.path)
    this.#syncedNameChanges = changes
  }

  /**
   * The checkpoints know logs by their names: whether one of them may speak of an earlier log of this name. Throws
   * `DiskError`.
   */
  mayNameInCheckpoints(name: string): boolean {
    return this.#checkpoints.some(checkpoint => checkpoint.mayName(name))
  }

  async saveCheckpoints(): Promise<void> {
    await Promise.all(this.#checkpoints.map(checkpoint => checkpoint.save()))
  }

  get #checkpoints(): readonly CheckpointWriter[] {
    return [this.#recoveryPoints, this.#logStarts, this.#highWatermarks, this.#cleanedOffsets]
  }

  saveRecoveryPoints(): Promise<void> {
    return this.#recoveryPoints.save()
  }

  saveLogStarts(): Promise<void> {
    return this.#logStarts.save()
  }

  saveHighWatermarks(): Promise<void> {
    return this.#highWatermarks.save()
  }

  saveCleanedOffsets(): Promise<void> {
    return this.#cleanedOffsets.save()
  }

  #entries(offsetOf: (log: DirectoryLog | UnopenedLog) => number | undefined): OffsetCheckpointEntry[] {
    const identified = [...this.#logs.values()].filter(log => log.isIdentified)
    return [...identified, ...this.#unopened].flatMap(log => {
      const offset = offsetOf(log)
      return offset === undefined ? [] : [{ topic: log.topic, partition: log.partition, offset }]
    })
  }

  get state(): LogDirectoryState {
    return this.#state
  }

  get isOffline(): boolean {
    return this.#state === 'offline'
  }

  get isWritable(): boolean {
    return this.#state === 'online'
  }

  /** It is full for want of room, and not of descriptors. */
  get lacksRoom(): boolean {
    return this.#state === 'full' && this.#lacksRoom
  }

  writeFailed(error: DiskError): void {
    if (!isPassing(error)) this.fail(error)
    if (this.#state !== 'online') return
    this.#state = 'full'
    this.#lacksRoom = error.code === 'noSpace'
    this.#context.faults.directoryFull(this.path, error)
    this.after(retryMs, () => this.#lookForRoom())
  }

  readFailed(error: DiskError): void {
    if (error.code === 'readOnly') this.fail(error)
    else this.#context.faults.readFailed(this.path, error)
  }

  fail(error: DiskError): void {
    if (this.#state === 'offline') return
    this.#state = 'offline'
    this.#hasFailed = true
    this.#context.faults.directoryFailed(this.path, error)
  }

  after(delayMs: number, act: () => Promise<void>): void {
    const timer = this.#context.clock.after(delayMs, () => {
      this.#timers.delete(timer)
      void act()
    })
    this.#timers.add(timer)
  }

  /** The directory is given up by whoever used it; no fault is told. */
  close(): void {
    this.#state = 'offline'
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
  }

  /** Resolves when nothing of the directory's own files is under way any more. */
  async whenIdle(): Promise<void> {
    await Promise.all([this.#nameSync, ...this.#checkpoints].map(one => one.whenIdle()))
  }

  get hasFailed(): boolean {
    return this.#hasFailed
  }

  async #lookForRoom(): Promise<void> {
    const free = await this.#context.disk.freeBytes(this.path).catch(() => 0)
    if (this.#state !== 'full') return
    if (free < minFreeBytes + this.heldBackBytes || !this.#canOpenFiles()) {
      this.after(retryMs, () => this.#lookForRoom())
      return
    }
    assert(this.#state === 'full', 'only a full directory becomes writable again')
    this.#state = 'online'
    this.#context.faults.directoryWritable(this.path)
  }

  #canOpenFiles(): boolean {
    try {
      this.#context.disk.open(`${this.path}/${metaPropertiesFileName}`, 'read').release()
      return true
    } catch (error) {
      expectDiskError(error)
      return error.code !== 'tooManyOpenFiles'
    }
  }
}

/** It may succeed later. Not so a sync: what it covered is to be thought lost. */
function isPassing({ code, operation }: DiskError): boolean {
  if (operation === 'sync' || operation === 'syncDirectory') return false
  return code === 'noSpace' || code === 'tooManyOpenFiles'
}
