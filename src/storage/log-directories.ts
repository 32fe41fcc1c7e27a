import { assert } from '../base/assert.ts'
import { ErrorCode } from '../base/error-code.ts'
import type { Uuid } from '../base/uuid.ts'
import { partitionDirectoryName, renamedDirectoryName } from '../core/log/file-names.ts'
import type { LogConfig } from '../core/log/partition-log.ts'
import { expectDiskError } from '../io/disk.ts'
import { writeCleanEnds } from './clean-ends.ts'
import type { ClaimedDirectory } from './directory-claim.ts'
import { removeCleanShutdown, writeCleanShutdown } from './directory-files.ts'
import { type LoadProgress, loadDirectory, type UnopenedPartition } from './directory-loader.ts'
import { DuplicateLogError, refuseDuplicates } from './duplicate-logs.ts'
import type { LogDirectory } from './log-directory.ts'
import { createLogFiles, namesakeFileName, newLog } from './log-loader.ts'
import { SegmentedLog } from './segmented-log.ts'
import type { StorageContext } from './storage-context.ts'
import { type StorageIntervals, Upkeep } from './upkeep.ts'

export interface OpenOptions {
  readonly directories: readonly ClaimedDirectory[]
  /** Paths of directories of this node that failed before they could be claimed. */
  readonly unclaimed?: readonly string[]
  /** Where directories were that an earlier start had and this one has not. */
  readonly missing?: readonly string[]
  /** The file that says so: without it the missing are given up. */
  readonly missingNote?: string
  /** The settings of a topic's logs, as they are known when the logs are opened. */
  readonly configOf: (topic: string) => LogConfig
  /** The cluster does not know the partition, or not here: its directory is set aside under the suffix `-stray`. */
  readonly isStray: (partition: { topic: string; topicId: Uuid; partition: number }) => boolean
  readonly intervals?: Partial<StorageIntervals>
  /**
   * Names one run of the machine, if that is known: when an earlier process of the same run ended without closing, what it
   * wrote is in the files even if it was not synced.
   */
  readonly bootId?: string
  readonly progress?: (progress: LoadProgress) => void
}

export interface NewPartition {
  readonly topic: string
  readonly topicId: Uuid
  readonly partition: number
  readonly config: LogConfig
  /** Where to put it; the directory with the fewest partitions unless given. */
  readonly directoryId?: Uuid
  /** An earlier life of the broker may have made it: it is not made anew while it may lie in what could not be read. */
  readonly mayExist?: boolean
}

export interface CloseOptions {
  readonly brokerEpoch: number
  readonly mayMark?: () => boolean
}

export type CreateResult =
  | { readonly type: 'created'; readonly log: SegmentedLog }
  | {
      readonly type: 'refused'
      readonly errorCode: ErrorCode
      readonly message: string
      /** This directory may have a part of it already: it must not be made in another. */
      readonly begunIn?: Uuid
    }

/** All logs of a broker, in all its log directories. */
export class LogDirectories {
  readonly #context: StorageContext
  readonly #claims: readonly ClaimedDirectory[]
  readonly #logs = new Map<string, SegmentedLog>()
  readonly #unopened: UnopenedPartition[] = []
  readonly #unread: string[]
  readonly #missing: readonly string[]
  readonly #missingNote: string | undefined
  readonly #upkeep: Upkeep
  readonly #unsynced: SegmentedLog[] = []
  /** Names of deleted logs whose directories could not be renamed yet. */
  readonly #leaving = new Set<string>()
  #syncing = 0
  #isClosed = false

  private constructor(
    context: StorageContext,
    { directories, unclaimed = [], missing = [], missingNote }: OpenOptions,
  ) {
    this.#context = context
    this.#claims = directories
    this.#unread = [...unclaimed]
    this.#missing = missing
    this.#missingNote = missingNote
    this.#upkeep = new Upkeep(context, this.directories, directory => this.#logsOf(directory))
  }

  /**
   * Opens every partition that the directories hold. A directory that fails meanwhile is offline; the others open. Rejects with
   * `DuplicateLogError`, before anything is changed, when two directories have the same partition.
   */
  static async open(context: StorageContext, options: OpenOptions): Promise<LogDirectories> {
    refuseDuplicates(context, options)
    const opened = new LogDirectories(context, options)
    for (const claim of options.directories) {
      const loaded = await loadDirectory(context, claim, options)
      for (const log of loaded.logs) opened.#add(log)
      opened.#unopened.push(...loaded.unopened)
      if (claim.directory.isOffline) opened.#unread.push(claim.directory.path)
    }
    opened.#upkeep.start(options.intervals)
    return opened
  }

  #add(log: SegmentedLog): void {
    const key = keyOf(log.topicId, log.partition)
    const other = this.#logs.get(key)
    if (other !== undefined) throw new DuplicateLogError([other.path, log.path])
    this.#logs.set(key, log)
  }

  get directories(): readonly LogDirectory[] {
    return this.#claims.map(claim => claim.directory)
  }

  get logs(): Iterable<SegmentedLog> {
    return this.#logs.values()
  }

  /** Partitions whose directories are there but could not be read: they must not be taken for absent. */
  get unopened(): readonly UnopenedPartition[] {
    return this.#unopened
  }

  /** Paths of directories that failed before all of them was opened: nobody knows what else lies there. */
  get unread(): readonly string[] {
    return this.#unread
  }

  get(topicId: Uuid, partition: number): SegmentedLog | undefined {
    return this.#logs.get(keyOf(topicId, partition))
  }

  /** The log of the partition, made if it is not there. Its files are durable after the first flush. */
  create(request: NewPartition): CreateResult {
    const { topic, topicId, partition, config } = request
    assert(!this.#isClosed, 'no log is made after closing')
    const present = this.get(topicId, partition)
    if (present !== undefined) return { type: 'created', log: present }
    const elsewhere = request.mayExist === true ? this.#whereItMayLie() : undefined
    if (elsewhere !== undefined) return refused(ErrorCode.kafkaStorageError, `it may lie in ${elsewhere}`)
    const directory = this.#choose(request.directoryId)
    if (directory === undefined) return refused(ErrorCode.kafkaStorageError, 'no log directory can be written')
    const name = partitionDirectoryName(topic, partition)
    if (this.#isTaken(name)) return refused(ErrorCode.inconsistentTopicId, this.#whyTaken(name))
    const path = `${directory.path}/${name}`
    let hasNamesake: boolean
    try {
      hasNamesake = directory.mayNameInCheckpoints(name) || this.#mayBeThere(`${path}/${namesakeFileName}`)
      createLogFiles(this.#context, path, topicId, { startOffset: 0, hasNamesake })
    } catch (error) {
      expectDiskError(error)
      directory.writeFailed(error)
      const begunIn = this.#mayBeThere(path) ? directory.id : undefined
      return { type: 'refused', errorCode: ErrorCode.kafkaStorageError, message: error.message, begunIn }
    }
    const loaded = newLog(this.#context, { topicId, topic, partition, path, config, hasNamesake })
    const log = new SegmentedLog(this.#context, directory, loaded)
    directory.add(log)
    this.#logs.set(keyOf(topicId, partition), log)
    this.#syncNew(log)
    return { type: 'created', log }
  }

  #whereItMayLie(): string | undefined {
    const [unread] = this.#unread
    if (unread !== undefined) return `${unread}, which could not be read`
    const [missing] = this.#missing
    if (missing === undefined) return undefined
    return `the directory that was ${missing} at an earlier start and that log.dirs has no more: put it back, or, if it is gone for good, stop and remove ${this.#missingNote}, and what is missing begins empty`
  }

  #mayBeThere(path: string): boolean {
    try {
      return this.#context.disk.status(path) !== undefined
    } catch (error) {
      expectDiskError(error)
      return true
    }
  }

  /** New logs become durable in the background, a few at a time. */
  #syncNew(log: SegmentedLog): void {
    this.#unsynced.push(log)
    if (this.#syncing < syncsAtOnce) void this.#syncNext()
  }

  async #syncNext(): Promise<void> {
    this.#syncing++
    for (let log = this.#unsynced.shift(); log !== undefined; log = this.#unsynced.shift()) {
      // What fails has taken the directory offline, or the log is deleted.
      await log.flush().catch(error => expectDiskError(error))
    }
    this.#syncing--
  }

  /**
   * The log is gone when this returns, and its name free; the files go after `file.delete.delay.ms`. What is being sent from
   * them is still good.
   */
  delete(log: SegmentedLog): void {
    const directory = this.#directoryOf(log)
    log.abandon()
    this.#logs.delete(keyOf(log.topicId, log.partition))
    directory.remove(log)
    if (directory.isOffline) return
    this.#rename(directory, log)
  }

  /** Until the directory has been renamed, which a full disk may refuse for a while, its name is taken. */
  #rename(directory: LogDirectory, log: SegmentedLog): void {
    const name = partitionDirectoryName(log.topic, log.partition)
    const id = this.#context.random.bytes(16).toString('hex')
    const renamed = `${directory.path}/${renamedDirectoryName(log, 'delete', id)}`
    try {
      this.#context.disk.rename(log.path, renamed)
    } catch (error) {
      expectDiskError(error)
      this.#leaving.add(name)
      directory.writeFailed(error)
      if (!directory.isOffline) directory.after(renameRetryMs, async () => this.#rename(directory, log))
      return
    }
    this.#leaving.delete(name)
    log.moved(renamed)
    directory.after(log.config.fileDeleteDelayMs, () => this.#remove(directory, renamed))
  }

  /**
   * Closes all logs so that they open again without reading a batch, and marks each directory clean for which that
   * succeeded; answers why it did not for the others. `brokerEpoch` goes into the marker; -1 when the broker never had one.
   * None is marked when `mayMark` says at the end that something else has failed.
   */
  async close({ brokerEpoch, mayMark = () => true }: CloseOptions): Promise<readonly string[]> {
    this.#end()
    const closed = await Promise.allSettled(this.#claims.map(({ directory }) => this.#closeDirectory(directory)))
    try {
      const outcomes = closed.map(outcomeOf)
      const problems = outcomes.filter(problem => problem !== undefined)
      const clean = this.directories.filter((_, i) => outcomes[i] === undefined)
      if (mayMark()) problems.push(...(await this.#mark(clean, brokerEpoch)))
      if (!mayMark()) await this.#unmark(clean)
      return problems
    } finally {
      await this.#whenIdle()
      this.#release()
    }
  }

  /** Nothing more is written, and no directory is marked: the next start looks at them as after a kill. */
  async giveUp(): Promise<void> {
    this.#end()
    for (const { directory } of this.#claims) directory.close()
    for (const log of this.#logs.values()) log.abandon()
    // What is under way ends before another process may open the files.
    await Promise.all([...this.#logs.values()].map(log => log.whenAbandoned()))
    await this.#whenIdle()
    this.#release()
  }

  /** Another process may write these files next. */
  async #whenIdle(): Promise<void> {
    await Promise.all(this.directories.map(directory => directory.whenIdle()))
  }

  #end(): void {
    assert(!this.#isClosed, 'log directories are closed once')
    this.#isClosed = true
    this.#upkeep.end()
  }

  #release(): void {
    for (const { directory, lock } of this.#claims) {
      directory.close()
      lock.release()
    }
  }

  /** Undefined when its files are as a clean shutdown leaves them. */
  async #closeDirectory(directory: LogDirectory): Promise<string | undefined> {
    const logs = this.#logsOf(directory)
    try {
      await closeAll(logs)
      if (directory.isOffline) return `${directory.path} is offline`
      await directory.saveCheckpoints()
      const { unrecovered } = directory
      if (unrecovered !== undefined) {
        const name = partitionDirectoryName(unrecovered.topic, unrecovered.partition)
        return `${directory.path}/${name} could not be opened, and has still to be recovered`
      }
      const ends = new Map(logs.map(log => [partitionDirectoryName(log.topic, log.partition), log.cleanEnd]))
      await writeCleanEnds(this.#context.disk, directory.path, ends)
      if (directory.hasFailed || !directory.isWritable) return `${directory.path} cannot be written`
      return undefined
    } catch (error) {
      expectDiskError(error)
      directory.writeFailed(error)
      // Why it is has been said when it went offline; what its logs miss now is a consequence.
      return directory.isOffline ? `${directory.path} is offline` : error.message
    }
  }

  /** Answers what keeps which from being marked. */
  async #mark(directories: readonly LogDirectory[], brokerEpoch: number): Promise<string[]> {
    const problems: string[] = []
    for (const directory of directories) {
      try {
        await writeCleanShutdown(this.#context.disk, directory.path, brokerEpoch)
      } catch (error) {
        expectDiskError(error)
        directory.writeFailed(error)
        problems.push(error.message)
      }
    }
    return problems
  }

  async #unmark(directories: readonly LogDirectory[]): Promise<void> {
    for (const { path } of directories) {
      await removeCleanShutdown(this.#context.disk, path).catch(error => {
        expectDiskError(error)
      })
    }
  }

  #choose(id: Uuid | undefined): LogDirectory | undefined {
    const usable = this.directories.filter(
      directory => directory.isWritable && (id === undefined || directory.id === id),
    )
    return usable.reduce<LogDirectory | undefined>((best, directory) => {
      return best === undefined || directory.logs.size < best.logs.size ? directory : best
    }, undefined)
  }

  #directoryOf(log: SegmentedLog): LogDirectory {
    const directory = this.directories.find(one => one === log.directory)
    assert(directory !== undefined, 'a log lies in one of the log directories')
    return directory
  }

  #whyTaken(name: string): string {
    return this.#isUnopened(name)
      ? `${name} is there, and could not be opened`
      : `another topic's ${name} is in the way`
  }

  #isUnopened(name: string): boolean {
    return this.#unopened.some(partition => partition.name === name)
  }

  #isTaken(name: string): boolean {
    if (this.#leaving.has(name) || this.#isUnopened(name)) return true
    return this.directories.some(directory => directory.logs.has(name))
  }

  /** What was under way for a log when it was deleted may still make a file there: then all is removed once more. */
  async #remove(directory: LogDirectory, path: string): Promise<void> {
    for (let tries = 1; !directory.isOffline; tries++) {
      try {
        // Or a power cut takes the new name and leaves what is left of the files under the old one.
        await this.#context.disk.syncDirectory(directory.path)
        await this.#context.disk.remove(path)
        return
      } catch (error) {
        expectDiskError(error)
        if (error.code === 'notEmpty' && tries < maxRemovals) continue
        directory.writeFailed(error)
        return
      }
    }
  }

  #logsOf(directory: LogDirectory): SegmentedLog[] {
    return [...this.#logs.values()].filter(log => log.directory === directory)
  }
}

/** Tries to remove a directory in which files still appear. */
const maxRemovals = 10
const renameRetryMs = 1000
/** Most of what closing a log takes is waiting for the disk, which does many such small things in the time of one. */
const closesAtOnce = 12
const syncsAtOnce = 4

/** Closes them a few at a time. Rejects with the first error, after all have been tried. */
async function closeAll(logs: readonly SegmentedLog[]): Promise<void> {
  let next = 0
  let failure: unknown
  const worker = async () => {
    while (next < logs.length) {
      await logs[next++].close().catch(error => {
        failure ??= error
      })
    }
  }
  await Promise.all(Array.from({ length: closesAtOnce }, worker))
  if (failure !== undefined) throw failure
}

function outcomeOf<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === 'rejected') throw settled.reason
  return settled.value
}

function keyOf(topicId: Uuid, partition: number): string {
  return `${topicId}-${partition}`
}

function refused(errorCode: ErrorCode, message: string): CreateResult {
  return { type: 'refused', errorCode, message }
}
