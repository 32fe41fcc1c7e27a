import { unreachable } from '../base/assert.ts'
import type { Clock } from '../io/clock.ts'
import type { DiskError } from '../io/disk.ts'
import type { LogSink } from '../io/log-sink.ts'
import type { CompactionListener } from '../storage/compaction/compactor.ts'
import type { PassStats, UncleanablePass } from '../storage/compaction/pass-end.ts'
import type { SegmentedLog } from '../storage/segmented-log.ts'
import type { Damage, StorageFaults } from '../storage/storage-faults.ts'
import { remedyFor } from './directory-problem.ts'
import { RepeatedLines } from './repeated-lines.ts'

/** Acts on what becomes of log directories. */
export interface DirectoryListener {
  directoryWritable(): void
  directoryFailed(path: string, error: DiskError): void
}

/** Says what storage finds, one line each, with what to do about it. */
export class StorageFaultLog implements StorageFaults, CompactionListener {
  readonly #log: LogSink
  readonly #told: DirectoryListener
  readonly #readFailures: RepeatedLines

  constructor(clock: Clock, log: LogSink, told: DirectoryListener) {
    this.#readFailures = new RepeatedLines(clock)
    this.#log = log
    this.#told = told
  }

  damaged({ path, position, length, offset, reason }: Damage): void {
    const records = offset === undefined ? '' : ` Records from offset ${offset} on are not served from there.`
    const extent = length === undefined ? '' : `, ${length} bytes`
    this.#log.write(
      'error',
      `${path} is damaged at byte ${position}${extent}: ${reason}.${records} Restore the file from a copy, or look with: millrace log verify`,
      {
        ...{ path, position, length, offset, reason },
      },
    )
  }

  tailCut({ path, position, length, offset }: Parameters<NonNullable<StorageFaults['tailCut']>>[0]): void {
    this.#log.write(
      'warn',
      `${path} ended in ${length} bytes that a crash left unfinished, from byte ${position} on: they are cut off, and the log goes on at offset ${offset}`,
      {
        ...{ path, position, length, offset },
      },
    )
  }

  segmentLost({ path, offset }: Parameters<NonNullable<StorageFaults['segmentLost']>>[0]): void {
    this.#log.write(
      'warn',
      `${path} is gone, though other files of this compacted segment were there: records from offset ${offset} up to the next segment are lost. Restore the file from a copy, and restart the broker. This is told once`,
      { path, offset },
    )
  }

  /** Clients ask again and again for what cannot be read. */
  readFailed(path: string, error: DiskError): void {
    if (!this.#readFailures.isNew(error.message)) return
    const remedy = error.code === 'notPermitted' ? remedyFor(error) : 'Check the disk'
    this.#log.write('error', `${error.path} cannot be read: ${error.message}. ${remedy}.`, { path, code: error.code })
  }

  compacted({ topic, partition }: SegmentedLog, { endOffset, ...stats }: PassStats): void {
    const { indexedBytes, filteredBytes, writtenBytes, readRecords, keptRecords, durationMs } = stats
    const seconds = (durationMs / 1000).toFixed(1)
    const removedRecords = readRecords - keptRecords
    this.#log.write(
      'info',
      `${topic}-${partition} is compacted up to offset ${endOffset}: ${writtenBytes} of ${filteredBytes} bytes kept, ${removedRecords} of ${readRecords} records removed, in ${seconds} s`,
      {
        ...{
          topic,
          partition,
          endOffset,
          indexedBytes,
          filteredBytes,
          writtenBytes,
          readRecords,
          keptRecords,
          durationMs,
        },
      },
    )
  }

  uncleanable({ topic, partition }: SegmentedLog, pass: Parameters<CompactionListener['uncleanable']>[1]): void {
    const { obstacle, path, position, reason, retryAfterMs } = pass
    const after = retryAfterMs === undefined ? '' : `in ${retryAfterMs / 60_000} minutes, `
    this.#log.write(
      'error',
      `${topic}-${partition} is not compacted any more: ${whyUncleanable(pass)}; it is tried again ${after}when a setting of the topic changes or the broker starts`,
      { topic, partition, obstacle: obstacle.type, path, position, reason },
    )
  }

  noRoom({ topic, partition, directory }: SegmentedLog, neededBytes: number): void {
    this.#log.write(
      'warn',
      `${topic}-${partition} waits to be compacted: ${directory.path} needs ${neededBytes} free bytes for that. Free some; it is tried again`,
      { topic, partition, path: directory.path, neededBytes },
    )
  }

  delayed({ topic, partition }: SegmentedLog, reason: string): void {
    this.#log.write('warn', `${topic}-${partition} waits to be compacted: ${firstLine(reason)}. It is tried again`, {
      ...{ topic, partition, reason },
    })
  }

  directoryFull(path: string, error: DiskError): void {
    const isSpace = error.code === 'noSpace'
    const what = isSpace ? 'has no space left' : 'cannot open more files'
    const remedy = isSpace ? 'Free some' : 'Raise the limit of this process (ulimit -n)'
    this.#log.write(
      'error',
      `log directory ${path} ${what}: writes are refused, reads go on. ${remedy}; it is looked for each second.`,
      {
        ...{ path, code: error.code },
      },
    )
  }

  directoryWritable(path: string): void {
    this.#log.write('info', `log directory ${path} can be written again`, { path })
    this.#told.directoryWritable()
  }

  directoryFailed(path: string, error: DiskError): void {
    this.#log.write(
      'error',
      `log directory ${path} is offline: ${error.message}. ${remedyFor(error)}, and restart the broker.`,
      {
        ...{ path, code: error.code },
      },
    )
    this.#told.directoryFailed(path, error)
  }
}

/** What is in the way, and what to do about it. */
function whyUncleanable({ obstacle, path, position, reason }: Omit<UncleanablePass, 'type'>): string {
  switch (obstacle.type) {
    case 'damage':
      return `${path} is damaged at byte ${position}: ${reason}. Restore the file from a copy, or look with: millrace log verify`
    case 'disk':
      return `${path} cannot be read: ${reason}. ${remedyFor(obstacle.error)}`
    case 'largeBatch':
      return `the batch at byte ${position} of ${path} is too large: ${reason}. Raise millrace.max.uncompressed.batch.bytes, or max.message.bytes of the topic`
    case 'largeSegment':
      return `${path}: ${reason}. Its records stay as they are, and are served`
    case 'failedJobs':
      return `the thread that compacts has failed ${obstacle.count} times, the last time at byte ${position} of ${path}: ${firstLine(reason)}. Give the process more memory or lower log.cleaner.dedupe.buffer.size, or look at the file with: millrace log verify`
    default:
      return unreachable(obstacle)
  }
}

/** The others are a stack. */
function firstLine(text: string): string {
  return text.split('\n', 1)[0]
}
