import { brokerSetting, staticSettings, synonymsOf } from './broker-settings.ts'
import { type DynamicTexts, effectiveTexts, isFixedHere, noDynamicTexts } from './effective-config.ts'
import type { StaticTexts } from './load-config.ts'
import { clientMetricsSettings, groupConfigSettings } from './resource-settings.ts'
import { isSensitive, type Setting, type SettingType } from './setting.ts'
import { allTopicSettings, topicText } from './topic-config.ts'
import { brokerSettingsOf } from './topic-settings.ts'

/** Where a described value comes from, as the wire numbers it. */
export const ConfigSource = {
  dynamicTopic: 1,
  dynamicBroker: 2,
  dynamicDefaultBroker: 3,
  staticBroker: 4,
  default: 5,
  dynamicBrokerLogger: 6,
  clientMetrics: 7,
  group: 8,
} as const
export type ConfigSource = (typeof ConfigSource)[keyof typeof ConfigSource]

const typeNumbers: Readonly<Record<SettingType, number>> = {
  boolean: 1,
  string: 2,
  int: 3,
  short: 4,
  long: 5,
  double: 6,
  list: 7,
  class: 8,
  password: 9,
}

export interface DescribedSynonym {
  readonly name: string
  readonly value: string | null
  readonly source: ConfigSource
}

/** One entry of a DescribeConfigs answer; the fields are named as they are there. */
export interface DescribedConfig {
  readonly name: string
  /** Null where there is no value, and for every secret. */
  readonly value: string | null
  readonly readOnly: boolean
  readonly configSource: ConfigSource
  readonly isSensitive: boolean
  /** All places that have a value, the one that counts first. */
  readonly synonyms: readonly DescribedSynonym[]
  readonly configType: number
  readonly documentation: string | null
}

/** What is set where, for describing. */
export interface ConfigLayers {
  readonly texts: StaticTexts
  readonly dynamic: DynamicTexts
}

/** Described as Kafka does, its oddities included: what stands only under a second synonym is no source of a topic's value. */
export function describeTopic(topic: ReadonlyMap<string, string>, layers: ConfigLayers): DescribedConfig[] {
  const effective = effectiveTexts(layers.texts, layers.dynamic)
  const described: DescribedConfig[] = []
  for (const setting of allTopicSettings.values()) {
    if (setting.isInternal) continue
    const brokerName = brokerSettingsOf.get(setting.name)?.[0].name
    const own = topic.get(setting.name)
    const synonyms = brokerName === undefined ? [] : brokerSynonyms(brokerName, layers)
    const value = topicText(setting.name, topic, effective)
    if (own !== undefined) synonyms.unshift({ name: setting.name, value, source: ConfigSource.dynamicTopic })
    described.push(entry(setting.name, setting, value, synonyms, false))
  }
  return described
}

/**
 * What is in force for a new topic, as CreateTopics answers it. Unlike above, a value that stands under any synonym is a
 * source, and the topic's own are as they were written.
 */
export function describeNewTopic(topic: ReadonlyMap<string, string>, layers: ConfigLayers): DescribedConfig[] {
  const effective = effectiveTexts(layers.texts, layers.dynamic)
  return [...allTopicSettings.values()]
    .filter(setting => !setting.isInternal)
    .map(setting => {
      const source = topic.has(setting.name) ? ConfigSource.dynamicTopic : sourceOf(setting.name, layers)
      const value = topic.get(setting.name) ?? topicText(setting.name, topic, effective)
      const described = entry(setting.name, setting, value, [], false)
      return { ...described, configSource: source }
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

function sourceOf(topicName: string, { texts, dynamic }: ConfigLayers): ConfigSource {
  const synonyms = brokerSettingsOf.get(topicName) ?? []
  const isGiven = (layer: ReadonlyMap<string, string>) => synonyms.some(({ name }) => layer.has(name))
  if (isGiven(dynamic.broker)) return ConfigSource.dynamicBroker
  if (isGiven(dynamic.cluster)) return ConfigSource.dynamicDefaultBroker
  return isGiven(texts) ? ConfigSource.staticBroker : ConfigSource.default
}

/** All settings of this broker, and what was given under names that are no settings. */
export function describeBroker(layers: ConfigLayers): DescribedConfig[] {
  const effective = effectiveTexts(layers.texts, layers.dynamic)
  const names = new Set<string>()
  for (const setting of staticSettings.values()) if (!setting.isInternal) names.add(setting.name)
  for (const texts of [layers.texts, layers.dynamic.cluster, layers.dynamic.broker]) {
    for (const name of texts.keys()) names.add(name)
  }
  return [...names].map(name => {
    const setting = brokerSetting(name)
    if (!setting) return unknownEntry(name, brokerSynonyms(name, layers))
    return entry(name, setting, textOf(setting, effective), brokerSynonyms(name, layers), isReadOnly(name, setting))
  })
}

/** What is set for all brokers. */
export function describeCluster(dynamic: DynamicTexts): DescribedConfig[] {
  const layers = { texts: new Map(), dynamic: { ...noDynamicTexts, cluster: dynamic.cluster } }
  return [...dynamic.cluster].map(([name, text]) => {
    const synonyms = brokerSynonyms(name, layers).filter(one => one.source === ConfigSource.dynamicDefaultBroker)
    const setting = brokerSetting(name)
    return setting ? entry(name, setting, text, synonyms, isReadOnly(name, setting)) : unknownEntry(name, synonyms)
  })
}

export function describeGroup(group: ReadonlyMap<string, string>, layers: ConfigLayers): DescribedConfig[] {
  const effective = effectiveTexts(layers.texts, layers.dynamic)
  const described: DescribedConfig[] = []
  for (const { setting, brokerName } of groupConfigSettings) {
    if (setting.isInternal) continue
    const brokers = brokerName === undefined ? undefined : staticSettings.get(brokerName)
    const fallback = brokers ? textOf(brokers, effective) : (setting.default ?? null)
    const text = group.get(setting.name)
    const parsed = text === undefined ? undefined : setting.parse(text)
    const own = parsed?.type === 'parsed' ? parsed.text : text
    const name = brokerName ?? setting.name
    const synonyms: DescribedSynonym[] = brokers
      ? brokerSynonyms(name, layers)
      : [{ name, value: fallback, source: ConfigSource.default }]
    if (own !== undefined) synonyms.unshift({ name: setting.name, value: own, source: ConfigSource.group })
    described.push(entry(setting.name, setting, own ?? fallback, synonyms, false))
  }
  return described
}

export function describeClientMetrics(texts: ReadonlyMap<string, string>): DescribedConfig[] {
  return clientMetricsSettings.map(setting => {
    const own = texts.get(setting.name)
    const synonyms = own === undefined ? [] : [{ name: setting.name, value: own, source: ConfigSource.clientMetrics }]
    return entry(setting.name, setting, own ?? setting.default ?? null, synonyms, false)
  })
}

function isReadOnly(name: string, setting: Setting): boolean {
  return setting.update === 'read-only' || isFixedHere(name) || name.startsWith('listener.name.')
}

function textOf(setting: Setting, effective: StaticTexts): string | null {
  const text = effective.get(setting.name)
  const parsed = text === undefined ? undefined : setting.parse(text)
  return parsed?.type === 'parsed' ? parsed.text : (setting.default ?? null)
}

/**
 * Every place where a broker setting or one of its synonyms has a value, in the order in which they count. Kafka then drops
 * those before the first that has the setting's own name; a setting found only under other names has no synonyms.
 */
function brokerSynonyms(name: string, { texts, dynamic }: ConfigLayers): DescribedSynonym[] {
  const names = synonymsOf(name)
  const found: DescribedSynonym[] = []
  const layers = [
    [dynamic.broker, ConfigSource.dynamicBroker],
    [dynamic.cluster, ConfigSource.dynamicDefaultBroker],
    [texts, ConfigSource.staticBroker],
  ] as const
  const sensitive = isSensitiveName(name)
  for (const [layer, source] of layers) {
    for (const one of names) {
      const value = layer.get(one)
      if (value !== undefined) found.push({ name: one, value: sensitive ? null : value, source })
    }
  }
  for (const one of names) {
    const value = brokerSetting(one)?.default
    const isStatic = staticSettings.has(one)
    if (isStatic && value !== undefined && value !== null)
      found.push({ name: one, value, source: ConfigSource.default })
  }
  const first = found.findIndex(one => one.name === name)
  return first < 0 ? [] : found.slice(first)
}

/** What nobody declared might be a secret. */
function isSensitiveName(name: string): boolean {
  const setting = brokerSetting(name)
  return !setting || isSensitive(setting)
}

function entry(
  name: string,
  setting: Setting,
  value: string | null,
  synonyms: readonly DescribedSynonym[],
  readOnly: boolean,
): DescribedConfig {
  const sensitive = isSensitive(setting)
  return {
    name,
    value: sensitive ? null : value,
    readOnly,
    configSource: synonyms[0]?.source ?? ConfigSource.default,
    isSensitive: sensitive,
    synonyms,
    configType: typeNumbers[setting.type],
    documentation: setting.doc,
  }
}

function unknownEntry(name: string, synonyms: readonly DescribedSynonym[]): DescribedConfig {
  return {
    name,
    value: null,
    readOnly: true,
    configSource: synonyms[0]?.source ?? ConfigSource.default,
    isSensitive: true,
    synonyms,
    configType: 0,
    documentation: null,
  }
}
