import { ErrorCode } from '../base/error-code.ts'
import type { Partition } from './partition.ts'

/**
 * Whether this broker may answer for the partition as its leader, and whether client and broker mean the same leadership.
 * `currentLeaderEpoch` is what the client believes; -1 when it does not say.
 */
export function leaderError(partition: Partition, currentLeaderEpoch: number): ErrorCode {
  const { leaderEpoch } = partition
  // First of all, as Kafka has it: nobody is to look for a newer epoch, or another leader, because a directory has failed here.
  if (partition.log.isOffline) return ErrorCode.kafkaStorageError
  if (currentLeaderEpoch >= 0 && currentLeaderEpoch < leaderEpoch) return ErrorCode.fencedLeaderEpoch
  if (currentLeaderEpoch > leaderEpoch) return ErrorCode.unknownLeaderEpoch
  if (!partition.isLeader) return ErrorCode.notLeaderOrFollower
  return ErrorCode.none
}
