import { assert } from '../../base/assert.ts'
import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import type { PartitionLog, Refusal, Reservation } from '../../core/log/partition-log.ts'
import type { ReplicatedLog } from '../../core/state-machine/replicated-log.ts'
import type { FileRange } from '../../io/disk.ts'
import { readRecordCount } from '../../records/batch.ts'
import type { MetadataRoom } from '../../storage/metadata-room.ts'
import type { QuorumDriver } from './quorum-driver.ts'

/** The largest batch that Kafka's quorum takes. */
const maxBatchBytes = 8 * 1024 * 1024

export interface QuorumReplicatedLogOptions {
  readonly driver: QuorumDriver
  readonly log: PartitionLog<FileRange>
  readonly room: MetadataRoom
  /** The epoch in which this node is the active controller; undefined while it is not. */
  readonly activeEpoch: () => number | undefined
  /** Everything below it is committed and in the image, and its partitions are open: what answers may promise. */
  readonly servedOffset: () => number
}

/** The metadata log as the controller's decider is replicated by it. */
export class QuorumReplicatedLog implements ReplicatedLog {
  readonly maxBatchBytes = maxBatchBytes
  readonly #options: QuorumReplicatedLogOptions
  #lastAppendId = 0

  constructor(options: QuorumReplicatedLogOptions) {
    this.#options = options
  }

  get nextOffset(): number {
    return this.#options.log.nextOffset
  }

  get highWatermark(): number {
    return this.#options.servedOffset()
  }

  reserve(batch: Buffer, now: Now): Reservation | Refusal {
    const { log, room, activeEpoch } = this.#options
    const leaderEpoch = activeEpoch()
    if (leaderEpoch === undefined || log.isOffline) {
      return { type: 'refused', errorCode: ErrorCode.notController, message: undefined, recordErrors: [] }
    }
    if (!room.hasRoomFor(batch.length)) {
      return { type: 'refused', errorCode: ErrorCode.kafkaStorageError, message: undefined, recordErrors: [] }
    }
    // The quorum's own append must not be refused, so it is asked here whether the directory has room.
    const inLog = log.reserve({ batch, origin: 'raftLeader', leaderEpoch, now })
    if (inLog.type === 'refused') return inLog
    const baseOffset = this.nextOffset
    const lastOffset = baseOffset + readRecordCount(batch, 0) - 1
    return { type: 'reserved', baseOffset, lastOffset, logAppendTimeMs: -1, bytes: batch }
  }

  append({ baseOffset, lastOffset, bytes }: Reservation): void {
    const leaderEpoch = this.#options.activeEpoch()
    assert(leaderEpoch !== undefined, 'what was reserved is appended in the same turn')
    const recordCount = lastOffset - baseOffset + 1
    this.#options.driver.handle({ type: 'append', appendId: ++this.#lastAppendId, leaderEpoch, recordCount, bytes })
    assert(this.nextOffset === lastOffset + 1, 'the active controller appends at once')
  }
}
