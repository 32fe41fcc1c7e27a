import type { Uuid } from '../../base/uuid.ts'
import type { BrokerImage } from './broker-image.ts'
import type { PartitionImage } from './partition-image.ts'
import type { KnownRecord, RecordOf, UnknownMetadataRecord } from './records.ts'

/** The resources that have settings, as the wire numbers them. */
export const ResourceType = { topic: 2, broker: 4, brokerLogger: 8, clientMetrics: 16, group: 32 } as const

export interface TopicImage {
  readonly id: Uuid
  readonly name: string
  /** By partition id; ids have no gaps. Changes with the image. */
  readonly partitions: readonly PartitionImage[]
}

export interface ResourceConfig {
  readonly resourceType: number
  readonly resourceName: string
  readonly config: ReadonlyMap<string, string>
}

/**
 * What the cluster is, as the committed metadata says up to some offset. It is the same object all the time and moves on
 * with each delta, in one turn; what it returns of one broker, partition or resource never changes.
 */
export interface MetadataImage {
  topic(name: string): TopicImage | undefined
  topicById(id: Uuid): TopicImage | undefined
  topics(): Iterable<TopicImage>
  readonly topicCount: number
  readonly partitionCount: number
  partition(topicId: Uuid, partition: number): PartitionImage | undefined

  broker(id: number): BrokerImage | undefined
  /** In the order in which they first registered. */
  brokers(): Iterable<BrokerImage>
  controllers(): Iterable<RecordOf<'registerController'>>

  /** The settings of a resource; of all brokers with the name ''. Empty where there are none. */
  config(resourceType: number, resourceName: string): ReadonlyMap<string, string>
  /** Every resource that has settings. */
  configs(): Iterable<ResourceConfig>
  /** 0 where the feature has no level. */
  featureLevel(name: string): number
  features(): ReadonlyMap<string, number>
  /** Every producer id below it has been given out in blocks. */
  readonly nextProducerId: number

  /** State of parts that Millrace does not have: access control, credentials, tokens, quotas. For snapshots. */
  kept(): Iterable<KnownRecord>
  /** Records of types or versions that this release does not know, in their order. For snapshots. */
  unknownRecords(): readonly UnknownMetadataRecord[]
}
