import type { BrokerImage } from './broker-image.ts'
import { bootstrapMetadataVersion, metadataVersionFeature, oldestMetadataVersion, recordVersion } from './features.ts'
import type { MetadataImage, TopicImage } from './metadata-image.ts'
import type { PartitionImage } from './partition-image.ts'
import type { KnownRecord, MetadataRecord, RecordOf } from './records.ts'

/**
 * The records whose replay gives this image: what a snapshot holds between its header and its footer. The image is captured
 * when this is called (a pointer for each partition); the records are made as they are asked for, so that whoever
 * encodes them can yield while the image moves on.
 */
export function snapshotRecords(image: MetadataImage): Iterable<MetadataRecord> {
  const level = image.featureLevel(metadataVersionFeature) || oldestMetadataVersion
  const features = [...image.features()].sort(([one], [other]) => (isFirst(one, other) ? -1 : 1))
  const controllers = [...image.controllers()]
  const brokers = [...image.brokers()]
  const topics = [...image.topics()].map(topic => ({ ...topic, partitions: topic.partitions.slice() }))
  const configs = [...image.configs()]
  const { nextProducerId } = image
  const kept = [...image.kept()]
  const unknown = [...image.unknownRecords()]

  return (function* records(): Iterable<MetadataRecord> {
    for (const [name, featureLevel] of features) yield { type: 'featureLevel', version: 0, name, featureLevel }
    yield* controllers
    for (const broker of brokers) yield brokerRecord(broker, level)
    for (const topic of topics) yield* topicRecords(topic, level)
    for (const { resourceType, resourceName, config } of configs) {
      for (const [name, value] of config) yield { type: 'config', version: 0, resourceType, resourceName, name, value }
    }
    if (nextProducerId > 0) {
      yield { type: 'producerIds', version: 0, brokerId: -1, brokerEpoch: -1, nextProducerId }
    }
    yield* kept
    yield* unknown
  })()
}

/** metadata.version before all others, since it says how the rest is to be read. */
function isFirst(one: string, other: string): boolean {
  return one === metadataVersionFeature || (other !== metadataVersionFeature && one < other)
}

function* topicRecords({ id, name, partitions }: TopicImage, level: number): Iterable<KnownRecord> {
  yield { type: 'topic', version: 0, name, topicId: id }
  for (const partition of partitions) yield partitionRecordOf(partition, level)
}

export function partitionRecordOf(partition: PartitionImage, metadataVersion: number): RecordOf<'partition'> {
  return {
    type: 'partition',
    version: recordVersion('partition', metadataVersion),
    partitionId: partition.partition,
    topicId: partition.topicId,
    replicas: partition.replicas,
    isr: partition.isr,
    removingReplicas: partition.removingReplicas,
    addingReplicas: partition.addingReplicas,
    leader: partition.leader,
    leaderRecoveryState: partition.leaderRecoveryState,
    leaderEpoch: partition.leaderEpoch,
    partitionEpoch: partition.partitionEpoch,
    directories: partition.directories,
    eligibleLeaderReplicas: partition.elr.length > 0 ? partition.elr : null,
    lastKnownElr: partition.lastKnownElr.length > 0 ? partition.lastKnownElr : null,
  }
}

export function brokerRecord(broker: BrokerImage, metadataVersion: number): RecordOf<'registerBroker'> {
  return {
    type: 'registerBroker',
    version: recordVersion('registerBroker', metadataVersion),
    brokerId: broker.id,
    isMigratingZkBroker: broker.isMigratingZkBroker,
    incarnationId: broker.incarnationId,
    brokerEpoch: broker.epoch,
    endPoints: broker.endpoints,
    features: broker.features,
    rack: broker.rack,
    fenced: broker.fenced,
    inControlledShutdown: broker.inControlledShutdown,
    logDirs: broker.logDirs,
    cordonedLogDirs: broker.cordonedLogDirs.length > 0 ? broker.cordonedLogDirs : null,
  }
}

/**
 * What formatting writes as the snapshot at offset 0, besides its control records. Every feature but the metadata's own is at
 * the level that is implemented, which for now is none: that is said by leaving it out.
 */
export function bootstrapRecords(): readonly KnownRecord[] {
  const featureLevel = bootstrapMetadataVersion
  return [{ type: 'featureLevel', version: 0, name: metadataVersionFeature, featureLevel }]
}
