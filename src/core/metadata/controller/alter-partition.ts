import { ErrorCode } from '../../../base/error-code.ts'
import type { PartitionData } from '../../../protocol/messages/alter-partition.ts'
import { changedPartition, LeaderRecoveryState, type PartitionImage } from '../partition-image.ts'
import { checkBrokerEpoch } from './broker-registration.ts'
import type { ControllerCommand } from './commands.ts'
import {
  type ControllerState,
  electionRules,
  isActiveBroker,
  metadataVersionOf,
  textsInForce,
} from './controller-state.ts'
import type { Draft } from './draft.ts'
import { decidePartitionChange } from './partition-change.ts'
import { failureReply } from './replies.ts'

/**
 * A leader asks for other in-sync replicas. It must be the leader of that epoch, know the partition as it is, and name only
 * replicas that are in service in the life in which they caught up.
 */
export function decideAlterPartition(
  command: ControllerCommand & { readonly type: 'alterPartition' },
  state: ControllerState,
  draft: Draft,
): Draft {
  const { request } = command
  const stale = checkBrokerEpoch(state, request)
  if (stale) return draft.reply(command, failureReply(command, stale.errorCode))
  const altered = new Set<PartitionImage>()
  const topics = request.topics.map(({ topicId, partitions }) => ({
    topicId,
    partitions: partitions.map(wanted => {
      const topic = state.metadata.topicById(topicId)
      const partition = topic?.partitions[wanted.partitionIndex]
      if (!topic) return refused(wanted, ErrorCode.unknownTopicId)
      if (!partition) return refused(wanted, ErrorCode.unknownTopicOrPartition)
      const isRepeated = altered.has(partition)
      altered.add(partition)
      if (isRepeated) return refused(wanted, ErrorCode.invalidRequest)
      const errorCode = alterationError(request.brokerId, wanted, partition, state)
      if (errorCode !== ErrorCode.none) return refused(wanted, errorCode)
      return accepted(alter(topic.name, partition, wanted, state, draft))
    }),
  }))
  const response = { throttleTimeMs: 0, errorCode: ErrorCode.none, topics }
  return draft.reply(command, { type: command.type, response })
}

function alterationError(
  brokerId: number,
  wanted: PartitionData,
  partition: PartitionImage,
  state: ControllerState,
): ErrorCode {
  // A leader that knows more than we do has it from a controller that came after us.
  const isAhead = wanted.leaderEpoch > partition.leaderEpoch || wanted.partitionEpoch > partition.partitionEpoch
  if (isAhead) return ErrorCode.notController
  if (wanted.leaderEpoch < partition.leaderEpoch) return ErrorCode.fencedLeaderEpoch
  if (brokerId !== partition.leader) return ErrorCode.invalidRequest
  if (wanted.partitionEpoch < partition.partitionEpoch) return ErrorCode.invalidUpdateVersion
  const isr = isrOf(wanted)
  if (!isPossible(isr, partition) || !isRecoveryPossible(wanted, isr, partition)) return ErrorCode.invalidRequest
  return isEligible(wanted, state) ? ErrorCode.none : ErrorCode.ineligibleReplica
}

function isrOf({ newIsr, newIsrWithEpochs }: PartitionData): readonly number[] {
  return newIsrWithEpochs.length > 0 ? newIsrWithEpochs.map(({ brokerId }) => brokerId) : newIsr
}

function isPossible(isr: readonly number[], { replicas, leader }: PartitionImage): boolean {
  const isSubset = isr.every(id => replicas.includes(id)) && new Set(isr).size === isr.length
  return isSubset && isr.includes(leader)
}

/** A leader that is still recovering is alone; one that has recovered does not go back. */
function isRecoveryPossible(wanted: PartitionData, isr: readonly number[], partition: PartitionImage): boolean {
  if (wanted.leaderRecoveryState !== LeaderRecoveryState.recovering) {
    return wanted.leaderRecoveryState === LeaderRecoveryState.recovered
  }
  return isr.length === 1 && partition.leaderRecoveryState === LeaderRecoveryState.recovering
}

function isEligible(wanted: PartitionData, state: ControllerState): boolean {
  const epochs = new Map(wanted.newIsrWithEpochs.map(({ brokerId, brokerEpoch }) => [brokerId, brokerEpoch]))
  return isrOf(wanted).every(id => {
    const epoch = epochs.get(id) ?? -1
    return isActiveBroker(state, id) && (epoch === -1 || epoch === state.metadata.broker(id)?.epoch)
  })
}

/** The partition as it will be. */
function alter(
  topicName: string,
  partition: PartitionImage,
  wanted: PartitionData,
  state: ControllerState,
  draft: Draft,
): PartitionImage {
  const change = decidePartitionChange(partition, {
    isr: isrOf(wanted),
    mayLead: id => isActiveBroker(state, id),
    rules: electionRules(state, topicName, textsInForce(state)),
    metadataVersion: metadataVersionOf(state),
    leaderRecoveryState: wanted.leaderRecoveryState,
  })
  if (!change) return partition
  draft.add(change)
  return changedPartition(partition, change)
}

function accepted(partition: PartitionImage) {
  return {
    partitionIndex: partition.partition,
    errorCode: ErrorCode.none,
    leaderId: partition.leader,
    leaderEpoch: partition.leaderEpoch,
    isr: partition.isr,
    leaderRecoveryState: partition.leaderRecoveryState,
    partitionEpoch: partition.partitionEpoch,
  }
}

function refused({ partitionIndex }: PartitionData, errorCode: ErrorCode) {
  return { partitionIndex, errorCode, leaderId: 0, leaderEpoch: 0, isr: [], leaderRecoveryState: 0, partitionEpoch: 0 }
}
