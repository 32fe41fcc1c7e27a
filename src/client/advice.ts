import { ErrorCode } from '../base/error-code.ts'

const advice = new Map<ErrorCode, string>([
  [ErrorCode.unknownTopicOrPartition, 'Create the topic, or look for a slip in its name; new topics may take a moment'],
  [ErrorCode.unknownTopicId, 'The topic was deleted, or deleted and created anew'],
  [ErrorCode.messageTooLarge, 'Raise max.message.bytes of the topic, or send smaller records or batches'],
  [ErrorCode.recordListTooLarge, 'Raise segment.bytes of the topic, or send smaller batches'],
  [
    ErrorCode.notEnoughReplicas,
    'Fewer replicas are in sync than min.insync.replicas asks for; bring brokers back, or look at their logs',
  ],
  [
    ErrorCode.notEnoughReplicasAfterAppend,
    'Replicas fell out of sync while the records were written; they may be there or not',
  ],
  [ErrorCode.topicAuthorizationFailed, 'Grant this user the operation on the topic'],
  [ErrorCode.groupAuthorizationFailed, 'Grant this user Read on the group'],
  [ErrorCode.clusterAuthorizationFailed, 'Grant this user the operation on the cluster'],
  [ErrorCode.transactionalIdAuthorizationFailed, 'Grant this user Write on the transactional id'],
  [ErrorCode.invalidTopicException, 'Names have 1 to 249 letters, digits, dots, dashes and underscores'],
  [ErrorCode.invalidPartitions, 'Partitions can only be added'],
  [ErrorCode.invalidReplicationFactor, 'Ask for at most as many replicas as there are brokers'],
  [ErrorCode.invalidConfig, 'Look up the name and the allowed values of the setting'],
  [ErrorCode.topicAlreadyExists, 'Use it, or delete it first'],
  [
    ErrorCode.invalidTimestamp,
    'Look at message.timestamp.before.max.ms and message.timestamp.after.max.ms of the topic',
  ],
  [ErrorCode.invalidRequiredAcks, 'acks is 0, 1 or all'],
  [ErrorCode.unsupportedCompressionType, 'Choose another codec, or upgrade the broker'],
  [ErrorCode.unsupportedForMessageFormat, 'The topic has an old message format'],
  [ErrorCode.invalidSessionTimeout, 'Keep it between group.min.session.timeout.ms and group.max.session.timeout.ms'],
  [
    ErrorCode.inconsistentGroupProtocol,
    'Members of a group need an assignor in common; add one that the others have, or use another group',
  ],
  [ErrorCode.fencedInstanceId, 'Another member has the same groupInstanceId; give each its own'],
  [ErrorCode.groupMaxSizeReached, 'Raise group.max.size on the brokers, or run fewer members'],
  [ErrorCode.invalidGroupId, 'Give the consumer a groupId that is not empty'],
  [ErrorCode.nonEmptyGroup, 'Stop its members first'],
  [ErrorCode.groupIdNotFound, 'Look for a slip in the name; empty groups expire'],
  [ErrorCode.groupSubscribedToTopic, 'Stop the members that subscribe to the topic first'],
  [ErrorCode.offsetMetadataTooLarge, 'Keep it below offset.metadata.max.bytes'],
  [ErrorCode.producerFenced, 'Another producer has the same transactional id'],
  [ErrorCode.kafkaStorageError, 'A disk of the broker is full or has failed; its log says which'],
  [ErrorCode.policyViolation, 'A policy of the brokers forbids it'],
  [ErrorCode.throttlingQuotaExceeded, 'Wait, or raise the quota'],
  [ErrorCode.unsupportedVersion, 'The brokers are too old for it, or a feature is not enabled'],
  [
    ErrorCode.coordinatorNotAvailable,
    'The coordinator is starting or moving; see that __consumer_offsets has a leader',
  ],
])

/** What a person can do about an error of a broker; undefined where its name and what the broker says of it say all there is. */
export function adviceFor(code: ErrorCode, brokerText?: string | null): string | undefined {
  // It has many causes, of which Kafka and Millrace name this one alike.
  if (code === ErrorCode.invalidRecord && brokerText?.includes('without key')) {
    return 'On a compacted topic every record needs a key'
  }
  return advice.get(code)
}
