import { ErrorCode } from '../../../base/error-code.ts'
import type { Uuid } from '../../../base/uuid.ts'
import type { BrokerHeartbeatRequest } from '../../../protocol/messages/broker-heartbeat.ts'
import type { BrokerImage } from '../broker-image.ts'
import { type PartitionImage, unassignedDirectory } from '../partition-image.ts'
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
import { registrationChange } from './leadership.ts'
import { decidePartitionChange, partitionChange } from './partition-change.ts'
import { failureReply } from './replies.ts'

/** The directory of a new replica: the broker's only one, else it says later which. */
export function directoryOfNewReplica({ metadata }: ControllerState, brokerId: number): Uuid {
  const directories = metadata.broker(brokerId)?.logDirs ?? []
  return directories.length === 1 ? directories[0] : unassignedDirectory
}

/** Directories that have failed: the broker leaves the in-sync replicas of what lies in them. False: none has. */
export function decideOfflineDirectories(
  broker: BrokerImage,
  request: BrokerHeartbeatRequest,
  state: ControllerState,
  draft: Draft,
): boolean {
  const life = { brokerId: broker.id, brokerEpoch: broker.epoch }
  const failed = broker.logDirs.filter(directory => request.offlineLogDirs.includes(directory))
  const cordoned = request.cordonedLogDirs
  if (cordoned && cordoned.join() !== broker.cordonedLogDirs.join()) {
    draft.add(registrationChange(life, { cordonedLogDirs: cordoned }))
  }
  if (failed.length === 0) return false
  const online = broker.logDirs.filter(directory => !failed.includes(directory))
  // A broker without any directory takes itself out of service.
  if (online.length > 0) draft.add(registrationChange(life, { logDirs: online }))
  leaveDirectories(broker.id, failed, state, draft)
  return true
}

function leaveDirectories(brokerId: number, failed: readonly Uuid[], state: ControllerState, draft: Draft): void {
  const metadataVersion = metadataVersionOf(state)
  const broker = textsInForce(state)
  const mayLead = (id: number) => id !== brokerId && isActiveBroker(state, id)
  for (const topic of state.metadata.topics()) {
    for (const partition of topic.partitions) {
      const index = partition.replicas.indexOf(brokerId)
      if (index < 0 || !failed.includes(partition.directories[index]) || !partition.isr.includes(brokerId)) continue
      const isr = partition.isr.filter(id => id !== brokerId)
      const rules = electionRules(state, topic.name, broker)
      const change = decidePartitionChange(partition, { isr, mayLead, rules, metadataVersion })
      if (change) draft.add(change)
    }
  }
}

/** A broker says in which of its directories replicas lie. */
export function decideAssignReplicasToDirs(
  command: ControllerCommand & { readonly type: 'assignReplicasToDirs' },
  state: ControllerState,
  draft: Draft,
): Draft {
  const { request } = command
  const stale = checkBrokerEpoch(state, request)
  if (stale) return draft.reply(command, failureReply(command, stale.errorCode, stale.message))
  const directories = request.directories.map(({ id, topics }) => ({
    id,
    topics: topics.map(({ topicId, partitions }) => ({
      topicId,
      partitions: partitions.map(({ partitionIndex }) => {
        const partition = state.metadata.partition(topicId, partitionIndex)
        return { partitionIndex, errorCode: assign(partition, request.brokerId, id, state, draft) }
      }),
    })),
  }))
  const response = { throttleTimeMs: 0, errorCode: ErrorCode.none, directories }
  return draft.reply(command, { type: command.type, response })
}

function assign(
  partition: PartitionImage | undefined,
  brokerId: number,
  directory: Uuid,
  state: ControllerState,
  draft: Draft,
): ErrorCode {
  if (!partition) return ErrorCode.unknownTopicOrPartition
  const index = partition.replicas.indexOf(brokerId)
  if (index < 0) return ErrorCode.notLeaderOrFollower
  if (partition.directories[index] === directory) return ErrorCode.none
  const directories = partition.directories.with(index, directory)
  draft.add({ ...partitionChange(partition, metadataVersionOf(state)), directories })
  return ErrorCode.none
}
