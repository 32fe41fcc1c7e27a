import type { LogConfig } from '../core/log/partition-log.ts'
import { staticSettings } from './broker-settings.ts'
import type { StaticTexts } from './load-config.ts'
import type { Setting } from './setting.ts'
import { brokerSettingsOf, inertTopicSettings, topicSettings } from './topic-settings.ts'

/** Every setting of a topic, by name. */
export const allTopicSettings: ReadonlyMap<string, Setting> = new Map(
  [...Object.values(topicSettings), ...inertTopicSettings].map(setting => [setting.name, setting]),
)

export function topicSetting(name: string): Setting | undefined {
  return allTopicSettings.get(name)
}

/**
 * The text in force for a topic's setting: its own, else that of the first broker setting that is given, else the default;
 * null where there is none. A text of its own that cannot be parsed does not count.
 */
export function topicText(name: string, topic: ReadonlyMap<string, string>, broker: StaticTexts): string | null {
  const setting = topicSetting(name)
  const own = topic.get(name)
  const parsed = own === undefined ? undefined : setting?.parse(own)
  if (parsed?.type === 'parsed') return parsed.text
  for (const { name: brokerName, factor } of brokerSettingsOf.get(name) ?? []) {
    const given = broker.get(brokerName)
    const value = given === undefined ? undefined : staticSettings.get(brokerName)?.parse(given)
    if (value?.type === 'parsed') return inTopicUnits(name, value.text, factor)
  }
  return setting?.default ?? null
}

/** Any negative retention of a broker is for ever, which a topic says with -1 only. */
function inTopicUnits(name: string, text: string, factor: number): string {
  const scaled = factor === 1 ? text : String(BigInt(text) * BigInt(factor))
  return name === 'retention.ms' && scaled.startsWith('-') ? '-1' : scaled
}

function valueInForce<T>(setting: Setting<T>, topic: ReadonlyMap<string, string>, broker: StaticTexts): T | undefined {
  const text = topicText(setting.name, topic, broker)
  const parsed = text === null ? undefined : setting.parse(text)
  return parsed?.type === 'parsed' ? parsed.value : undefined
}

/** What governs a topic besides its logs. */
export interface TopicConfig {
  readonly log: LogConfig
  readonly minInsyncReplicas: number
  readonly uncleanLeaderElectionEnable: boolean
}

/**
 * The configuration of a topic from its own settings and what is in force on the broker (`effectiveTexts`). Costs some tens
 * of microseconds: once for a topic, not for each of its partitions.
 */
export function topicConfigOf(topic: ReadonlyMap<string, string>, broker: StaticTexts): TopicConfig {
  function of<T>(setting: Setting<T>): T {
    return valueInForce(setting, topic, broker) as T
  }
  const settings = topicSettings
  const cleanup = of(settings.cleanupPolicy)
  return {
    minInsyncReplicas: of(settings.minInsyncReplicas),
    uncleanLeaderElectionEnable: of(settings.uncleanLeaderElectionEnable),
    log: {
      segmentBytes: of(settings.internalSegmentBytes) ?? of(settings.segmentBytes),
      segmentMs: of(settings.segmentMs),
      segmentJitterMs: of(settings.segmentJitterMs),
      segmentIndexBytes: of(settings.segmentIndexBytes),
      indexIntervalBytes: of(settings.indexIntervalBytes),
      retentionBytes: of(settings.retentionBytes),
      retentionMs: of(settings.retentionMs),
      maxMessageBytes: of(settings.maxMessageBytes),
      maxDecompressedMessageBytes: of(settings.maxDecompressedMessageBytes),
      compressionType: of(settings.compressionType),
      gzipLevel: of(settings.compressionGzipLevel),
      lz4Level: of(settings.compressionLz4Level),
      zstdLevel: of(settings.compressionZstdLevel),
      isCompacted: cleanup.includes('compact'),
      isDeleted: cleanup.includes('delete'),
      timestampType: of(settings.messageTimestampType),
      timestampBeforeMaxMs: of(settings.messageTimestampBeforeMaxMs),
      timestampAfterMaxMs: of(settings.messageTimestampAfterMaxMs),
      flushMessages: of(settings.flushMessages),
      flushMs: of(settings.flushMs),
      fileDeleteDelayMs: of(settings.fileDeleteDelayMs),
      deleteRetentionMs: of(settings.deleteRetentionMs),
      minCleanableDirtyRatio: of(settings.minCleanableDirtyRatio),
      minCompactionLagMs: of(settings.minCompactionLagMs),
      maxCompactionLagMs: of(settings.maxCompactionLagMs),
      preallocate: of(settings.preallocate),
    },
  }
}

/** The configuration of a topic's logs alone. */
export function logConfigOf(topic: ReadonlyMap<string, string>, broker: StaticTexts): LogConfig {
  return topicConfigOf(topic, broker).log
}
