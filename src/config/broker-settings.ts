import { groupSettings } from './group-settings.ts'
import { inertGroupSettings } from './inert-group-settings.ts'
import { inertSecuritySettings } from './inert-security-settings.ts'
import { dynamicOnlySettings, inertSettings } from './inert-settings.ts'
import { logSettings } from './log-settings.ts'
import { millraceSettings } from './millrace-settings.ts'
import { networkSettings } from './network-settings.ts'
import { nodeSettings } from './node-settings.ts'
import type { Setting, SettingValue } from './setting.ts'

/** The settings of a broker that change something here, by the property that holds them. */
export const brokerSettings = {
  ...nodeSettings,
  ...networkSettings,
  ...logSettings,
  ...groupSettings,
  ...millraceSettings,
}

/** One value for each setting, as it was given or by default. */
export type SettingValues = { readonly [K in keyof typeof brokerSettings]: SettingValue<(typeof brokerSettings)[K]> }

/** Every setting that may stand in a file, by name: Kafka's, with those that are inert, and Millrace's. */
export const staticSettings: ReadonlyMap<string, Setting> = new Map(
  [...Object.values(brokerSettings), ...inertSettings, ...inertGroupSettings, ...inertSecuritySettings].map(setting => [
    setting.name,
    setting,
  ]),
)

const dynamicOnly: ReadonlyMap<string, Setting> = new Map(dynamicOnlySettings.map(setting => [setting.name, setting]))

/** Settings that stand for one another, those that count first before the others. */
const synonyms: readonly (readonly string[])[] = [
  ['log.retention.ms', 'log.retention.minutes', 'log.retention.hours'],
  ['log.roll.ms', 'log.roll.hours'],
  ['log.roll.jitter.ms', 'log.roll.jitter.hours'],
  ['log.flush.interval.ms', 'log.flush.scheduler.interval.ms'],
]

/**
 * The setting of that name: of a broker, one that is only dynamic, or one of a single listener such as
 * `listener.name.internal.ssl.keystore.type`.
 */
export function brokerSetting(name: string): Setting | undefined {
  return staticSettings.get(name) ?? dynamicOnly.get(name) ?? listenerSetting(name)
}

function listenerSetting(name: string): Setting | undefined {
  const rest = /^listener\.name\.[^.]+\.(.+)$/.exec(name)?.[1]
  if (rest === undefined) return undefined
  const mechanism = rest.replace(/^[^.]+\.(?=sasl\.)/, '')
  return staticSettings.get(rest) ?? staticSettings.get(mechanism)
}

/**
 * The names under which Kafka looks for the value of a setting, in order. `log.flush.scheduler.interval.ms` stands in for
 * another but has none that stand in for it.
 */
export function synonymsOf(name: string): readonly string[] {
  if (name === 'log.flush.scheduler.interval.ms') return [name]
  return synonyms.find(names => names.includes(name)) ?? listenerSynonyms(name)
}

function listenerSynonyms(name: string): readonly string[] {
  const rest = /^listener\.name\.[^.]+\.(.+)$/.exec(name)?.[1]
  return rest === undefined ? [name] : [name, rest]
}
