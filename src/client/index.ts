/** The client of Millrace and of every other cluster that speaks Kafka's protocol: everything that an application uses. */
import { nodeIo } from '../io/node/node-io.ts'
import { Client } from './client.ts'
import type { ClientIo } from './client-io.ts'
import type { ClientOptions } from './client-options.ts'

/**
 * A client of a cluster. Nothing is connected before it is needed.
 *
 *   const client = createClient({ bootstrapServers: 'localhost:9092' })
 *   const producer = client.producer()
 *   await producer.send({ topic: 'orders', key: 'o1', value: 'paid' })
 *   const consumer = client.consumer({ groupId: 'billing', offsetReset: 'earliest' })
 *   consumer.subscribe(['orders'])
 *   for await (const batch of consumer) for (const record of batch) console.log(record.value?.toString())
 *
 * `io` is the real world unless given.
 */
export function createClient(options: ClientOptions, io: ClientIo = nodeIo()): Client {
  return new Client(options, io)
}

export type { Record, RecordHeader } from '../records/record.ts'
export type { Admin } from './admin/admin.ts'
export { type AdminOptions, type AdminResult, allSucceeded } from './admin/admin-result.ts'
export type {
  ConfigAlteration,
  ConfigChange,
  ConfigEntry,
  ConfigQuery,
  ConfigReplacement,
  ConfigResource,
  ConfigSource,
} from './admin/configs.ts'
export type { ApiVersionRange, ClusterDescription, NodeVersions } from './admin/describe-cluster.ts'
export type { ListedTopic, PartitionDescription, TopicDescription } from './admin/describe-topics.ts'
export type { GroupDescription, GroupMember, ListedGroup, MemberRef } from './admin/groups.ts'
export type { RecordsToDelete } from './admin/records.ts'
export type { CreatedTopic, MorePartitions, NewTopic, TopicRef } from './admin/topics.ts'
export type { Client } from './client.ts'
export type { ClientIo } from './client-io.ts'
export type { ClientOptions } from './client-options.ts'
export type { CommittedOffset, OffsetToCommit } from './cluster/group-offsets.ts'
export type { TopicPartition } from './cluster/leader-requests.ts'
export type { FoundOffset, OffsetQuery, OffsetSpec } from './cluster/list-offsets.ts'
export type { ConsumedBatch } from './consumer/consumed-batch.ts'
export type { Consumer } from './consumer/consumer.ts'
export type { AssignedAt, CloseOptions, PollOptions, RunOptions } from './consumer/consumer-calls.ts'
export type { ConsumerOptions } from './consumer/consumer-options.ts'
export type { AssignorName } from './consumer/group/assignors.ts'
export type { RebalanceListener } from './consumer/group/group-share.ts'
export { type ClientErrorCode, MillraceError } from './millrace-error.ts'
export type { Producer } from './producer/producer.ts'
export type { Compression, ProducerOptions } from './producer/producer-options.ts'
export type { BytesLike, ProducerRecord, RecordMetadata, SendOutcome } from './producer/producer-record.ts'
export { SendError } from './producer/send-call.ts'
