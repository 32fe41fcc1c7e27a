import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import type { Refusal, Reservation } from '../../core/log/partition-log.ts'
import type { ReplicatedLog } from '../../core/state-machine/replicated-log.ts'
import type { Partition } from '../partition.ts'

/** The log of a coordinator: one partition of an internal topic that this broker leads. */
export class PartitionReplicatedLog implements ReplicatedLog {
  readonly #partition: Partition

  constructor(partition: Partition) {
    this.#partition = partition
  }

  get nextOffset(): number {
    return this.#partition.log.nextOffset
  }

  get highWatermark(): number {
    return this.#partition.log.highWatermark
  }

  get maxBatchBytes(): number {
    return this.#partition.log.config.maxMessageBytes
  }

  reserve(batch: Buffer, now: Now): Reservation | Refusal {
    const partition = this.#partition
    if (!partition.isLeader) return refused(ErrorCode.notLeaderOrFollower)
    if (!partition.hasEnoughReplicas()) return refused(ErrorCode.notEnoughReplicas)
    const answer = partition.log.reserve({ batch, origin: 'coordinator', leaderEpoch: partition.leaderEpoch, now })
    if (answer.type === 'reserved' || answer.type === 'refused') return answer
    return refused(ErrorCode.unknownServerError)
  }

  append(reservation: Reservation): void {
    this.#partition.log.append(reservation)
  }
}

function refused(errorCode: ErrorCode): Refusal {
  return { type: 'refused', errorCode, message: undefined, recordErrors: [] }
}
