import { effectiveConfig, effectiveTexts } from '../../config/effective-config.ts'
import type { MetadataDelta } from '../../core/metadata/metadata-delta.ts'
import { ResourceType } from '../../core/metadata/metadata-image.ts'
import type { BrokerParts } from './broker-parts.ts'
import { linesOfNoEffect } from './settings-without-effect.ts'

/** Before the image moves: partitions follow the metadata, then the settings do. */
export function publishMetadata(parts: BrokerParts, delta: MetadataDelta): undefined {
  const isReplay = parts.partitions === undefined
  parts.clusterCounts.apply(delta, { isReplay })
  const before = parts.metadata?.image
  for (const line of linesOfNoEffect(delta, { before, nodeId: parts.config.nodeId, isReplay }))
    parts.io.log.write('warn', line)
  parts.partitions?.apply(delta)
  for (const { resourceType, resourceName } of delta.changedConfigs()) {
    const isOurs = resourceName === '' || resourceName === String(parts.config.nodeId)
    if (resourceType === ResourceType.broker && isOurs) takeBrokerConfig(parts, delta)
  }
  return undefined
}

function takeBrokerConfig(parts: BrokerParts, configs: Pick<MetadataDelta, 'config'>): void {
  const dynamic = {
    cluster: configs.config(ResourceType.broker, ''),
    broker: configs.config(ResourceType.broker, String(parts.config.nodeId)),
  }
  const config = effectiveConfig(parts.texts, dynamic)
  if (config === undefined) {
    parts.io.log.write('error', 'the dynamic settings of this broker break a rule among them; what was in force stays')
    return
  }
  parts.config = config
  parts.effectiveTexts = effectiveTexts(parts.texts, dynamic)
  parts.partitions?.configureAll(configs)
  parts.compactor?.reconfigured()
}
