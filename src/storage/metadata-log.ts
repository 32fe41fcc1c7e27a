import { assert } from '../base/assert.ts'
import { metadataTopicId } from '../base/uuid.ts'
import type { LogConfig } from '../core/log/partition-log.ts'
import { type DiskError, replaceFile } from '../io/disk.ts'
import type { DirectoryOfLog, LogDirectory } from './log-directory.ts'
import { createLogFiles, loadLog, readTopicId, writeTopicId } from './log-loader.ts'
import { MetadataRoom } from './metadata-room.ts'
import { SegmentedLog } from './segmented-log.ts'
import { SharedTask } from './shared-task.ts'
import type { StorageContext } from './storage-context.ts'
import type { Damage } from './storage-faults.ts'

const topic = '__cluster_metadata'
const offsetsFileName = 'millrace-offsets'
const maxOffsetsFileBytes = 4096
const newFiles = { startOffset: 0, hasNamesake: false }
/** What a power cut may leave unsynced of the metadata log lies above a point that is this old at most. */
const saveIntervalMs = 10_000

/** The metadata quorum's own log, and what reading it has brought to light. */
export interface MetadataLog {
  readonly log: SegmentedLog
  /** What could not be read, or was cut although batches followed. Whoever runs the quorum decides what that means. */
  readonly damage: readonly Damage[]
  readonly room: MetadataRoom
  /** Nothing is appended or read any more. Rejects with `DiskError`. */
  close(): Promise<void>
  /** The same, and nothing is written either. Resolves when nothing is under way any more. */
  giveUp(): Promise<void>
}

/**
 * Opens `__cluster_metadata-0`, made when it is absent. Every batch that may not be on the disk as it was written is read,
 * after a clean shutdown too. Its offsets are not in the directory's checkpoints, where Kafka has none either. Rejects with
 * `DiskError`.
 */
export async function openMetadataLog(
  context: StorageContext,
  directory: LogDirectory,
  config: LogConfig,
): Promise<MetadataLog> {
  const path = `${directory.path}/${topic}-0`
  const room = new MetadataRoom(context.disk, directory, context.limits.reserveBytes)
  room.giveIfFull()
  if (context.disk.status(path) === undefined) createLogFiles(context, path, metadataTopicId, newFiles)
  // Where Kafka has formatted a directory and never run, there is a snapshot and nothing else.
  else if (readTopicId(context, path) === undefined) writeTopicId(context, path, metadataTopicId)
  const offsets = readOffsets(context, path)
  const damage: Damage[] = []
  const loaded = await loadLog(context, {
    topicId: metadataTopicId,
    topic,
    partition: 0,
    path,
    config,
    isClean: false,
    isPageCacheKept: false,
    hasNamesake: false,
    ...offsets,
    isNamed: true,
    isLogStartKnown: false,
    highWatermark: 0,
    isContiguous: true,
    cleanedOffset: undefined,
    cleanEnd: undefined,
    damageFound: found => {
      damage.push(found)
      context.faults.damaged(found)
    },
    progress: () => undefined,
  })
  const holder = new MetadataDirectory(context, { directory, path, room })
  const log = new SegmentedLog(context, holder, loaded)
  holder.log = log
  room.keep()
  holder.saveNowAndThen()
  const close = async () => {
    await log.close()
    await holder.saveRecoveryPoints().catch(error => {
      holder.writeFailed(error)
      throw error
    })
  }
  const giveUp = async () => {
    log.abandon()
    await log.whenAbandoned()
    await holder.whenIdle()
  }
  return { log, damage, room, close, giveUp }
}

interface MetadataOffsets {
  readonly recoveryPoint: number
  readonly logStartOffset: number
}

/** Without the file, or when it is damaged, everything may be as the power cut left it. */
function readOffsets(context: StorageContext, path: string): MetadataOffsets {
  const bytes = context.disk.readSmallFile(`${path}/${offsetsFileName}`, maxOffsetsFileBytes)
  const match = bytes && /^1\n(\d{1,15}) (\d{1,15})\n$/.exec(bytes.toString('latin1'))
  return match
    ? { recoveryPoint: Number(match[1]), logStartOffset: Number(match[2]) }
    : { recoveryPoint: 0, logStartOffset: 0 }
}

/** The directory as the metadata log sees it: its offsets go into a file of its own. */
class MetadataDirectory implements DirectoryOfLog {
  log: SegmentedLog | undefined
  readonly #directory: LogDirectory
  readonly #room: MetadataRoom
  readonly #offsets: SharedTask

  constructor(
    context: StorageContext,
    { directory, path, room }: { readonly directory: LogDirectory; readonly path: string; readonly room: MetadataRoom },
  ) {
    this.#directory = directory
    this.#room = room
    this.#offsets = new SharedTask(() => {
      const { log } = this
      assert(log !== undefined, 'the log is there before its offsets are saved')
      const text = `1\n${log.recoveryPoint} ${log.durableLogStart}\n`
      return replaceFile(context.disk, `${path}/${offsetsFileName}`, Buffer.from(text))
    })
  }

  get path(): string {
    return this.#directory.path
  }

  get isOffline(): boolean {
    return this.#directory.isOffline
  }

  get isWritable(): boolean {
    return this.#directory.isWritable || this.#room.isGiven
  }

  writeFailed(error: DiskError): void {
    this.#directory.writeFailed(error)
  }

  readFailed(error: DiskError): void {
    this.#directory.readFailed(error)
  }

  fail(error: DiskError): void {
    this.#directory.fail(error)
  }

  syncNames(): Promise<void> {
    return this.#directory.syncNames()
  }

  saveRecoveryPoints(): Promise<void> {
    return this.#offsets.run()
  }

  saveLogStarts(): Promise<void> {
    return this.#offsets.run()
  }

  /** The metadata log is not compacted: snapshots take the place of its beginning. */
  saveCleanedOffsets(): Promise<void> {
    return Promise.resolve()
  }

  saveCheckpoints(): Promise<void> {
    return this.#offsets.run()
  }

  whenIdle(): Promise<void> {
    return this.#offsets.whenIdle()
  }

  saveNowAndThen(): void {
    this.after(saveIntervalMs, async () => {
      if (this.isOffline || this.log?.isOffline === true) return
      await this.saveRecoveryPoints().catch(error => this.writeFailed(error))
      this.#room.keep()
      this.saveNowAndThen()
    })
  }

  after(delayMs: number, act: () => Promise<void>): void {
    this.#directory.after(delayMs, act)
  }
}
