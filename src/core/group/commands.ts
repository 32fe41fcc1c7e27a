import type { Uuid } from '../../base/uuid.ts'
import type { HeartbeatRequest } from '../../protocol/messages/heartbeat.ts'
import type { JoinGroupRequest } from '../../protocol/messages/join-group.ts'
import type { LeaveGroupRequest } from '../../protocol/messages/leave-group.ts'
import type { OffsetCommitRequest } from '../../protocol/messages/offset-commit.ts'
import type { OffsetDeleteRequest } from '../../protocol/messages/offset-delete.ts'
import type { OffsetFetchRequestGroup } from '../../protocol/messages/offset-fetch.ts'
import type { SyncGroupRequest } from '../../protocol/messages/sync-group.ts'
import type { RequestId } from '../state-machine/state-machine.ts'

/**
 * What is asked of the coordinator of some of the groups: those whose id hashes to its partition. A request for several groups
 * is split by partition before, and its answers put together after.
 *
 * Requests are as they were decoded; the coordinator keeps no view of their bytes. Who may do what was checked before.
 */
export type GroupCommand = GroupRequestCommand | NodeCommand

export type GroupRequestCommand =
  | JoinGroupCommand
  | SyncGroupCommand
  | HeartbeatCommand
  | LeaveGroupCommand
  | OffsetCommitCommand
  | OffsetFetchCommand
  | OffsetDeleteCommand
  | DescribeGroupsCommand
  | ListGroupsCommand
  | DeleteGroupsCommand

interface Requested {
  readonly requestId: RequestId
  readonly apiVersion: number
}

export interface JoinGroupCommand extends Requested {
  readonly type: 'joinGroup'
  readonly clientId: string
  /** As Kafka shows it: '/127.0.0.1'. */
  readonly clientHost: string
  readonly request: JoinGroupRequest
}

export interface SyncGroupCommand extends Requested {
  readonly type: 'syncGroup'
  readonly request: SyncGroupRequest
}

export interface HeartbeatCommand extends Requested {
  readonly type: 'heartbeat'
  readonly request: HeartbeatRequest
}

export interface LeaveGroupCommand extends Requested {
  readonly type: 'leaveGroup'
  readonly request: LeaveGroupRequest
}

export interface OffsetCommitCommand extends Requested {
  readonly type: 'offsetCommit'
  /** From version 10 on the name of each topic is looked up before; it stays '' where no topic has the id. */
  readonly request: OffsetCommitRequest
}

export interface OffsetFetchCommand extends Requested {
  readonly type: 'offsetFetch'
  /** From version 10 on with the names of the topics, as above. Before version 8 the one group of the request. */
  readonly groups: readonly OffsetFetchRequestGroup[]
  readonly requireStable: boolean
}

export interface OffsetDeleteCommand extends Requested {
  readonly type: 'offsetDelete'
  readonly request: OffsetDeleteRequest
}

export interface DescribeGroupsCommand extends Requested {
  readonly type: 'describeGroups'
  readonly groupIds: readonly string[]
}

/** Asked of every coordinator of the node. */
export interface ListGroupsCommand extends Requested {
  readonly type: 'listGroups'
  readonly statesFilter: readonly string[]
  readonly typesFilter: readonly string[]
}

export interface DeleteGroupsCommand extends Requested {
  readonly type: 'deleteGroups'
  /** Each once. */
  readonly groupIds: readonly string[]
}

/** What the node itself asks of each of its coordinators; nobody waits for it. */
export type NodeCommand =
  | TimeoutCommand
  | { readonly type: 'topicsDeleted'; readonly requestId?: undefined; readonly topics: readonly DeletedTopic[] }
  /**
   * Offsets of topics that were deleted or made anew while no coordinator of the group was loaded. To be sent once after
   * each load, when this node's metadata are known to be as new as the log: otherwise a topic that is merely not yet
   * known would lose its offsets.
   */
  | { readonly type: 'removeStaleOffsets'; readonly requestId?: undefined }

export interface TimeoutCommand {
  readonly type: 'timeout'
  readonly requestId?: undefined
}

export interface DeletedTopic {
  readonly name: string
  readonly topicId: Uuid
}
