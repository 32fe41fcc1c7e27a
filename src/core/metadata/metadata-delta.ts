import { assert } from '../../base/assert.ts'
import type { Uuid } from '../../base/uuid.ts'
import type { BrokerImage } from './broker-image.ts'
import type { ResourceConfig, TopicImage } from './metadata-image.ts'
import type { MetadataStore, MetadataTables } from './metadata-store.ts'
import { isUncleanElection, type PartitionImage } from './partition-image.ts'
import type { KnownRecord, RecordOf, UnknownMetadataRecord } from './records.ts'

/** One partition that is new or different. */
export interface ChangedPartition {
  readonly topicId: Uuid
  readonly topicName: string
  readonly partition: number
  /** Undefined: the partition is new. */
  readonly before: PartitionImage | undefined
  readonly after: PartitionImage
}

interface ChangedTopic {
  readonly id: Uuid
  readonly name: string
  readonly isNew: boolean
  readonly partitions: Map<number, PartitionImage>
}

/** A change of one entry of a table: what it becomes, undefined for removed. */
type Changes<K, V> = Map<K, V | undefined>

/**
 * What becomes different between the image and some later offset. It holds only that: reading through it gives the later
 * state, the image itself is as before until the delta is applied. Each entry is the last of its changes; a topic that
 * came and went in between is not in it.
 */
export class MetadataDelta implements MetadataTables {
  readonly #base: MetadataStore
  readonly #topics = new Map<Uuid, ChangedTopic>()
  readonly #deletedTopics = new Map<Uuid, TopicImage>()
  readonly #topicIds: Changes<string, Uuid> = new Map()
  readonly #brokers: Changes<number, BrokerImage> = new Map()
  readonly #controllers: Changes<number, RecordOf<'registerController'>> = new Map()
  readonly #configs = new Map<string, ResourceConfig>()
  readonly #features: Changes<string, number> = new Map()
  readonly #kept: Changes<string, KnownRecord> = new Map()
  readonly #unknown: UnknownMetadataRecord[] = []
  #replacesUnknown = false
  #nextProducerId: number | undefined
  #uncleanElections = 0
  #isApplied = false
  readonly #isOfRecords: boolean

  /** `isOfRecords`: each change is put into it, and not only what came of all of them. */
  constructor(base: MetadataStore, { isOfRecords }: { readonly isOfRecords: boolean }) {
    this.#base = base
    this.#isOfRecords = isOfRecords
  }

  /** Elections of leaders that may lack what was committed, as far as they can be told: a snapshot does not tell. */
  get uncleanElections(): number {
    return this.#uncleanElections
  }

  /** Topics that are gone, as they were. */
  deletedTopics(): Iterable<TopicImage> {
    return this.#deletedTopics.values()
  }

  createdTopics(): { readonly id: Uuid; readonly name: string }[] {
    return [...this.#topics.values()].filter(topic => topic.isNew)
  }

  /** New and different partitions of topics that are there. */
  *changedPartitions(): Iterable<ChangedPartition> {
    for (const topic of this.#topics.values()) {
      for (const [partition, after] of topic.partitions) {
        const before = this.#base.partition(topic.id, partition)
        yield { topicId: topic.id, topicName: topic.name, partition, before, after }
      }
    }
  }

  /** Brokers that are new, different or, with undefined, gone. */
  changedBrokers(): ReadonlyMap<number, BrokerImage | undefined> {
    return this.#brokers
  }

  /** Resources whose settings are different, with all that they have now. */
  changedConfigs(): Iterable<ResourceConfig> {
    return this.#configs.values()
  }

  /** Features with a new level; undefined: none any more. */
  changedFeatures(): ReadonlyMap<string, number | undefined> {
    return this.#features
  }

  /** Records of unknown types and versions that came with it. */
  unknownRecords(): readonly UnknownMetadataRecord[] {
    return this.#unknown
  }

  /** Moves the image to the later state. Once. */
  applyTo(store: MetadataStore): void {
    assert(store === this.#base && !this.#isApplied, 'a delta is applied once, to what it was made of')
    this.#isApplied = true
    for (const id of this.#deletedTopics.keys()) store.removeTopic(id)
    for (const topic of this.#topics.values()) {
      if (topic.isNew) store.addTopic(topic.id, topic.name)
      for (const partition of topic.partitions.values()) store.putPartition(partition)
    }
    for (const [id, broker] of this.#brokers) broker ? store.putBroker(broker) : store.removeBroker(id)
    for (const [id, record] of this.#controllers) record ? store.putController(record) : store.removeController(id)
    for (const resource of this.#configs.values()) store.putConfig(resource)
    for (const [name, level] of this.#features) store.setFeature(name, level ?? 0)
    for (const [key, record] of this.#kept) store.keep(key, record)
    if (this.#replacesUnknown) store.clearUnknown()
    for (const record of this.#unknown) store.addUnknown(record)
    if (this.#nextProducerId !== undefined) store.setNextProducerId(this.#nextProducerId)
  }

  topicNameOf(id: Uuid): string | undefined {
    if (this.#deletedTopics.has(id)) return undefined
    return this.#topics.get(id)?.name ?? this.#base.topicNameOf(id)
  }

  topicIdOf(name: string): Uuid | undefined {
    return this.#topicIds.has(name) ? this.#topicIds.get(name) : this.#base.topicIdOf(name)
  }

  *topicIds(): Iterable<Uuid> {
    for (const id of this.#base.topicIds()) if (!this.#deletedTopics.has(id)) yield id
    for (const topic of this.#topics.values()) if (topic.isNew) yield topic.id
  }

  partitionIds(topicId: Uuid): Iterable<number> {
    const changed = this.#topics.get(topicId)?.partitions.keys() ?? []
    return new Set([...this.#base.partitionIds(topicId), ...changed])
  }

  partition(topicId: Uuid, partition: number): PartitionImage | undefined {
    if (this.#deletedTopics.has(topicId)) return undefined
    return this.#topics.get(topicId)?.partitions.get(partition) ?? this.#base.partition(topicId, partition)
  }

  addTopic(id: Uuid, name: string): void {
    assert(this.topicNameOf(id) === undefined && !this.#deletedTopics.has(id), 'a topic id is used once')
    assert(this.topicIdOf(name) === undefined, 'two topics never have one name')
    this.#topics.set(id, { id, name, isNew: true, partitions: new Map() })
    this.#topicIds.set(name, id)
  }

  removeTopic(id: Uuid): void {
    const name = this.topicNameOf(id)
    assert(name !== undefined, 'a topic that is removed is there')
    this.#topics.delete(id)
    this.#topicIds.set(name, undefined)
    const before = this.#base.topicById(id)
    if (before) this.#deletedTopics.set(id, before)
  }

  putPartition(partition: PartitionImage): void {
    const { topicId } = partition
    const name = this.topicNameOf(topicId)
    assert(name !== undefined, 'a partition belongs to a topic')
    const before = this.partition(topicId, partition.partition)
    if (this.#isOfRecords && before !== undefined && isUncleanElection(before, partition)) this.#uncleanElections++
    const changed = this.#topics.get(topicId) ?? { id: topicId, name, isNew: false, partitions: new Map() }
    changed.partitions.set(partition.partition, partition)
    this.#topics.set(topicId, changed)
  }

  broker(id: number): BrokerImage | undefined {
    return this.#brokers.has(id) ? this.#brokers.get(id) : this.#base.broker(id)
  }

  putBroker(broker: BrokerImage): void {
    this.#brokers.set(broker.id, broker)
  }

  removeBroker(id: number): void {
    this.#brokers.set(id, undefined)
  }

  putController(record: RecordOf<'registerController'>): void {
    this.#controllers.set(record.controllerId, record)
  }

  removeController(id: number): void {
    this.#controllers.set(id, undefined)
  }

  config(resourceType: number, resourceName: string): ReadonlyMap<string, string> {
    const changed = this.#configs.get(configKey(resourceType, resourceName))
    return changed?.config ?? this.#base.config(resourceType, resourceName)
  }

  putConfig(resource: ResourceConfig): void {
    this.#configs.set(configKey(resource.resourceType, resource.resourceName), resource)
  }

  setFeature(name: string, level: number): void {
    this.#features.set(name, level === 0 ? undefined : level)
  }

  setNextProducerId(nextProducerId: number): void {
    this.#nextProducerId = nextProducerId
  }

  keep(key: string, record: KnownRecord | undefined): void {
    this.#kept.set(key, record)
  }

  addUnknown(record: UnknownMetadataRecord): void {
    this.#unknown.push(record)
  }

  /** In the place of those that the image has. */
  replaceUnknown(records: readonly UnknownMetadataRecord[]): void {
    this.#replacesUnknown = true
    this.#unknown.push(...records)
  }
}

function configKey(resourceType: number, resourceName: string): string {
  return `${resourceType} ${resourceName}`
}
