import type { Random } from '../../../base/random.ts'
import type { Uuid } from '../../../base/uuid.ts'
import type { BrokerConfig } from '../../../config/broker-config.ts'
import type { ConfigLayers } from '../../../config/describe-config.ts'
import { effectiveTexts } from '../../../config/effective-config.ts'
import type { StaticTexts } from '../../../config/load-config.ts'
import { topicText } from '../../../config/topic-config.ts'
import { isActive } from '../broker-image.ts'
import { elrFeature, type LevelRange, metadataVersionFeature, oldestMetadataVersion } from '../features.ts'
import { ResourceType } from '../metadata-image.ts'
import type { MetadataStore } from '../metadata-store.ts'
import type { BrokerSessions } from './broker-sessions.ts'

export interface ControllerOptions {
  /** Of this node. */
  readonly nodeId: number
  readonly clusterId: Uuid
  readonly config: BrokerConfig
  readonly texts: StaticTexts
  readonly supportedFeatures: ReadonlyMap<string, LevelRange>
  readonly random: Random
  /** The level of kraft.version that is in force in the quorum, which changes it. */
  readonly kraftVersion: () => number
}

/** What the controller's decisions are made from. Changed by `MetadataController` only. */
export interface ControllerState {
  readonly options: ControllerOptions
  readonly metadata: MetadataStore
  readonly sessions: BrokerSessions
  /** The offset after the last record that was applied: no record from here on has been decided. */
  readonly endOffset: number
}

export function metadataVersionOf({ metadata }: ControllerState): number {
  return metadata.featureLevel(metadataVersionFeature) || oldestMetadataVersion
}

export function isElrEnabled({ metadata }: ControllerState): boolean {
  return metadata.featureLevel(elrFeature) > 0
}

export function isActiveBroker({ metadata }: ControllerState, brokerId: number): boolean {
  return isActive(metadata.broker(brokerId))
}

/** The settings in force on this node, which stand in where a topic has none of its own. */
export function configLayers({ options, metadata }: ControllerState): ConfigLayers {
  const cluster = metadata.config(ResourceType.broker, '')
  const broker = metadata.config(ResourceType.broker, String(options.nodeId))
  return { texts: options.texts, dynamic: { cluster, broker } }
}

export function textsInForce(state: ControllerState): StaticTexts {
  const { texts, dynamic } = configLayers(state)
  return effectiveTexts(texts, dynamic)
}

/** What an election in the partitions of a topic depends on. */
export interface ElectionRules {
  readonly minInsyncReplicas: number
  readonly allowsUnclean: boolean
  readonly usesElr: boolean
}

export function electionRules(state: ControllerState, topicName: string, broker: StaticTexts): ElectionRules {
  const topic = state.metadata.config(ResourceType.topic, topicName)
  return {
    minInsyncReplicas: Number(topicText('min.insync.replicas', topic, broker)),
    allowsUnclean: topicText('unclean.leader.election.enable', topic, broker) === 'true',
    usesElr: isElrEnabled(state),
  }
}
