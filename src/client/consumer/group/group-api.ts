import { heartbeatRequest, heartbeatResponse } from '../../../protocol/messages/heartbeat.ts'
import { joinGroupRequest, joinGroupResponse } from '../../../protocol/messages/join-group.ts'
import { leaveGroupRequest, leaveGroupResponse } from '../../../protocol/messages/leave-group.ts'
import { syncGroupRequest, syncGroupResponse } from '../../../protocol/messages/sync-group.ts'

export const joinGroupApi = { request: joinGroupRequest, response: joinGroupResponse }
export const syncGroupApi = { request: syncGroupRequest, response: syncGroupResponse }
export const heartbeatApi = { request: heartbeatRequest, response: heartbeatResponse }
export const leaveGroupApi = { request: leaveGroupRequest, response: leaveGroupResponse }

/** The first version of JoinGroup, SyncGroup, Heartbeat and LeaveGroup that knows static members. */
export const staticMembersFrom = { joinGroup: 5, syncGroup: 3, heartbeat: 3, leaveGroup: 3 }
