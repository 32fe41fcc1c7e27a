import { addOffsetsToTxnRequest, addOffsetsToTxnResponse } from './messages/add-offsets-to-txn.ts'
import { addPartitionsToTxnRequest, addPartitionsToTxnResponse } from './messages/add-partitions-to-txn.ts'
import { addRaftVoterRequest, addRaftVoterResponse } from './messages/add-raft-voter.ts'
import { allocateProducerIdsRequest, allocateProducerIdsResponse } from './messages/allocate-producer-ids.ts'
import { alterClientQuotasRequest, alterClientQuotasResponse } from './messages/alter-client-quotas.ts'
import { alterConfigsRequest, alterConfigsResponse } from './messages/alter-configs.ts'
import { alterPartitionRequest, alterPartitionResponse } from './messages/alter-partition.ts'
import {
  alterPartitionReassignmentsRequest,
  alterPartitionReassignmentsResponse,
} from './messages/alter-partition-reassignments.ts'
import { alterReplicaLogDirsRequest, alterReplicaLogDirsResponse } from './messages/alter-replica-log-dirs.ts'
import { alterShareGroupOffsetsRequest, alterShareGroupOffsetsResponse } from './messages/alter-share-group-offsets.ts'
import {
  alterUserScramCredentialsRequest,
  alterUserScramCredentialsResponse,
} from './messages/alter-user-scram-credentials.ts'
import { apiVersionsRequest, apiVersionsResponse } from './messages/api-versions.ts'
import { assignReplicasToDirsRequest, assignReplicasToDirsResponse } from './messages/assign-replicas-to-dirs.ts'
import { beginQuorumEpochRequest, beginQuorumEpochResponse } from './messages/begin-quorum-epoch.ts'
import { brokerHeartbeatRequest, brokerHeartbeatResponse } from './messages/broker-heartbeat.ts'
import { brokerRegistrationRequest, brokerRegistrationResponse } from './messages/broker-registration.ts'
import { consumerGroupDescribeRequest, consumerGroupDescribeResponse } from './messages/consumer-group-describe.ts'
import { consumerGroupHeartbeatRequest, consumerGroupHeartbeatResponse } from './messages/consumer-group-heartbeat.ts'
import { controllerRegistrationRequest, controllerRegistrationResponse } from './messages/controller-registration.ts'
import { createAclsRequest, createAclsResponse } from './messages/create-acls.ts'
import { createDelegationTokenRequest, createDelegationTokenResponse } from './messages/create-delegation-token.ts'
import { createPartitionsRequest, createPartitionsResponse } from './messages/create-partitions.ts'
import { createTopicsRequest, createTopicsResponse } from './messages/create-topics.ts'
import { deleteAclsRequest, deleteAclsResponse } from './messages/delete-acls.ts'
import { deleteGroupsRequest, deleteGroupsResponse } from './messages/delete-groups.ts'
import { deleteRecordsRequest, deleteRecordsResponse } from './messages/delete-records.ts'
import {
  deleteShareGroupOffsetsRequest,
  deleteShareGroupOffsetsResponse,
} from './messages/delete-share-group-offsets.ts'
import { deleteShareGroupStateRequest, deleteShareGroupStateResponse } from './messages/delete-share-group-state.ts'
import { deleteTopicsRequest, deleteTopicsResponse } from './messages/delete-topics.ts'
import { describeAclsRequest, describeAclsResponse } from './messages/describe-acls.ts'
import { describeClientQuotasRequest, describeClientQuotasResponse } from './messages/describe-client-quotas.ts'
import { describeClusterRequest, describeClusterResponse } from './messages/describe-cluster.ts'
import { describeConfigsRequest, describeConfigsResponse } from './messages/describe-configs.ts'
import {
  describeDelegationTokenRequest,
  describeDelegationTokenResponse,
} from './messages/describe-delegation-token.ts'
import { describeGroupsRequest, describeGroupsResponse } from './messages/describe-groups.ts'
import { describeLogDirsRequest, describeLogDirsResponse } from './messages/describe-log-dirs.ts'
import { describeProducersRequest, describeProducersResponse } from './messages/describe-producers.ts'
import { describeQuorumRequest, describeQuorumResponse } from './messages/describe-quorum.ts'
import {
  describeShareGroupOffsetsRequest,
  describeShareGroupOffsetsResponse,
} from './messages/describe-share-group-offsets.ts'
import {
  describeTopicPartitionsRequest,
  describeTopicPartitionsResponse,
} from './messages/describe-topic-partitions.ts'
import { describeTransactionsRequest, describeTransactionsResponse } from './messages/describe-transactions.ts'
import {
  describeUserScramCredentialsRequest,
  describeUserScramCredentialsResponse,
} from './messages/describe-user-scram-credentials.ts'
import { electLeadersRequest, electLeadersResponse } from './messages/elect-leaders.ts'
import { endQuorumEpochRequest, endQuorumEpochResponse } from './messages/end-quorum-epoch.ts'
import { endTxnRequest, endTxnResponse } from './messages/end-txn.ts'
import { envelopeRequest, envelopeResponse } from './messages/envelope.ts'
import { expireDelegationTokenRequest, expireDelegationTokenResponse } from './messages/expire-delegation-token.ts'
import { fetchRequest, fetchResponse } from './messages/fetch.ts'
import { fetchSnapshotRequest, fetchSnapshotResponse } from './messages/fetch-snapshot.ts'
import { findCoordinatorRequest, findCoordinatorResponse } from './messages/find-coordinator.ts'
import {
  getTelemetrySubscriptionsRequest,
  getTelemetrySubscriptionsResponse,
} from './messages/get-telemetry-subscriptions.ts'
import { requestHeader, responseHeader } from './messages/header.ts'
import { heartbeatRequest, heartbeatResponse } from './messages/heartbeat.ts'
import {
  incrementalAlterConfigsRequest,
  incrementalAlterConfigsResponse,
} from './messages/incremental-alter-configs.ts'
import { initProducerIdRequest, initProducerIdResponse } from './messages/init-producer-id.ts'
import {
  initializeShareGroupStateRequest,
  initializeShareGroupStateResponse,
} from './messages/initialize-share-group-state.ts'
import { joinGroupRequest, joinGroupResponse } from './messages/join-group.ts'
import { leaveGroupRequest, leaveGroupResponse } from './messages/leave-group.ts'
import { listConfigResourcesRequest, listConfigResourcesResponse } from './messages/list-config-resources.ts'
import { listGroupsRequest, listGroupsResponse } from './messages/list-groups.ts'
import { listOffsetsRequest, listOffsetsResponse } from './messages/list-offsets.ts'
import {
  listPartitionReassignmentsRequest,
  listPartitionReassignmentsResponse,
} from './messages/list-partition-reassignments.ts'
import { listTransactionsRequest, listTransactionsResponse } from './messages/list-transactions.ts'
import { metadataRequest, metadataResponse } from './messages/metadata.ts'
import { offsetCommitRequest, offsetCommitResponse } from './messages/offset-commit.ts'
import { offsetDeleteRequest, offsetDeleteResponse } from './messages/offset-delete.ts'
import { offsetFetchRequest, offsetFetchResponse } from './messages/offset-fetch.ts'
import { offsetForLeaderEpochRequest, offsetForLeaderEpochResponse } from './messages/offset-for-leader-epoch.ts'
import { produceRequest, produceResponse } from './messages/produce.ts'
import { pushTelemetryRequest, pushTelemetryResponse } from './messages/push-telemetry.ts'
import { readShareGroupStateRequest, readShareGroupStateResponse } from './messages/read-share-group-state.ts'
import {
  readShareGroupStateSummaryRequest,
  readShareGroupStateSummaryResponse,
} from './messages/read-share-group-state-summary.ts'
import { removeRaftVoterRequest, removeRaftVoterResponse } from './messages/remove-raft-voter.ts'
import { renewDelegationTokenRequest, renewDelegationTokenResponse } from './messages/renew-delegation-token.ts'
import { saslAuthenticateRequest, saslAuthenticateResponse } from './messages/sasl-authenticate.ts'
import { saslHandshakeRequest, saslHandshakeResponse } from './messages/sasl-handshake.ts'
import { shareAcknowledgeRequest, shareAcknowledgeResponse } from './messages/share-acknowledge.ts'
import { shareFetchRequest, shareFetchResponse } from './messages/share-fetch.ts'
import { shareGroupDescribeRequest, shareGroupDescribeResponse } from './messages/share-group-describe.ts'
import { shareGroupHeartbeatRequest, shareGroupHeartbeatResponse } from './messages/share-group-heartbeat.ts'
import { streamsGroupDescribeRequest, streamsGroupDescribeResponse } from './messages/streams-group-describe.ts'
import { streamsGroupHeartbeatRequest, streamsGroupHeartbeatResponse } from './messages/streams-group-heartbeat.ts'
import {
  streamsGroupTopologyDescriptionUpdateRequest,
  streamsGroupTopologyDescriptionUpdateResponse,
} from './messages/streams-group-topology-description-update.ts'
import { syncGroupRequest, syncGroupResponse } from './messages/sync-group.ts'
import { txnOffsetCommitRequest, txnOffsetCommitResponse } from './messages/txn-offset-commit.ts'
import { unregisterBrokerRequest, unregisterBrokerResponse } from './messages/unregister-broker.ts'
import { unregisterControllerRequest, unregisterControllerResponse } from './messages/unregister-controller.ts'
import { updateFeaturesRequest, updateFeaturesResponse } from './messages/update-features.ts'
import { updateRaftVoterRequest, updateRaftVoterResponse } from './messages/update-raft-voter.ts'
import { voteRequest, voteResponse } from './messages/vote.ts'
import { writeShareGroupStateRequest, writeShareGroupStateResponse } from './messages/write-share-group-state.ts'
import { writeTxnMarkersRequest, writeTxnMarkersResponse } from './messages/write-txn-markers.ts'
import { abortedTxn } from './records/aborted-txn.ts'
import {
  consumerGroupCurrentMemberAssignmentKey,
  consumerGroupCurrentMemberAssignmentValue,
  consumerGroupMemberMetadataKey,
  consumerGroupMemberMetadataValue,
  consumerGroupMetadataKey,
  consumerGroupMetadataValue,
  consumerGroupPartitionMetadataKey,
  consumerGroupPartitionMetadataValue,
  consumerGroupRegularExpressionKey,
  consumerGroupRegularExpressionValue,
  consumerGroupTargetAssignmentMemberKey,
  consumerGroupTargetAssignmentMemberValue,
  consumerGroupTargetAssignmentMetadataKey,
  consumerGroupTargetAssignmentMetadataValue,
} from './records/consumer-group.ts'
import { consumerProtocolAssignment, consumerProtocolSubscription } from './records/consumer-protocol.ts'
import {
  controlRecordTypeSchema,
  endTxnMarker,
  kraftVersionRecord,
  leaderChangeMessage,
  snapshotFooterRecord,
  snapshotHeaderRecord,
  votersRecord,
} from './records/control.ts'
import { groupMetadataKey, groupMetadataValue } from './records/group-metadata.ts'
import {
  brokerRegistrationChangeRecord,
  fenceBrokerRecord,
  registerBrokerRecord,
  registerControllerRecord,
  unfenceBrokerRecord,
  unregisterBrokerRecord,
  unregisterControllerRecord,
} from './records/metadata-nodes.ts'
import {
  accessControlEntryRecord,
  delegationTokenRecord,
  removeAccessControlEntryRecord,
  removeDelegationTokenRecord,
  removeUserScramCredentialRecord,
  userScramCredentialRecord,
} from './records/metadata-security.ts'
import { clientQuotaRecord, configRecord, featureLevelRecord, producerIdsRecord } from './records/metadata-settings.ts'
import {
  clearElrRecord,
  partitionChangeRecord,
  partitionRecord,
  removeTopicRecord,
  topicRecord,
} from './records/metadata-topics.ts'
import {
  abortTransactionRecord,
  beginTransactionRecord,
  endTransactionRecord,
  noOpRecord,
  zkMigrationStateRecord,
} from './records/metadata-transactions.ts'
import {
  legacyOffsetCommitKey,
  legacyOffsetCommitValue,
  offsetCommitKey,
  offsetCommitValue,
} from './records/offset-commit.ts'
import { defaultPrincipalData } from './records/principal.ts'
import { producerSnapshot } from './records/producer-snapshot.ts'
import { quorumStateData } from './records/quorum-state.ts'
import {
  remoteLogSegmentMetadataRecord,
  remoteLogSegmentMetadataSnapshotRecord,
  remoteLogSegmentMetadataUpdateRecord,
  remotePartitionDeleteMetadataRecord,
} from './records/remote-log.ts'
import {
  shareGroupCurrentMemberAssignmentKey,
  shareGroupCurrentMemberAssignmentValue,
  shareGroupMemberMetadataKey,
  shareGroupMemberMetadataValue,
  shareGroupMetadataKey,
  shareGroupMetadataValue,
  shareGroupStatePartitionMetadataKey,
  shareGroupStatePartitionMetadataValue,
  shareGroupTargetAssignmentMemberKey,
  shareGroupTargetAssignmentMemberValue,
  shareGroupTargetAssignmentMetadataKey,
  shareGroupTargetAssignmentMetadataValue,
} from './records/share-group.ts'
import { shareSnapshotKey, shareSnapshotValue, shareUpdateKey, shareUpdateValue } from './records/share-state.ts'
import {
  streamsGroupCurrentMemberAssignmentKey,
  streamsGroupCurrentMemberAssignmentValue,
  streamsGroupMemberMetadataKey,
  streamsGroupMemberMetadataValue,
  streamsGroupMetadataKey,
  streamsGroupMetadataValue,
  streamsGroupTargetAssignmentMemberKey,
  streamsGroupTargetAssignmentMemberValue,
  streamsGroupTargetAssignmentMetadataKey,
  streamsGroupTargetAssignmentMetadataValue,
  streamsGroupTopologyKey,
  streamsGroupTopologyValue,
} from './records/streams-group.ts'
import { subscriptionInfoData } from './records/streams-subscription.ts'
import { transactionLogKey, transactionLogValue } from './records/transaction-log.ts'
import type { Fields, Message } from './schema.ts'

/** Every API's messages, for what must know them all: the fuzzer, the tests, `show-codec`. A broker or client imports those it uses. */
export const apiMessages: readonly { readonly request: Message; readonly response: Message }[] = [
  { request: produceRequest, response: produceResponse },
  { request: fetchRequest, response: fetchResponse },
  { request: listOffsetsRequest, response: listOffsetsResponse },
  { request: metadataRequest, response: metadataResponse },
  { request: offsetCommitRequest, response: offsetCommitResponse },
  { request: offsetFetchRequest, response: offsetFetchResponse },
  { request: findCoordinatorRequest, response: findCoordinatorResponse },
  { request: joinGroupRequest, response: joinGroupResponse },
  { request: heartbeatRequest, response: heartbeatResponse },
  { request: leaveGroupRequest, response: leaveGroupResponse },
  { request: syncGroupRequest, response: syncGroupResponse },
  { request: describeGroupsRequest, response: describeGroupsResponse },
  { request: listGroupsRequest, response: listGroupsResponse },
  { request: saslHandshakeRequest, response: saslHandshakeResponse },
  { request: apiVersionsRequest, response: apiVersionsResponse },
  { request: createTopicsRequest, response: createTopicsResponse },
  { request: deleteTopicsRequest, response: deleteTopicsResponse },
  { request: deleteRecordsRequest, response: deleteRecordsResponse },
  { request: initProducerIdRequest, response: initProducerIdResponse },
  { request: offsetForLeaderEpochRequest, response: offsetForLeaderEpochResponse },
  { request: addPartitionsToTxnRequest, response: addPartitionsToTxnResponse },
  { request: addOffsetsToTxnRequest, response: addOffsetsToTxnResponse },
  { request: endTxnRequest, response: endTxnResponse },
  { request: writeTxnMarkersRequest, response: writeTxnMarkersResponse },
  { request: txnOffsetCommitRequest, response: txnOffsetCommitResponse },
  { request: describeAclsRequest, response: describeAclsResponse },
  { request: createAclsRequest, response: createAclsResponse },
  { request: deleteAclsRequest, response: deleteAclsResponse },
  { request: describeConfigsRequest, response: describeConfigsResponse },
  { request: alterConfigsRequest, response: alterConfigsResponse },
  { request: alterReplicaLogDirsRequest, response: alterReplicaLogDirsResponse },
  { request: describeLogDirsRequest, response: describeLogDirsResponse },
  { request: saslAuthenticateRequest, response: saslAuthenticateResponse },
  { request: createPartitionsRequest, response: createPartitionsResponse },
  { request: createDelegationTokenRequest, response: createDelegationTokenResponse },
  { request: renewDelegationTokenRequest, response: renewDelegationTokenResponse },
  { request: expireDelegationTokenRequest, response: expireDelegationTokenResponse },
  { request: describeDelegationTokenRequest, response: describeDelegationTokenResponse },
  { request: deleteGroupsRequest, response: deleteGroupsResponse },
  { request: electLeadersRequest, response: electLeadersResponse },
  { request: incrementalAlterConfigsRequest, response: incrementalAlterConfigsResponse },
  { request: alterPartitionReassignmentsRequest, response: alterPartitionReassignmentsResponse },
  { request: listPartitionReassignmentsRequest, response: listPartitionReassignmentsResponse },
  { request: offsetDeleteRequest, response: offsetDeleteResponse },
  { request: describeClientQuotasRequest, response: describeClientQuotasResponse },
  { request: alterClientQuotasRequest, response: alterClientQuotasResponse },
  { request: describeUserScramCredentialsRequest, response: describeUserScramCredentialsResponse },
  { request: alterUserScramCredentialsRequest, response: alterUserScramCredentialsResponse },
  { request: voteRequest, response: voteResponse },
  { request: beginQuorumEpochRequest, response: beginQuorumEpochResponse },
  { request: endQuorumEpochRequest, response: endQuorumEpochResponse },
  { request: describeQuorumRequest, response: describeQuorumResponse },
  { request: alterPartitionRequest, response: alterPartitionResponse },
  { request: updateFeaturesRequest, response: updateFeaturesResponse },
  { request: envelopeRequest, response: envelopeResponse },
  { request: fetchSnapshotRequest, response: fetchSnapshotResponse },
  { request: describeClusterRequest, response: describeClusterResponse },
  { request: describeProducersRequest, response: describeProducersResponse },
  { request: brokerRegistrationRequest, response: brokerRegistrationResponse },
  { request: brokerHeartbeatRequest, response: brokerHeartbeatResponse },
  { request: unregisterBrokerRequest, response: unregisterBrokerResponse },
  { request: describeTransactionsRequest, response: describeTransactionsResponse },
  { request: listTransactionsRequest, response: listTransactionsResponse },
  { request: allocateProducerIdsRequest, response: allocateProducerIdsResponse },
  { request: consumerGroupHeartbeatRequest, response: consumerGroupHeartbeatResponse },
  { request: consumerGroupDescribeRequest, response: consumerGroupDescribeResponse },
  { request: controllerRegistrationRequest, response: controllerRegistrationResponse },
  { request: getTelemetrySubscriptionsRequest, response: getTelemetrySubscriptionsResponse },
  { request: pushTelemetryRequest, response: pushTelemetryResponse },
  { request: assignReplicasToDirsRequest, response: assignReplicasToDirsResponse },
  { request: listConfigResourcesRequest, response: listConfigResourcesResponse },
  { request: describeTopicPartitionsRequest, response: describeTopicPartitionsResponse },
  { request: shareGroupHeartbeatRequest, response: shareGroupHeartbeatResponse },
  { request: shareGroupDescribeRequest, response: shareGroupDescribeResponse },
  { request: shareFetchRequest, response: shareFetchResponse },
  { request: shareAcknowledgeRequest, response: shareAcknowledgeResponse },
  { request: addRaftVoterRequest, response: addRaftVoterResponse },
  { request: removeRaftVoterRequest, response: removeRaftVoterResponse },
  { request: updateRaftVoterRequest, response: updateRaftVoterResponse },
  { request: initializeShareGroupStateRequest, response: initializeShareGroupStateResponse },
  { request: readShareGroupStateRequest, response: readShareGroupStateResponse },
  { request: writeShareGroupStateRequest, response: writeShareGroupStateResponse },
  { request: deleteShareGroupStateRequest, response: deleteShareGroupStateResponse },
  { request: readShareGroupStateSummaryRequest, response: readShareGroupStateSummaryResponse },
  { request: streamsGroupHeartbeatRequest, response: streamsGroupHeartbeatResponse },
  { request: streamsGroupDescribeRequest, response: streamsGroupDescribeResponse },
  { request: describeShareGroupOffsetsRequest, response: describeShareGroupOffsetsResponse },
  { request: alterShareGroupOffsetsRequest, response: alterShareGroupOffsetsResponse },
  { request: deleteShareGroupOffsetsRequest, response: deleteShareGroupOffsetsResponse },
  { request: streamsGroupTopologyDescriptionUpdateRequest, response: streamsGroupTopologyDescriptionUpdateResponse },
  { request: unregisterControllerRequest, response: unregisterControllerResponse },
]

/** The messages of no API: headers, stored records with their keys, and data inside of other fields. */
export const otherMessages: readonly Message<Fields>[] = [
  requestHeader,
  responseHeader,
  registerBrokerRecord,
  unregisterBrokerRecord,
  fenceBrokerRecord,
  unfenceBrokerRecord,
  brokerRegistrationChangeRecord,
  registerControllerRecord,
  unregisterControllerRecord,
  topicRecord,
  removeTopicRecord,
  partitionRecord,
  partitionChangeRecord,
  clearElrRecord,
  configRecord,
  clientQuotaRecord,
  featureLevelRecord,
  producerIdsRecord,
  accessControlEntryRecord,
  removeAccessControlEntryRecord,
  userScramCredentialRecord,
  removeUserScramCredentialRecord,
  delegationTokenRecord,
  removeDelegationTokenRecord,
  beginTransactionRecord,
  endTransactionRecord,
  abortTransactionRecord,
  noOpRecord,
  zkMigrationStateRecord,
  legacyOffsetCommitKey,
  legacyOffsetCommitValue,
  offsetCommitKey,
  offsetCommitValue,
  groupMetadataKey,
  groupMetadataValue,
  consumerGroupMetadataKey,
  consumerGroupMetadataValue,
  consumerGroupPartitionMetadataKey,
  consumerGroupPartitionMetadataValue,
  consumerGroupMemberMetadataKey,
  consumerGroupMemberMetadataValue,
  consumerGroupTargetAssignmentMetadataKey,
  consumerGroupTargetAssignmentMetadataValue,
  consumerGroupTargetAssignmentMemberKey,
  consumerGroupTargetAssignmentMemberValue,
  consumerGroupCurrentMemberAssignmentKey,
  consumerGroupCurrentMemberAssignmentValue,
  consumerGroupRegularExpressionKey,
  consumerGroupRegularExpressionValue,
  shareGroupMetadataKey,
  shareGroupMetadataValue,
  shareGroupMemberMetadataKey,
  shareGroupMemberMetadataValue,
  shareGroupTargetAssignmentMetadataKey,
  shareGroupTargetAssignmentMetadataValue,
  shareGroupTargetAssignmentMemberKey,
  shareGroupTargetAssignmentMemberValue,
  shareGroupCurrentMemberAssignmentKey,
  shareGroupCurrentMemberAssignmentValue,
  shareGroupStatePartitionMetadataKey,
  shareGroupStatePartitionMetadataValue,
  streamsGroupMetadataKey,
  streamsGroupMetadataValue,
  streamsGroupMemberMetadataKey,
  streamsGroupMemberMetadataValue,
  streamsGroupTargetAssignmentMetadataKey,
  streamsGroupTargetAssignmentMetadataValue,
  streamsGroupTargetAssignmentMemberKey,
  streamsGroupTargetAssignmentMemberValue,
  streamsGroupCurrentMemberAssignmentKey,
  streamsGroupCurrentMemberAssignmentValue,
  streamsGroupTopologyKey,
  streamsGroupTopologyValue,
  transactionLogKey,
  transactionLogValue,
  shareSnapshotKey,
  shareSnapshotValue,
  shareUpdateKey,
  shareUpdateValue,
  controlRecordTypeSchema,
  endTxnMarker,
  leaderChangeMessage,
  snapshotHeaderRecord,
  snapshotFooterRecord,
  kraftVersionRecord,
  votersRecord,
  remoteLogSegmentMetadataRecord,
  remoteLogSegmentMetadataUpdateRecord,
  remotePartitionDeleteMetadataRecord,
  remoteLogSegmentMetadataSnapshotRecord,
  abortedTxn,
  producerSnapshot,
  quorumStateData,
  subscriptionInfoData,
  consumerProtocolSubscription,
  consumerProtocolAssignment,
  defaultPrincipalData,
]
