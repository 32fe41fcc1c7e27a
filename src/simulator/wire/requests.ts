import { createPartitionsRequest, createPartitionsResponse } from '../../protocol/messages/create-partitions.ts'
import { createTopicsRequest, createTopicsResponse } from '../../protocol/messages/create-topics.ts'
import { deleteRecordsRequest, deleteRecordsResponse } from '../../protocol/messages/delete-records.ts'
import { deleteTopicsRequest, deleteTopicsResponse } from '../../protocol/messages/delete-topics.ts'
import { fetchRequest, fetchResponse } from '../../protocol/messages/fetch.ts'
import { findCoordinatorRequest, findCoordinatorResponse } from '../../protocol/messages/find-coordinator.ts'
import { heartbeatRequest, heartbeatResponse } from '../../protocol/messages/heartbeat.ts'
import {
  incrementalAlterConfigsRequest,
  incrementalAlterConfigsResponse,
} from '../../protocol/messages/incremental-alter-configs.ts'
import { initProducerIdRequest, initProducerIdResponse } from '../../protocol/messages/init-producer-id.ts'
import { joinGroupRequest, joinGroupResponse } from '../../protocol/messages/join-group.ts'
import { leaveGroupRequest, leaveGroupResponse } from '../../protocol/messages/leave-group.ts'
import { listOffsetsRequest, listOffsetsResponse } from '../../protocol/messages/list-offsets.ts'
import { offsetCommitRequest, offsetCommitResponse } from '../../protocol/messages/offset-commit.ts'
import { offsetFetchRequest, offsetFetchResponse } from '../../protocol/messages/offset-fetch.ts'
import {
  offsetForLeaderEpochRequest,
  offsetForLeaderEpochResponse,
} from '../../protocol/messages/offset-for-leader-epoch.ts'
import { produceRequest, produceResponse } from '../../protocol/messages/produce.ts'
import { syncGroupRequest, syncGroupResponse } from '../../protocol/messages/sync-group.ts'

/** Requests and their responses, for `WireClient`. */
export const createPartitionsApi = { request: createPartitionsRequest, response: createPartitionsResponse }
export const createTopicsApi = { request: createTopicsRequest, response: createTopicsResponse }
export const deleteRecordsApi = { request: deleteRecordsRequest, response: deleteRecordsResponse }
export const deleteTopicsApi = { request: deleteTopicsRequest, response: deleteTopicsResponse }
export const fetchApi = { request: fetchRequest, response: fetchResponse }
export const findCoordinatorApi = { request: findCoordinatorRequest, response: findCoordinatorResponse }
export const heartbeatApi = { request: heartbeatRequest, response: heartbeatResponse }
export const incrementalAlterConfigsApi = {
  request: incrementalAlterConfigsRequest,
  response: incrementalAlterConfigsResponse,
}
export const initProducerIdApi = { request: initProducerIdRequest, response: initProducerIdResponse }
export const joinGroupApi = { request: joinGroupRequest, response: joinGroupResponse }
export const leaveGroupApi = { request: leaveGroupRequest, response: leaveGroupResponse }
export const listOffsetsApi = { request: listOffsetsRequest, response: listOffsetsResponse }
export const offsetCommitApi = { request: offsetCommitRequest, response: offsetCommitResponse }
export const offsetFetchApi = { request: offsetFetchRequest, response: offsetFetchResponse }
export const offsetForLeaderEpochApi = {
  request: offsetForLeaderEpochRequest,
  response: offsetForLeaderEpochResponse,
}
export const produceApi = { request: produceRequest, response: produceResponse }
export const syncGroupApi = { request: syncGroupRequest, response: syncGroupResponse }
