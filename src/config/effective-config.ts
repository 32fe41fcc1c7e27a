import { type BrokerConfig, brokerConfigOf, settingValuesOf } from './broker-config.ts'
import { brokerSetting, synonymsOf } from './broker-settings.ts'
import type { StaticTexts } from './load-config.ts'

/** What was set while the cluster ran, as the metadata says: for all brokers (resource '') and for this one. */
export interface DynamicTexts {
  readonly cluster: ReadonlyMap<string, string>
  readonly broker: ReadonlyMap<string, string>
}

export const noDynamicTexts: DynamicTexts = { cluster: new Map(), broker: new Map() }

/**
 * The texts in force. A dynamic value also removes what was given under the setting's synonyms, so that a dynamic
 * `log.retention.ms` wins over a static `log.retention.hours`. Values that this broker cannot take are left out: they may have
 * been written by another release.
 */
export function effectiveTexts(texts: StaticTexts, dynamic: DynamicTexts): StaticTexts {
  const effective = new Map(texts)
  for (const layer of [dynamic.cluster, dynamic.broker]) {
    for (const [name, text] of layer) {
      const setting = brokerSetting(name)
      if (!setting || setting.update === 'read-only' || isFixedHere(name) || setting.parse(text).type === 'invalid')
        continue
      for (const synonym of synonymsOf(name)) effective.delete(synonym)
      effective.set(name, text)
    }
  }
  return effective
}

/** Undefined when the dynamic values break a rule among them; what was in force before then stays. */
export function effectiveConfig(texts: StaticTexts, dynamic: DynamicTexts): BrokerConfig | undefined {
  const effective = effectiveTexts(texts, dynamic)
  const values = settingValuesOf(name => effective.get(name))
  return brokerConfigOf(values, new Set(effective.keys())).config
}

/** Kafka can change these while it runs; Millrace reads them at the start only. */
export function isFixedHere(name: string): boolean {
  return name === 'listeners' || name === 'listener.security.protocol.map'
}
