import type { BrokerConfig } from '../../config/broker-config.ts'
import type { ConfigLayers } from '../../config/describe-config.ts'
import { supportedFeatures } from '../../core/metadata/features.ts'
import { ResourceType } from '../../core/metadata/metadata-image.ts'
import { AutoTopicCreator } from '../auto-topic-creator.ts'
import { ImageClusterView } from '../image-cluster-view.ts'
import { ProducerIds } from '../producer-ids.ts'
import type { BrokerServices, FeatureView, HandlerSettings } from '../services.ts'
import type { BrokerParts } from './broker-parts.ts'

/** What the handlers of requests work with. */
export function brokerServices(parts: BrokerParts): BrokerServices {
  const metadata = parts.metadata!
  const image = metadata.image
  const cluster = new ImageClusterView({
    clusterId: parts.clusterId,
    image: () => image,
    controllerId: () => parts.controllerId ?? -1,
  })
  const creator = new AutoTopicCreator({
    controller: request => metadata.submit(request),
    config: () => parts.config,
    clock: parts.io.clock,
    log: parts.io.log,
  })
  return {
    clock: parts.io.clock,
    log: parts.io.log,
    deadlines: parts.deadlines,
    metrics: parts.metrics,
    nodeId: parts.config.nodeId,
    clusterId: parts.clusterId,
    config: settingsOf(() => parts.config),
    partitions: parts.partitions!,
    cluster,
    groups: parts.groups!,
    fetchSessions: parts.fetchSessions,
    producerIds: new ProducerIds(async () => {
      const request = { brokerId: parts.config.nodeId, brokerEpoch: parts.registration?.brokerEpoch ?? -1 }
      const reply = await metadata.submit({ type: 'allocateProducerIds', request })
      const response = reply.type === 'allocateProducerIds' ? reply.response : undefined
      if (response === undefined || response.errorCode !== 0)
        return { type: 'refused', errorCode: response?.errorCode ?? -1 }
      return { type: 'allocated', start: response.producerIdStart, length: response.producerIdLen }
    }),
    features: () => features(parts),
    controller: request => metadata.submit(request),
    configLayers: () => configLayers(parts),
    resourceConfig: (type, name) => image.config(type, name),
    fail: error => parts.fail(error),
    createMissingTopics: names => creator.create(names),
    takeDeleted: name => parts.deletedNames.take(name),
    nodeEndpoints: request => cluster.brokers(request.owner.listenerName),
  }
}

function configLayers(parts: BrokerParts): ConfigLayers {
  const { image } = parts.metadata!
  const cluster = image.config(ResourceType.broker, '')
  const broker = image.config(ResourceType.broker, String(parts.config.nodeId))
  return { texts: parts.texts, dynamic: { cluster, broker } }
}

function features(parts: BrokerParts): FeatureView {
  const metadata = parts.metadata!
  const supported = [...supportedFeatures].map(([name, { min, max }]) => ({ name, minVersion: min, maxVersion: max }))
  const finalized = [...metadata.image.features()]
    // What a feature of a higher level governs is refused here, so it is not offered either.
    .filter(([name, level]) => level <= (supportedFeatures.get(name)?.max ?? 0))
    .map(([name, level]) => ({ name, minVersionLevel: level, maxVersionLevel: level }))
  const kraftVersion = metadata.quorum?.kraftVersion ?? 0
  if (kraftVersion > 0)
    finalized.push({ name: 'kraft.version', minVersionLevel: kraftVersion, maxVersionLevel: kraftVersion })
  return {
    supported: supported.filter(one => one.maxVersion > 0),
    finalized,
    finalizedEpoch: metadata.servedOffset - 1,
  }
}

function settingsOf(config: () => BrokerConfig): HandlerSettings {
  return {
    get fetchMaxBytes() {
      return config().fetchMaxBytes
    },
    get autoCreateTopics() {
      return config().autoCreateTopicsEnable
    },
    get maxPartitionsPerAnswer() {
      return config().maxRequestPartitionSizeLimit
    },
  }
}
