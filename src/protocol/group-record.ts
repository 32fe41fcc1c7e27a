import { type CoordinatorRecord, type CoordinatorRecordInput, coordinatorRecordCodec } from './coordinator-record.ts'
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
import { groupMetadataKey, groupMetadataValue } from './records/group-metadata.ts'
import {
  legacyOffsetCommitKey,
  legacyOffsetCommitValue,
  offsetCommitKey,
  offsetCommitValue,
} from './records/offset-commit.ts'
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

/** What `__consumer_offsets` holds. */
const types = {
  legacyOffsetCommit: { key: legacyOffsetCommitKey, value: legacyOffsetCommitValue },
  offsetCommit: { key: offsetCommitKey, value: offsetCommitValue },
  groupMetadata: { key: groupMetadataKey, value: groupMetadataValue },
  consumerGroupMetadata: { key: consumerGroupMetadataKey, value: consumerGroupMetadataValue },
  consumerGroupPartitionMetadata: {
    key: consumerGroupPartitionMetadataKey,
    value: consumerGroupPartitionMetadataValue,
  },
  consumerGroupMemberMetadata: { key: consumerGroupMemberMetadataKey, value: consumerGroupMemberMetadataValue },
  consumerGroupTargetAssignmentMetadata: {
    key: consumerGroupTargetAssignmentMetadataKey,
    value: consumerGroupTargetAssignmentMetadataValue,
  },
  consumerGroupTargetAssignmentMember: {
    key: consumerGroupTargetAssignmentMemberKey,
    value: consumerGroupTargetAssignmentMemberValue,
  },
  consumerGroupCurrentMemberAssignment: {
    key: consumerGroupCurrentMemberAssignmentKey,
    value: consumerGroupCurrentMemberAssignmentValue,
  },
  consumerGroupRegularExpression: {
    key: consumerGroupRegularExpressionKey,
    value: consumerGroupRegularExpressionValue,
  },
  shareGroupMetadata: { key: shareGroupMetadataKey, value: shareGroupMetadataValue },
  shareGroupMemberMetadata: { key: shareGroupMemberMetadataKey, value: shareGroupMemberMetadataValue },
  shareGroupTargetAssignmentMetadata: {
    key: shareGroupTargetAssignmentMetadataKey,
    value: shareGroupTargetAssignmentMetadataValue,
  },
  shareGroupTargetAssignmentMember: {
    key: shareGroupTargetAssignmentMemberKey,
    value: shareGroupTargetAssignmentMemberValue,
  },
  shareGroupCurrentMemberAssignment: {
    key: shareGroupCurrentMemberAssignmentKey,
    value: shareGroupCurrentMemberAssignmentValue,
  },
  shareGroupStatePartitionMetadata: {
    key: shareGroupStatePartitionMetadataKey,
    value: shareGroupStatePartitionMetadataValue,
  },
  streamsGroupMetadata: { key: streamsGroupMetadataKey, value: streamsGroupMetadataValue },
  streamsGroupMemberMetadata: { key: streamsGroupMemberMetadataKey, value: streamsGroupMemberMetadataValue },
  streamsGroupTargetAssignmentMetadata: {
    key: streamsGroupTargetAssignmentMetadataKey,
    value: streamsGroupTargetAssignmentMetadataValue,
  },
  streamsGroupTargetAssignmentMember: {
    key: streamsGroupTargetAssignmentMemberKey,
    value: streamsGroupTargetAssignmentMemberValue,
  },
  streamsGroupCurrentMemberAssignment: {
    key: streamsGroupCurrentMemberAssignmentKey,
    value: streamsGroupCurrentMemberAssignmentValue,
  },
  streamsGroupTopology: { key: streamsGroupTopologyKey, value: streamsGroupTopologyValue },
}

export type GroupRecord = CoordinatorRecord<typeof types>
export type GroupRecordInput = CoordinatorRecordInput<typeof types>

export const groupRecords = coordinatorRecordCodec(types)
