import { ErrorCode } from '../../base/error-code.ts'
import type { deletableGroupResult } from '../../protocol/messages/delete-groups.ts'
import type { describedGroup } from '../../protocol/messages/describe-groups.ts'
import type { heartbeatResponse } from '../../protocol/messages/heartbeat.ts'
import type { joinGroupResponse } from '../../protocol/messages/join-group.ts'
import type { leaveGroupResponse, memberResponse } from '../../protocol/messages/leave-group.ts'
import type { listedGroup } from '../../protocol/messages/list-groups.ts'
import type { offsetCommitResponse } from '../../protocol/messages/offset-commit.ts'
import type { offsetDeleteResponse } from '../../protocol/messages/offset-delete.ts'
import type { offsetFetchResponseGroup } from '../../protocol/messages/offset-fetch.ts'
import type { syncGroupResponse } from '../../protocol/messages/sync-group.ts'
import type { Input } from '../../protocol/schema.ts'
import type {
  GroupCommand,
  GroupRequestCommand,
  LeaveGroupCommand,
  OffsetCommitCommand,
  OffsetFetchCommand,
} from './commands.ts'

/**
 * Answers, ready to be encoded in the version of their request. Those of requests that may name several groups are the
 * part that concerns this coordinator's groups.
 */
export type GroupReply =
  | { readonly type: 'joinGroup'; readonly response: JoinGroupBody }
  | { readonly type: 'syncGroup'; readonly response: SyncGroupBody }
  | { readonly type: 'heartbeat'; readonly response: Input<typeof heartbeatResponse> }
  | { readonly type: 'leaveGroup'; readonly response: Input<typeof leaveGroupResponse> }
  | { readonly type: 'offsetCommit'; readonly response: Input<typeof offsetCommitResponse> }
  | { readonly type: 'offsetFetch'; readonly groups: readonly FetchedGroup[] }
  | { readonly type: 'offsetDelete'; readonly response: OffsetDeleteBody }
  | { readonly type: 'describeGroups'; readonly groups: readonly Described[] }
  | { readonly type: 'listGroups'; readonly errorCode: ErrorCode; readonly groups: readonly Listed[] }
  | { readonly type: 'deleteGroups'; readonly results: readonly Deleted[] }

export type JoinGroupBody = Input<typeof joinGroupResponse>
export type SyncGroupBody = Input<typeof syncGroupResponse>
export type OffsetDeleteBody = Input<typeof offsetDeleteResponse>
export type LeftMember = Input<typeof memberResponse>
export type FetchedGroup = Input<typeof offsetFetchResponseGroup>
export type Described = Input<typeof describedGroup>
export type Listed = Input<typeof listedGroup>
export type Deleted = Input<typeof deletableGroupResult>

/** The first version of JoinGroup in which the protocol's name may be null. */
const nullableProtocolVersion = 7

export function joinGroupReply(
  apiVersion: number,
  fields: Partial<JoinGroupBody> & { readonly memberId: string },
): GroupReply {
  const noProtocol = apiVersion >= nullableProtocolVersion ? null : ''
  const response = {
    errorCode: ErrorCode.none,
    generationId: -1,
    protocolType: null,
    leader: '',
    members: [],
    ...fields,
    protocolName: fields.protocolName ?? noProtocol,
  }
  return { type: 'joinGroup', response }
}

export function syncGroupFailure(errorCode: ErrorCode): GroupReply {
  return { type: 'syncGroup', response: { errorCode, protocolType: null, protocolName: null, assignment: noBytes } }
}

/** Before version 3 a request names one member, and the answer has only its error. */
export function leaveGroupReply(apiVersion: number, errorCode: ErrorCode, members: readonly LeftMember[]): GroupReply {
  if (apiVersion >= 3) return { type: 'leaveGroup', response: { errorCode, members } }
  const single = errorCode === ErrorCode.none ? (members[0]?.errorCode ?? ErrorCode.none) : errorCode
  return { type: 'leaveGroup', response: { errorCode: single, members: [] } }
}

/** The answer to a command that was not carried out, in the codes that its clients understand. */
export function failureReply(command: GroupCommand, errorCode: ErrorCode): GroupReply {
  return failure(command as GroupRequestCommand, coordinatorCode(errorCode))
}

function failure(command: GroupRequestCommand, errorCode: ErrorCode): GroupReply {
  switch (command.type) {
    case 'joinGroup':
      return joinGroupReply(command.apiVersion, { errorCode, memberId: '' })
    case 'syncGroup':
      return syncGroupFailure(errorCode)
    case 'heartbeat': {
      // While the group is being loaded the member is given the benefit of the doubt.
      const isLoading = errorCode === ErrorCode.coordinatorLoadInProgress
      return { type: 'heartbeat', response: { errorCode: isLoading ? ErrorCode.none : errorCode } }
    }
    case 'leaveGroup':
      return leaveFailure(command, errorCode)
    case 'offsetCommit':
      return offsetCommitFailure(command, errorCode)
    case 'offsetFetch':
      return offsetFetchFailure(command, errorCode)
    case 'offsetDelete':
      return offsetDeleteReply(errorCode, [])
    case 'describeGroups':
      return { type: 'describeGroups', groups: command.groupIds.map(groupId => describeFailure(groupId, errorCode)) }
    case 'listGroups':
      return { type: 'listGroups', errorCode, groups: [] }
    case 'deleteGroups':
      return { type: 'deleteGroups', results: command.groupIds.map(groupId => ({ groupId, errorCode })) }
  }
}

/** What the log refused an append with means to a client that the coordinator cannot do it now, or is another. */
function coordinatorCode(errorCode: ErrorCode): ErrorCode {
  switch (errorCode) {
    case ErrorCode.unknownTopicOrPartition:
    case ErrorCode.notEnoughReplicas:
    case ErrorCode.requestTimedOut:
      return ErrorCode.coordinatorNotAvailable
    case ErrorCode.notLeaderOrFollower:
    case ErrorCode.kafkaStorageError:
      return ErrorCode.notCoordinator
    case ErrorCode.messageTooLarge:
    case ErrorCode.recordListTooLarge:
    case ErrorCode.invalidFetchSize:
      return ErrorCode.unknownServerError
    default:
      return errorCode
  }
}

/** Asking again will not help: the records are too large, or cannot be written at all. */
export function isRefusedForGood(errorCode: ErrorCode): boolean {
  return coordinatorCode(errorCode) === ErrorCode.unknownServerError
}

function leaveFailure(command: LeaveGroupCommand, errorCode: ErrorCode): GroupReply {
  return leaveGroupReply(command.apiVersion, errorCode, [])
}

export function offsetCommitFailure({ request }: OffsetCommitCommand, errorCode: ErrorCode): GroupReply {
  const topics = request.topics.map(({ name, topicId, partitions }) => ({
    name,
    topicId,
    partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode })),
  }))
  return { type: 'offsetCommit', response: { topics } }
}

/** Version 1 has no error but those of partitions. Consumers before 3.9 do not try again after COORDINATOR_NOT_AVAILABLE. */
function offsetFetchFailure({ apiVersion, groups }: OffsetFetchCommand, code: ErrorCode): GroupReply {
  const errorCode = code === ErrorCode.coordinatorNotAvailable ? ErrorCode.notCoordinator : code
  const failed = groups.map(({ groupId, topics }) => {
    if (apiVersion >= 2) return { groupId, topics: [], errorCode }
    return { groupId, errorCode, topics: (topics ?? []).map(topic => failedTopic(topic, errorCode)) }
  })
  return { type: 'offsetFetch', groups: failed }
}

export function offsetDeleteReply(errorCode: ErrorCode, topics: OffsetDeleteBody['topics']): GroupReply {
  return { type: 'offsetDelete', response: { errorCode, throttleTimeMs: 0, topics } }
}

function failedTopic(
  { name, topicId, partitionIndexes }: NonNullable<OffsetFetchCommand['groups'][number]['topics']>[number],
  errorCode: ErrorCode,
) {
  const partitions = partitionIndexes.map(partitionIndex => ({
    partitionIndex,
    committedOffset: -1,
    metadata: '',
    errorCode,
  }))
  return { name, topicId, partitions }
}

export function describeFailure(groupId: string, errorCode: ErrorCode): Described {
  return { errorCode, groupId, groupState: '', protocolType: '', protocolData: '', members: [] }
}

const noBytes = Buffer.alloc(0)
