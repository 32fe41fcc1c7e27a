import { alterConfigsRequest, alterConfigsResponse } from '../../src/protocol/messages/alter-configs.ts'
import { apiVersionsRequest, apiVersionsResponse } from '../../src/protocol/messages/api-versions.ts'
import { createPartitionsRequest, createPartitionsResponse } from '../../src/protocol/messages/create-partitions.ts'
import { createTopicsRequest, createTopicsResponse } from '../../src/protocol/messages/create-topics.ts'
import { deleteGroupsRequest, deleteGroupsResponse } from '../../src/protocol/messages/delete-groups.ts'
import { deleteRecordsRequest, deleteRecordsResponse } from '../../src/protocol/messages/delete-records.ts'
import { deleteTopicsRequest, deleteTopicsResponse } from '../../src/protocol/messages/delete-topics.ts'
import { describeClusterRequest, describeClusterResponse } from '../../src/protocol/messages/describe-cluster.ts'
import { describeConfigsRequest, describeConfigsResponse } from '../../src/protocol/messages/describe-configs.ts'
import { describeGroupsRequest, describeGroupsResponse } from '../../src/protocol/messages/describe-groups.ts'
import {
  describeTopicPartitionsRequest,
  describeTopicPartitionsResponse,
} from '../../src/protocol/messages/describe-topic-partitions.ts'
import { fetchRequest, fetchResponse } from '../../src/protocol/messages/fetch.ts'
import { findCoordinatorRequest, findCoordinatorResponse } from '../../src/protocol/messages/find-coordinator.ts'
import { heartbeatRequest, heartbeatResponse } from '../../src/protocol/messages/heartbeat.ts'
import {
  incrementalAlterConfigsRequest,
  incrementalAlterConfigsResponse,
} from '../../src/protocol/messages/incremental-alter-configs.ts'
import { initProducerIdRequest, initProducerIdResponse } from '../../src/protocol/messages/init-producer-id.ts'
import { joinGroupRequest, joinGroupResponse } from '../../src/protocol/messages/join-group.ts'
import { leaveGroupRequest, leaveGroupResponse } from '../../src/protocol/messages/leave-group.ts'
import { listGroupsRequest, listGroupsResponse } from '../../src/protocol/messages/list-groups.ts'
import { listOffsetsRequest, listOffsetsResponse } from '../../src/protocol/messages/list-offsets.ts'
import { metadataRequest, metadataResponse } from '../../src/protocol/messages/metadata.ts'
import { offsetCommitRequest, offsetCommitResponse } from '../../src/protocol/messages/offset-commit.ts'
import { offsetDeleteRequest, offsetDeleteResponse } from '../../src/protocol/messages/offset-delete.ts'
import { offsetFetchRequest, offsetFetchResponse } from '../../src/protocol/messages/offset-fetch.ts'
import {
  offsetForLeaderEpochRequest,
  offsetForLeaderEpochResponse,
} from '../../src/protocol/messages/offset-for-leader-epoch.ts'
import { produceRequest, produceResponse } from '../../src/protocol/messages/produce.ts'
import { syncGroupRequest, syncGroupResponse } from '../../src/protocol/messages/sync-group.ts'
import { updateFeaturesRequest, updateFeaturesResponse } from '../../src/protocol/messages/update-features.ts'

/** The APIs that the tests call, each request with its answer. */
export const api = {
  produce: { request: produceRequest, response: produceResponse },
  fetch: { request: fetchRequest, response: fetchResponse },
  listOffsets: { request: listOffsetsRequest, response: listOffsetsResponse },
  metadata: { request: metadataRequest, response: metadataResponse },
  offsetCommit: { request: offsetCommitRequest, response: offsetCommitResponse },
  offsetFetch: { request: offsetFetchRequest, response: offsetFetchResponse },
  findCoordinator: { request: findCoordinatorRequest, response: findCoordinatorResponse },
  joinGroup: { request: joinGroupRequest, response: joinGroupResponse },
  heartbeat: { request: heartbeatRequest, response: heartbeatResponse },
  leaveGroup: { request: leaveGroupRequest, response: leaveGroupResponse },
  syncGroup: { request: syncGroupRequest, response: syncGroupResponse },
  describeGroups: { request: describeGroupsRequest, response: describeGroupsResponse },
  listGroups: { request: listGroupsRequest, response: listGroupsResponse },
  apiVersions: { request: apiVersionsRequest, response: apiVersionsResponse },
  createTopics: { request: createTopicsRequest, response: createTopicsResponse },
  deleteTopics: { request: deleteTopicsRequest, response: deleteTopicsResponse },
  deleteRecords: { request: deleteRecordsRequest, response: deleteRecordsResponse },
  initProducerId: { request: initProducerIdRequest, response: initProducerIdResponse },
  offsetForLeaderEpoch: { request: offsetForLeaderEpochRequest, response: offsetForLeaderEpochResponse },
  describeConfigs: { request: describeConfigsRequest, response: describeConfigsResponse },
  alterConfigs: { request: alterConfigsRequest, response: alterConfigsResponse },
  createPartitions: { request: createPartitionsRequest, response: createPartitionsResponse },
  deleteGroups: { request: deleteGroupsRequest, response: deleteGroupsResponse },
  incrementalAlterConfigs: { request: incrementalAlterConfigsRequest, response: incrementalAlterConfigsResponse },
  offsetDelete: { request: offsetDeleteRequest, response: offsetDeleteResponse },
  updateFeatures: { request: updateFeaturesRequest, response: updateFeaturesResponse },
  describeCluster: { request: describeClusterRequest, response: describeClusterResponse },
  describeTopicPartitions: { request: describeTopicPartitionsRequest, response: describeTopicPartitionsResponse },
}
