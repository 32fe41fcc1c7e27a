import { ErrorCode } from '../../../base/error-code.ts'
import type { Uuid } from '../../../base/uuid.ts'
import { isActive } from '../broker-image.ts'
import { LeaderRecoveryState, noLeader, type PartitionImage } from '../partition-image.ts'
import type { RecordOf } from '../records.ts'
import { partitionRecordOf } from '../snapshot.ts'
import { type ControllerState, isActiveBroker, metadataVersionOf } from './controller-state.ts'
import { directoryOfNewReplica } from './directories.ts'
import { placeReplicas, type UsableBroker } from './replica-placement.ts'
import { type ApiError, apiError } from './replies.ts'

/** Kafka's bound on the partitions that one request may ask for. */
export const maxPartitionsPerRequest = 10_000

/** Replicas of each new partition, in the order of their ids. */
export type Assignments = readonly (readonly number[])[]

export function isApiError(value: Assignments | ApiError): value is ApiError {
  return 'errorCode' in value
}

/** What the controller chooses itself. */
export function placeNewPartitions(
  state: ControllerState,
  wanted: { readonly partitions: number; readonly replicationFactor: number },
): Assignments | ApiError {
  const brokers = usableBrokers(state)
  const problem = placementProblem(brokers, wanted.replicationFactor)
  if (problem !== undefined) {
    const message = `Unable to replicate the partition ${wanted.replicationFactor} time(s): ${problem}`
    return apiError(ErrorCode.invalidReplicationFactor, message)
  }
  return placeReplicas(brokers, wanted, state.options.random)
}

/** All but those whose directories take no new replicas. */
function usableBrokers({ metadata }: ControllerState): UsableBroker[] {
  return [...metadata.brokers()]
    .filter(({ logDirs, cordonedLogDirs }) => !logDirs.length || logDirs.some(dir => !cordonedLogDirs.includes(dir)))
    .map(broker => ({ id: broker.id, rack: broker.rack, isFenced: !isActive(broker) }))
}

function placementProblem(brokers: readonly UsableBroker[], replicationFactor: number): string | undefined {
  if (brokers.length < replicationFactor) {
    const found = `only ${brokers.length} broker(s) are registered or some brokers have all their log directories cordoned.`
    return `The target replication factor of ${replicationFactor} cannot be reached because ${found}`
  }
  return brokers.every(broker => broker.isFenced) ? 'All brokers are currently fenced.' : undefined
}

/** Checks replicas that were chosen by hand for one partition. */
export function manualAssignmentProblem(
  state: ControllerState,
  replicas: readonly number[],
  replicationFactor: number | undefined,
): string | undefined {
  if (replicas.length === 0) return 'The manual partition assignment includes an empty replica list.'
  const sorted = [...replicas].sort((one, other) => one - other)
  for (const [index, id] of sorted.entries()) {
    if (!state.metadata.broker(id)) {
      return `The manual partition assignment includes broker ${id}, but no such broker is registered.`
    }
    if (sorted[index + 1] === id) return `The manual partition assignment includes the broker ${id} more than once.`
  }
  if (replicationFactor === undefined || replicationFactor === replicas.length) return undefined
  return (
    `The manual partition assignment includes a partition with ${replicas.length} replica(s), but this is not ` +
    `consistent with previous partitions, which have ${replicationFactor} replica(s).`
  )
}

/** Of replicas chosen by hand, one must be in service to lead. */
export function noActiveReplicaProblem(
  state: ControllerState,
  partition: number,
  replicas: readonly number[],
): string | undefined {
  if (replicas.some(id => isActiveBroker(state, id))) return undefined
  const which = `for partition ${partition} are fenced or in controlled shutdown.`
  return `All brokers specified in the manual partition assignment ${which}`
}

/** All replicas in service are in sync from the start; the first of them leads. */
export function newPartition(
  state: ControllerState,
  { topicId, partition, replicas }: { topicId: Uuid; partition: number; replicas: readonly number[] },
): RecordOf<'partition'> {
  const isr = replicas.filter(id => isActiveBroker(state, id))
  const image: PartitionImage = {
    topicId,
    partition,
    replicas,
    directories: replicas.map(id => directoryOfNewReplica(state, id)),
    isr,
    removingReplicas: [],
    addingReplicas: [],
    elr: [],
    lastKnownElr: [],
    leader: isr[0] ?? noLeader,
    leaderRecoveryState: LeaderRecoveryState.recovered,
    leaderEpoch: 0,
    partitionEpoch: 0,
  }
  return partitionRecordOf(image, metadataVersionOf(state))
}
