import { assert } from '../../base/assert.ts'
import type { Uuid } from '../../base/uuid.ts'
import type { BrokerImage } from './broker-image.ts'
import type { MetadataImage, ResourceConfig, TopicImage } from './metadata-image.ts'
import type { PartitionImage } from './partition-image.ts'
import type { KnownRecord, RecordOf, UnknownMetadataRecord } from './records.ts'

/** What records are applied to: the state itself, or a delta that holds what becomes different. */
export interface MetadataTables {
  topicNameOf(id: Uuid): string | undefined
  topicIdOf(name: string): Uuid | undefined
  topicIds(): Iterable<Uuid>
  partitionIds(topicId: Uuid): Iterable<number>
  partition(topicId: Uuid, partition: number): PartitionImage | undefined
  broker(id: number): BrokerImage | undefined
  config(resourceType: number, resourceName: string): ReadonlyMap<string, string>

  addTopic(id: Uuid, name: string): void
  /** With its partitions. */
  removeTopic(id: Uuid): void
  putPartition(partition: PartitionImage): void
  putBroker(broker: BrokerImage): void
  removeBroker(id: number): void
  putController(record: RecordOf<'registerController'>): void
  removeController(id: number): void
  /** An empty map: the resource has no settings any more. */
  putConfig(resource: ResourceConfig): void
  /** 0 removes the feature. */
  setFeature(name: string, level: number): void
  setNextProducerId(nextProducerId: number): void
  /** Undefined removes what is kept under that key. */
  keep(key: string, record: KnownRecord | undefined): void
  addUnknown(record: UnknownMetadataRecord): void
}

interface StoredTopic extends TopicImage {
  readonly partitions: PartitionImage[]
}

const noConfig: ReadonlyMap<string, string> = new Map()
/** No topic comes near it; a record that says otherwise is damaged. */
const maxPartitionId = 10_000_000

/** The metadata of a cluster, changed in place: the committed image's, and the controller's own that runs ahead of it. */
export class MetadataStore implements MetadataImage, MetadataTables {
  readonly #topics = new Map<Uuid, StoredTopic>()
  readonly #topicIds = new Map<string, Uuid>()
  #partitionCount = 0
  readonly #brokers = new Map<number, BrokerImage>()
  readonly #controllers = new Map<number, RecordOf<'registerController'>>()
  readonly #configs = new Map<number, Map<string, ReadonlyMap<string, string>>>()
  readonly #features = new Map<string, number>()
  #nextProducerId = 0
  readonly #kept = new Map<string, KnownRecord>()
  readonly #unknown: UnknownMetadataRecord[] = []

  /** The same state in an object of its own. Costs a pointer for each partition. */
  static copyOf(source: MetadataStore): MetadataStore {
    const copy = new MetadataStore()
    for (const topic of source.#topics.values()) {
      copy.#topics.set(topic.id, { ...topic, partitions: topic.partitions.slice() })
    }
    for (const [name, id] of source.#topicIds) copy.#topicIds.set(name, id)
    copy.#partitionCount = source.#partitionCount
    for (const broker of source.#brokers.values()) copy.putBroker(broker)
    for (const controller of source.#controllers.values()) copy.putController(controller)
    for (const resource of source.configs()) copy.putConfig(resource)
    for (const [name, level] of source.#features) copy.setFeature(name, level)
    copy.#nextProducerId = source.#nextProducerId
    for (const [key, record] of source.#kept) copy.keep(key, record)
    copy.#unknown.push(...source.#unknown)
    return copy
  }

  topic(name: string): TopicImage | undefined {
    const id = this.#topicIds.get(name)
    return id === undefined ? undefined : this.#topics.get(id)
  }

  topicById(id: Uuid): TopicImage | undefined {
    return this.#topics.get(id)
  }

  topics(): Iterable<TopicImage> {
    return this.#topics.values()
  }

  get topicCount(): number {
    return this.#topics.size
  }

  get partitionCount(): number {
    return this.#partitionCount
  }

  topicNameOf(id: Uuid): string | undefined {
    return this.#topics.get(id)?.name
  }

  topicIdOf(name: string): Uuid | undefined {
    return this.#topicIds.get(name)
  }

  topicIds(): Iterable<Uuid> {
    return this.#topics.keys()
  }

  partitionIds(topicId: Uuid): Iterable<number> {
    return this.#topics.get(topicId)?.partitions.keys() ?? []
  }

  partition(topicId: Uuid, partition: number): PartitionImage | undefined {
    return this.#topics.get(topicId)?.partitions[partition]
  }

  addTopic(id: Uuid, name: string): void {
    assert(!this.#topics.has(id), 'a topic id is used once')
    assert(!this.#topicIds.has(name), 'two topics never have one name')
    this.#topics.set(id, { id, name, partitions: [] })
    this.#topicIds.set(name, id)
  }

  removeTopic(id: Uuid): void {
    const topic = this.#topics.get(id)
    assert(topic !== undefined, 'a topic that is removed is there')
    this.#topics.delete(id)
    this.#topicIds.delete(topic.name)
    this.#partitionCount -= topic.partitions.length
  }

  putPartition(partition: PartitionImage): void {
    const topic = this.#topics.get(partition.topicId)
    assert(topic !== undefined, 'a partition belongs to a topic')
    assert(partition.partition >= 0 && partition.partition <= maxPartitionId, 'a partition id is in its range')
    const before = topic.partitions.length
    topic.partitions[partition.partition] = partition
    this.#partitionCount += topic.partitions.length - before
  }

  broker(id: number): BrokerImage | undefined {
    return this.#brokers.get(id)
  }

  brokers(): Iterable<BrokerImage> {
    return this.#brokers.values()
  }

  putBroker(broker: BrokerImage): void {
    this.#brokers.set(broker.id, broker)
  }

  removeBroker(id: number): void {
    this.#brokers.delete(id)
  }

  controllers(): Iterable<RecordOf<'registerController'>> {
    return this.#controllers.values()
  }

  putController(record: RecordOf<'registerController'>): void {
    this.#controllers.set(record.controllerId, record)
  }

  removeController(id: number): void {
    this.#controllers.delete(id)
  }

  config(resourceType: number, resourceName: string): ReadonlyMap<string, string> {
    return this.#configs.get(resourceType)?.get(resourceName) ?? noConfig
  }

  *configs(): Iterable<ResourceConfig> {
    for (const [resourceType, resources] of this.#configs) {
      for (const [resourceName, config] of resources) yield { resourceType, resourceName, config }
    }
  }

  putConfig({ resourceType, resourceName, config }: ResourceConfig): void {
    const resources = this.#configs.get(resourceType) ?? new Map<string, ReadonlyMap<string, string>>()
    if (config.size > 0) resources.set(resourceName, config)
    else resources.delete(resourceName)
    this.#configs.set(resourceType, resources)
  }

  featureLevel(name: string): number {
    return this.#features.get(name) ?? 0
  }

  features(): ReadonlyMap<string, number> {
    return this.#features
  }

  setFeature(name: string, level: number): void {
    if (level === 0) this.#features.delete(name)
    else this.#features.set(name, level)
  }

  get nextProducerId(): number {
    return this.#nextProducerId
  }

  setNextProducerId(nextProducerId: number): void {
    this.#nextProducerId = nextProducerId
  }

  kept(): Iterable<KnownRecord> {
    return this.#kept.values()
  }

  keptEntries(): Iterable<[string, KnownRecord]> {
    return this.#kept
  }

  keep(key: string, record: KnownRecord | undefined): void {
    if (record) this.#kept.set(key, record)
    else this.#kept.delete(key)
  }

  unknownRecords(): readonly UnknownMetadataRecord[] {
    return this.#unknown
  }

  addUnknown(record: UnknownMetadataRecord): void {
    this.#unknown.push(record)
  }

  clearUnknown(): void {
    this.#unknown.length = 0
  }

  /** Everything in one order, so that two stores with the same state are equal when printed. */
  inspect(): unknown {
    const byKey = <T>(entries: Iterable<[string | number, T]>) => [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
    return {
      topics: byKey(
        [...this.#topics.values()].map(topic => [topic.name, { ...topic, partitions: topic.partitions.slice() }]),
      ),
      brokers: byKey(this.#brokers),
      controllers: byKey(this.#controllers),
      configs: byKey(
        [...this.configs()].map(({ resourceType, resourceName, config }) => [
          `${resourceType} ${resourceName}`,
          byKey(config),
        ]),
      ),
      features: byKey(this.#features),
      nextProducerId: this.#nextProducerId,
      partitionCount: this.#partitionCount,
      kept: byKey(this.#kept),
      unknown: this.#unknown,
    }
  }
}
