import { ErrorCode } from '../base/error-code.ts'
import { brokerSetting } from './broker-settings.ts'
import { type DynamicTexts, effectiveConfig, isFixedHere } from './effective-config.ts'
import type { StaticTexts } from './load-config.ts'
import { clientMetricsSettings, groupConfigSettings } from './resource-settings.ts'
import type { Setting } from './setting.ts'
import { splitList } from './text.ts'
import { topicSetting, topicText } from './topic-config.ts'

/** A change of configuration that is refused: Kafka's code and words. */
export interface ConfigRefusal {
  readonly errorCode: ErrorCode
  readonly message: string
}

type Texts = ReadonlyMap<string, string>

function invalidConfig(message: string): ConfigRefusal {
  return { errorCode: ErrorCode.invalidConfig, message }
}

function invalidRequest(message: string): ConfigRefusal {
  return { errorCode: ErrorCode.invalidRequest, message }
}

/** Checks what would be set on a topic, all of it. `broker` is what is in force on the broker, for values it lacks. */
export function checkTopicConfig(topic: Texts, broker: StaticTexts): ConfigRefusal | undefined {
  for (const name of topic.keys()) {
    if (!topicSetting(name)) return invalidConfig(`Unknown topic config name: ${name}`)
  }
  for (const [name, text] of topic) {
    const parsed = topicSetting(name)?.parse(text)
    if (parsed?.type === 'invalid') return invalidConfig(parsed.message)
  }
  const minLag = numberIn('min.compaction.lag.ms', topic, broker)
  const maxLag = numberIn('max.compaction.lag.ms', topic, broker)
  if (minLag > maxLag) {
    const [min, max] = ['min.compaction.lag.ms', 'max.compaction.lag.ms'].map(name => topicText(name, topic, broker))
    return invalidConfig(
      `conflict topic config setting min.compaction.lag.ms (${min}) > max.compaction.lag.ms (${max})`,
    )
  }
  if (topic.get('remote.storage.enable')?.trim().toLowerCase() === 'true') {
    return invalidConfig(
      'Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.',
    )
  }
  return undefined
}

function numberIn(name: string, topic: Texts, broker: StaticTexts): number {
  return Number(topicText(name, topic, broker))
}

/** Checks what would be set on one broker, or on all of them: all dynamic values of that resource. */
export function checkBrokerConfig(
  resource: { readonly isCluster: boolean; readonly texts: Texts },
  texts: StaticTexts,
): ConfigRefusal | undefined {
  const names = [...resource.texts.keys()]
  const fixed = names.filter(name => isReadOnly(name))
  if (fixed.length > 0) return invalidRequest(`Cannot update these configs dynamically: ${inBrackets(fixed)}`)
  const unprefixed = names.filter(name => listenerOnly.has(name))
  if (unprefixed.length > 0) {
    const rule = 'These security configs can be dynamically updated only per-listener using the listener prefix'
    return invalidRequest(`${rule}: ${inBrackets(unprefixed)}`)
  }
  const perBroker = names.filter(name => resource.isCluster && brokerSetting(name)?.update === 'per-broker')
  if (perBroker.length > 0) {
    const rule = 'Cannot update these configs at default cluster level, broker id must be specified'
    return invalidRequest(`${rule}: ${inBrackets(perBroker)}`)
  }
  for (const [name, text] of resource.texts) {
    const parsed = brokerSetting(name)?.parse(text)
    if (parsed?.type === 'invalid') return invalidRequest(parsed.message)
    // Kafka takes it from a file.
    if (name.endsWith('max.connection.creation.rate') && parsed?.type === 'parsed' && Number(parsed.text) === 0) {
      return invalidRequest(`Invalid ${name} 0 for configuration Invalid dynamic configuration`)
    }
  }
  const none: Texts = new Map()
  const dynamic: DynamicTexts = resource.isCluster
    ? { cluster: resource.texts, broker: none }
    : { cluster: none, broker: resource.texts }
  if (effectiveConfig(texts, dynamic)) return undefined
  return invalidRequest(`Invalid dynamic configuration: ${inBrackets(names)}`)
}

/** The settings that Kafka takes dynamically only under the name of a listener. */
const listenerOnly: ReadonlySet<string> = new Set([
  'ssl.key.password',
  'ssl.keystore.certificate.chain',
  'ssl.keystore.key',
  'ssl.keystore.location',
  'ssl.keystore.password',
  'ssl.keystore.type',
  'ssl.truststore.certificates',
  'ssl.truststore.location',
  'ssl.truststore.password',
  'ssl.truststore.type',
])

function isReadOnly(name: string): boolean {
  return isFixedHere(name) || brokerSetting(name)?.update === 'read-only'
}

function inBrackets(names: readonly string[]): string {
  return `[${[...names].sort().join(', ')}]`
}

/** Checks what would be set on a group. Several values have bounds among the broker's. */
export function checkGroupConfig(group: Texts, broker: StaticTexts): ConfigRefusal | undefined {
  for (const [name, text] of group) {
    const setting = groupConfigSettings.find(one => one.setting.name === name)?.setting
    if (!setting) return invalidConfig(`Unknown group config name: ${name}`)
    const parsed = setting.parse(text)
    if (parsed.type === 'invalid') return invalidConfig(parsed.message)
    const wrong = outOfBounds(name, Number(parsed.text), broker) ?? unknownAssignor(name, parsed.text, broker)
    if (wrong !== undefined) return invalidConfig(wrong)
  }
  return undefined
}

function outOfBounds(name: string, value: number, broker: StaticTexts): string | undefined {
  const min = boundOf(name, 'min', broker)
  const max = boundOf(name, 'max', broker)
  const isInside = (min === undefined || value >= Number(min)) && (max === undefined || value <= Number(max))
  if (isInside) return undefined
  if (min !== undefined && max !== undefined) return `${name} must be in the range ${min} to ${max} inclusive.`
  return max === undefined
    ? `${name} must be greater than or equal to ${min}`
    : `${name} must be less than or equal to ${max}`
}

/**
 * The bound of `consumer.session.timeout.ms` is `group.consumer.min.session.timeout.ms`, and that of `streams.num.x.replicas`
 * is `group.streams.max.x.replicas`.
 */
function boundOf(name: string, bound: 'min' | 'max', broker: StaticTexts): string | undefined {
  return brokerText(`group.${name.replace('.', `.${bound}.`).replace('.num.', '.')}`, broker)
}

function unknownAssignor(name: string, assignor: string, broker: StaticTexts): string | undefined {
  if (name !== 'streams.assignor.name') return undefined
  const registered = splitList(brokerText('group.streams.assignors', broker) ?? '')
  if (registered.includes(assignor)) return undefined
  const known = registered.join(', ')
  return `${name} '${assignor}' is not a registered task assignor. Registered assignors are: [${known}].`
}

function brokerText(name: string, broker: StaticTexts): string | undefined {
  return broker.get(name) ?? brokerSetting(name)?.default ?? undefined
}

const clientMatchers = [
  'client_instance_id',
  'client_id',
  'client_software_name',
  'client_software_version',
  'client_source_address',
  'client_source_port',
]

/** Checks what would be set on a metrics subscription. */
export function checkClientMetricsConfig(texts: Texts): ConfigRefusal | undefined {
  for (const [name, text] of texts) {
    const setting = clientMetricsSettings.find(one => one.name === name)
    if (!setting) return invalidRequest(`Unknown client metrics configuration: ${name}`)
    const parsed = setting.parse(text)
    if (parsed.type === 'invalid') return invalidConfig(parsed.message)
  }
  const interval = texts.get('interval.ms')
  if (interval !== undefined && (Number(interval) < 100 || Number(interval) > 3_600_000)) {
    const rule = 'interval must be between 100 and 3600000 (1 hour)'
    return invalidRequest(`Invalid value ${Number(interval)} for interval.ms, ${rule}`)
  }
  const wrong = splitList(texts.get('match') ?? '').find(pattern => !isMatcher(pattern))
  return wrong === undefined ? undefined : invalidConfig(`Illegal client matching pattern: ${wrong}`)
}

function isMatcher(pattern: string): boolean {
  const parts = pattern.split('=').map(part => part.trim())
  if (parts.length !== 2 || !clientMatchers.includes(parts[0])) return false
  try {
    new RegExp(parts[1])
    return true
  } catch {
    return false
  }
}

/**
 * The text of a list after elements are added or taken away; undefined when the setting is no list. `current` is the
 * resource's own value; without it the setting's default counts, not the broker's value.
 */
export function alterList(
  setting: Setting | undefined,
  current: string | undefined,
  change: { readonly operation: 'append' | 'subtract'; readonly elements: string },
): string | undefined {
  if (setting?.type !== 'list') return undefined
  const before = splitList(current ?? setting.default ?? '')
  const elements = splitList(change.elements)
  const after =
    change.operation === 'append'
      ? [...new Set([...before, ...elements])]
      : before.filter(element => !elements.includes(element))
  return after.join(',')
}
