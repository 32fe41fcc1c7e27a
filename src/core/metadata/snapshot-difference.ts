import { MetadataDelta } from './metadata-delta.ts'
import type { ResourceConfig } from './metadata-image.ts'
import type { MetadataStore } from './metadata-store.ts'

/** The delta from one state to another that was not reached by records: what a node must do that fell behind a snapshot. */
export function differences(base: MetadataStore, later: MetadataStore): MetadataDelta {
  const delta = new MetadataDelta(base, { isOfRecords: false })
  addTopics(delta, base, later)
  for (const broker of base.brokers()) if (!later.broker(broker.id)) delta.removeBroker(broker.id)
  for (const broker of later.brokers()) if (!isEqual(broker, base.broker(broker.id))) delta.putBroker(broker)
  for (const { controllerId } of base.controllers()) delta.removeController(controllerId)
  for (const controller of later.controllers()) delta.putController(controller)
  for (const resource of base.configs()) addConfig(delta, base, { ...resource, config: configOf(later, resource) })
  for (const resource of later.configs()) addConfig(delta, base, resource)
  for (const name of base.features().keys()) if (later.featureLevel(name) === 0) delta.setFeature(name, 0)
  for (const [name, level] of later.features()) if (base.featureLevel(name) !== level) delta.setFeature(name, level)
  for (const [key] of base.keptEntries()) delta.keep(key, undefined)
  for (const [key, record] of later.keptEntries()) delta.keep(key, record)
  delta.setNextProducerId(later.nextProducerId)
  delta.replaceUnknown(later.unknownRecords())
  return delta
}

/** Each change of a partition begins a partition epoch, so that equal epochs mean equal partitions. */
function addTopics(delta: MetadataDelta, base: MetadataStore, later: MetadataStore): void {
  for (const topic of base.topics()) if (!later.topicById(topic.id)) delta.removeTopic(topic.id)
  for (const topic of later.topics()) {
    if (!base.topicById(topic.id)) delta.addTopic(topic.id, topic.name)
    for (const partition of topic.partitions) {
      const before = base.partition(topic.id, partition.partition)
      if (before?.partitionEpoch !== partition.partitionEpoch) delta.putPartition(partition)
    }
  }
}

function configOf(store: MetadataStore, { resourceType, resourceName }: ResourceConfig): ReadonlyMap<string, string> {
  return store.config(resourceType, resourceName)
}

function addConfig(delta: MetadataDelta, base: MetadataStore, resource: ResourceConfig): void {
  if (!isEqual([...resource.config], [...configOf(base, resource)])) delta.putConfig(resource)
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
