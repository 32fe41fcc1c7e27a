import { assert } from '../base/assert.ts'
import type { Uuid } from '../base/uuid.ts'
import type { LogConfig, PartitionLogListener } from '../core/log/partition-log.ts'
import type { ProducerStates } from '../core/log/producer-states.ts'
import { type DiskError, expectDiskError } from '../io/disk.ts'
import type { EpochFile, KnownEpochs } from './epoch-file.ts'
import { Exclusive } from './exclusive.ts'
import type { DirectoryOfLog } from './log-directory.ts'
import { PositionHints } from './position-hints.ts'
import type { LogHome } from './segment.ts'
import type { LogPosition, SegmentList } from './segment-list.ts'
import type { StorageContext } from './storage-context.ts'
import type { Damage } from './storage-faults.ts'

/** What a log is when it has been read from its files. */
export interface LoadedLog {
  readonly topicId: Uuid
  readonly topic: string
  readonly partition: number
  readonly home: LogHome
  readonly config: LogConfig
  readonly segments: SegmentList
  readonly producers: ProducerStates
  readonly epochFile: EpochFile
  readonly logStartOffset: number
  readonly highWatermark: number
  /** Below it everything is synced, and every sealed segment has its files. */
  readonly recoveryPoint: number
  /** Below it the log is compacted; undefined when it never was. */
  readonly cleanedOffset: number | undefined
  /** The files are those of a clean shutdown: they are on disk, all of them, and say what the log is. */
  readonly isSettled: boolean
  /** The file that identifies it is on disk, for all that is known: no checkpoint spoke of it before. */
  readonly isIdentified: boolean
  /** The checkpoints may still say something of an earlier log under this name. */
  readonly hasNamesake: boolean
  /** Base offsets of segments whose files are gone. */
  readonly missingSegments: readonly number[]
  /** Where a clean shutdown has left a producer snapshot that is of use until something is appended; undefined: nowhere. */
  readonly endSnapshot: number | undefined
}

/** A pass of compaction, as others see it. */
export interface RunningCompaction {
  /** It leaves the log as it is, as soon as it can. */
  stop(reason: string): void
}

/** Places of damage that are told; a log with more of them has been told of enough. */
const maxKnownDamage = 1000

const noListener: PartitionLogListener = {
  logEndOffsetMoved() {},
  flushedOffsetMoved() {},
  logStartOffsetMoved() {},
  appendsFailed() {},
}

/** The state of one log, shared by what appends to it, reads it, flushes it and cuts it. */
export class LogState {
  readonly context: StorageContext
  readonly directory: DirectoryOfLog
  readonly topicId: Uuid
  readonly topic: string
  readonly partition: number
  readonly home: LogHome
  readonly segments: SegmentList
  readonly producers: ProducerStates
  readonly epochFile: EpochFile
  config: LogConfig
  /** Where some offsets are: ends of writes and of reads. */
  readonly hints = new PositionHints()
  listener = noListener
  logStartOffset = 0
  /** What is being saved as the log start; nobody is told of it before that is done, or the log start would fall in a crash. */
  plannedLogStart = 0
  #durableLogStart = 0
  highWatermark: number
  /** `logEndOffset` plus what is in flight. */
  nextOffset: number
  /** Up to here writes have completed. */
  written: LogPosition
  /** Up to here the log is shown. The same as `written`, except while `flush.messages` asks for a sync first. */
  logEnd: LogPosition
  flushedOffset: number
  recoveryPoint: number
  cleanedOffset: number | undefined
  /** Set while the log is compacted. */
  compaction: RunningCompaction | undefined = undefined
  /**
   * Changes of the list of segments that take more than a turn: compaction's swaps, retention and cuts. That a segment ends and
   * another begins takes one turn, and goes beside swaps and retention, which leave the active segment alone; nothing is appended
   * to a log that is being cut.
   */
  readonly changes = new Exclusive()
  /** How often the names of the log's files have changed, and how many of these changes are synced. */
  nameChanges: number
  syncedNameChanges = 0
  isMetadataSynced: boolean
  readonly #wasIdentified: boolean
  /** The file that says so is there: see `namesakeFileName`. */
  hasNamesake: boolean
  /** See `LoadedLog`: the file may be there, in the middle of a segment or beyond the end. */
  endSnapshot: number | undefined
  /** The epoch in which it is led here, or was last; -1 once it has followed another since. */
  ledEpoch = -1
  /** The files are not those that a clean shutdown leaves: something was appended, cut or recovered. */
  isChanged: boolean
  /** Since when something is not synced, if `flush.ms` asks for it; monotonic. */
  unflushedSinceMs: number | undefined = undefined
  /** Nothing is appended or read any more. */
  isClosed = false
  /** The broker shuts down: what cannot be done at once is left to the next start. */
  isLeaving = false
  /** Base offsets of segments whose files are gone. */
  readonly missingSegments: readonly number[]
  /** The files are not this log's any more: they are deleted. */
  isAbandoned = false
  #knownDamage: Set<string> | undefined

  constructor(context: StorageContext, directory: DirectoryOfLog, loaded: LoadedLog) {
    this.context = context
    this.directory = directory
    this.topicId = loaded.topicId
    this.topic = loaded.topic
    this.partition = loaded.partition
    this.home = loaded.home
    this.segments = loaded.segments
    this.producers = loaded.producers
    this.epochFile = loaded.epochFile
    this.home.epochs = loaded.epochFile.epochs
    this.home.areEpochsComplete = true
    this.config = loaded.config
    this.resetLogStart(loaded.logStartOffset)
    this.highWatermark = loaded.highWatermark
    const { active } = loaded.segments
    this.nextOffset = active.nextOffset
    this.written = { offset: active.nextOffset, segment: active, position: active.sizeBytes }
    this.logEnd = this.written
    this.recoveryPoint = loaded.recoveryPoint
    this.flushedOffset = loaded.recoveryPoint
    this.cleanedOffset = loaded.cleanedOffset
    this.nameChanges = loaded.isSettled ? 0 : 1
    this.isMetadataSynced = loaded.isSettled
    this.#wasIdentified = loaded.isIdentified
    this.hasNamesake = loaded.hasNamesake
    this.missingSegments = loaded.missingSegments
    this.endSnapshot = loaded.endSnapshot
    this.isChanged = !loaded.isSettled
    assert(this.logStartOffset <= this.nextOffset, 'a log does not begin after its end')
    assert(this.highWatermark <= this.nextOffset, 'the high watermark is not above the log end')
    assert(this.recoveryPoint <= this.nextOffset, 'what is synced is in the log')
  }

  get epochs(): KnownEpochs {
    return this.epochFile.epochs
  }

  /** Before anything is appended: the file of epochs holds nothing against it after a kill. Throws `DiskError`. */
  settleEpochs(): void {
    if (!this.epochFile.contradicts(this.nextOffset)) return
    this.epochFile.replaceNow()
    this.nameChanges++
  }

  /** The log begins there now, for good: nothing that was cut off before it is remembered. */
  resetLogStart(offset: number): void {
    this.logStartOffset = offset
    this.plannedLogStart = offset
    this.#durableLogStart = offset
  }

  /** It will begin there: what is saved says so before what lies below is gone. */
  announceLogStart(offset: number): void {
    this.#durableLogStart = Math.max(this.#durableLogStart, offset)
  }

  /**
   * What may be saved as the log start: never less than before, and otherwise not above what is synced, or a power cut would
   * leave a log that ends below it. After a crash more may be unsynced than was.
   */
  get durableLogStart(): number {
    this.#durableLogStart = Math.max(this.#durableLogStart, Math.min(this.plannedLogStart, this.flushedOffset))
    return this.#durableLogStart
  }

  /** Tells of damage once for each place. */
  damageFound(damage: Damage): void {
    const place = `${damage.path}:${damage.position}`
    this.#knownDamage ??= new Set()
    if (this.#knownDamage.has(place) || this.#knownDamage.size >= maxKnownDamage) return
    this.#knownDamage.add(place)
    this.context.faults.damaged(damage)
  }

  /** The checkpoints may speak of it: who finds it there after a power cut finds whose it is. */
  get isIdentified(): boolean {
    return this.#wasIdentified || this.isMetadataSynced
  }

  /** No file of the log can be lost with the power for want of a name. */
  get isNameSynced(): boolean {
    return this.syncedNameChanges === this.nameChanges
  }

  /** Work in the background may go on. */
  get hasFiles(): boolean {
    return !this.isAbandoned && !this.directory.isOffline
  }

  /** Something that the log did with its files has failed. What fails after they are deleted is no fault. */
  failed(error: unknown): DiskError {
    expectDiskError(error)
    if (!this.isAbandoned) this.directory.writeFailed(error)
    return error
  }

  get isUsable(): boolean {
    return !this.isClosed && !this.directory.isOffline
  }

  get isWritable(): boolean {
    return !this.isClosed && this.directory.isWritable
  }
}
