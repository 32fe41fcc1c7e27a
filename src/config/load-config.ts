import { type BrokerConfig, brokerConfigOf, settingValuesOf } from './broker-config.ts'
import { brokerSetting, brokerSettings, staticSettings } from './broker-settings.ts'
import { developmentControllerListener, developmentSettings, namesOfProduction } from './development.ts'
import { type EnvironmentSettings, settingsOfEnvironment } from './environment.ts'
import { isOfBrokerOnly } from './listener-text.ts'
import { type ConfigProblem, type Origin, originText } from './problem.ts'
import { type ConfigFile, settingsOfFile } from './properties.ts'
import { isSensitive } from './setting.ts'
import { nearestSetting, unknownSettingText } from './unknown-setting.ts'
import { whyWithoutEffect } from './without-effect.ts'

export interface ConfigSources {
  readonly file?: ConfigFile
  /** KEY=VALUE each, as --override gives them; the last of several for one key counts. */
  readonly overrides: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** The texts that were given for this node, by setting. Nothing in it changes while the broker runs. */
export type StaticTexts = ReadonlyMap<string, string>

export interface LoadedConfig {
  readonly type: 'loaded'
  readonly config: BrokerConfig
  /** For DescribeConfigs and for deriving the configuration anew when dynamic settings change. */
  readonly texts: StaticTexts
  /** Neither a file nor an environment says who this node is: data is formatted at once, and the banner says so. */
  readonly isDevelopment: boolean
  /** A line each. */
  readonly warnings: readonly string[]
}

export interface InvalidConfig {
  readonly type: 'invalid'
  readonly problems: readonly ConfigProblem[]
  /** A line each: the slip in a name may be why the value of another is missing. */
  readonly warnings: readonly string[]
  /** A line on what the problems have in common. */
  readonly hint?: string
}

interface GivenText {
  readonly text: string
  readonly origin: Origin
}

/** Order: --override, MILLRACE_*, KAFKA_*, file, what the development profile stands in for, default. */
export function loadConfig(sources: ConfigSources): LoadedConfig | InvalidConfig {
  const file = sources.file && settingsOfFile(sources.file)
  const environment = settingsOfEnvironment(sources.environment)
  const isDevelopment = !file && !namesOfProduction.some(name => environment.settings.has(name))
  if (file?.problem) return { type: 'invalid', problems: [file.problem], warnings: [] }
  const problems: ConfigProblem[] = []

  const given = new Map<string, GivenText>()
  if (isDevelopment) {
    for (const [name, text] of developmentSettings) given.set(name, { text, origin: { type: 'development' } })
  }
  for (const [name, { value, line }] of file?.settings ?? []) {
    given.set(name, { text: value, origin: { type: 'file', path: sources.file?.path ?? '', line } })
  }
  for (const [name, { value, variable }] of environment.settings) {
    given.set(name, { text: value, origin: { type: 'environment', variable } })
  }
  for (const override of sources.overrides) addOverride(override, given, problems)
  deriveListeners(given, isDevelopment)
  addSynonyms(given, problems)
  checkValues(given, problems)
  const warnings = [
    ...(file?.warnings ?? []),
    ...unknownWarnings(given, environment.unknown),
    ...inertWarnings(given),
    ...noEffectWarnings(given),
  ]
  if (problems.length === 0) return derive(given, isDevelopment, warnings)
  const isMissing = problems.some(one => one.given === undefined)
  const hint = file === undefined && isMissing ? productionHint(environment) : undefined
  return { type: 'invalid', problems, warnings, hint }
}

/** Why a variable or two have made all that the development profile gives a matter of whoever set them. */
function productionHint({ settings }: EnvironmentSettings): string {
  const variables = namesOfProduction.flatMap(name => settings.get(name)?.variable ?? [])
  const verb = variables.length === 1 ? 'is' : 'are'
  return `the development profile, which gives what is missing, is off, since ${variables.join(', ')} ${verb} in the environment; --override leaves it on`
}

function addOverride(override: string, given: Map<string, GivenText>, problems: ConfigProblem[]): void {
  const at = override.indexOf('=')
  const origin = { type: 'override' } as const
  if (at <= 0) problems.push({ key: 'KEY=VALUE', origin, given: override, allowed: 'a key, =, and a value' })
  else given.set(override.slice(0, at).trim(), { text: override.slice(at + 1), origin })
}

/**
 * As the image of Apache Kafka does: who gives only advertised listeners, in the environment, listens on their ports on
 * every address. The development profile has its controller listener whatever else listens.
 */
function deriveListeners(given: Map<string, GivenText>, isDevelopment: boolean): void {
  const advertised = given.get('advertised.listeners')
  const own = given.get('listeners')
  const isOwn = own !== undefined && own.origin.type !== 'development'
  if (!isOwn && advertised?.origin.type === 'environment') {
    const everywhere = advertised.text.replace(/:\/\/(?:\[[^\]]*\]|[^:,]*):/g, '://0.0.0.0:')
    given.set('listeners', { text: everywhere, origin: advertised.origin })
  }
  const listeners = given.get('listeners')
  const hasController = given.get('controller.listener.names')?.origin.type !== 'development'
  if (!isDevelopment || hasController || !listeners || listeners.text.includes('CONTROLLER://')) return
  given.set('listeners', { ...listeners, text: `${listeners.text},${developmentControllerListener}` })
}

/** node.id and broker.id are one. */
function addSynonyms(given: Map<string, GivenText>, problems: ConfigProblem[]): void {
  const nodeId = given.get('node.id')
  const brokerId = given.get('broker.id')
  if (nodeId?.origin.type === 'development' && brokerId) given.set('node.id', brokerId)
  else if (nodeId && !brokerId) given.set('broker.id', nodeId)
  else if (brokerId && !nodeId) given.set('node.id', brokerId)
  else if (nodeId && brokerId && nodeId.text.trim() !== brokerId.text.trim()) {
    const { text, origin } = brokerId
    problems.push({
      key: 'broker.id',
      origin,
      given: text,
      allowed: `the same as node.id (${nodeId.text}), or nothing`,
    })
  }
}

function checkValues(given: ReadonlyMap<string, GivenText>, problems: ConfigProblem[]): void {
  for (const [name, { text, origin }] of given) {
    const setting = brokerSetting(name)
    const parsed = setting?.parse(text)
    if (setting === undefined || parsed?.type !== 'invalid') continue
    const { allowed = setting.allowed } = parsed
    problems.push({ key: name, origin, given: isSensitive(setting) ? '***' : text, allowed })
  }
  for (const setting of Object.values(brokerSettings)) {
    if (setting.default !== undefined || given.has(setting.name)) continue
    problems.push({ key: setting.name, origin: { type: 'default' }, given: undefined, allowed: setting.allowed })
  }
}

function derive(
  given: ReadonlyMap<string, GivenText>,
  isDevelopment: boolean,
  warnings: readonly string[],
): LoadedConfig | InvalidConfig {
  const values = settingValuesOf(name => given.get(name)?.text)
  const named = new Set([...given].filter(([, { origin }]) => origin.type !== 'default').map(([name]) => name))
  const { config, broken } = brokerConfigOf(values, named)
  if (!config) {
    const problems = broken.map(({ key, allowed, given: part }) => {
      const text = given.get(key)
      return {
        key,
        origin: text?.origin ?? ({ type: 'default' } as const),
        given: part ?? text?.text ?? staticSettings.get(key)?.default ?? undefined,
        allowed,
      }
    })
    return { type: 'invalid', problems, warnings }
  }
  const texts = new Map([...given].map(([name, { text }]) => [name, text]))
  return { type: 'loaded', config, texts, isDevelopment, warnings }
}

function unknownWarnings(given: ReadonlyMap<string, GivenText>, variables: readonly string[]): string[] {
  const warnings = variables.map(variable => {
    const meant = nearestSetting(variable) ?? nearestSetting(variable.replace('MILLRACE_', ''))
    return `environment ${variable}: no setting has that name${meant === undefined ? '' : `; did you mean ${meant}?`}`
  })
  for (const [name, { origin }] of given) {
    if (brokerSetting(name)) continue
    const place = origin.type === 'file' ? `${origin.path}, line ${origin.line}` : '--override'
    warnings.push(`${place}: ${unknownSettingText(name)}`)
  }
  return warnings
}

/** A line for each reason, for what was set to something that Kafka would act on and Millrace does not. */
function inertWarnings(given: ReadonlyMap<string, GivenText>): string[] {
  const names = new Map<string, string[]>()
  for (const [name, { text, origin }] of given) {
    const setting = brokerSetting(name)
    const parsed = setting?.parse(text)
    if (setting?.inertBecause === undefined || origin.type === 'development') continue
    if (parsed?.type === 'parsed' && parsed.text === setting.default) continue
    names.set(setting.inertBecause, [...(names.get(setting.inertBecause) ?? []), name])
  }
  return [...names].map(([reason, settings]) => `without effect, since ${reason}: ${settings.join(', ')}`)
}

/** One line each, for what was set to something else than what is so here. */
function noEffectWarnings(given: ReadonlyMap<string, GivenText>): string[] {
  const warnings: string[] = []
  for (const [name, { text, origin }] of given) {
    if (isOfBrokerOnly(name)) {
      warnings.push(`${originText(origin)}${name} has no effect: no listener has it for itself`)
      continue
    }
    const setting = brokerSetting(name)
    const because = setting?.noEffect && whyWithoutEffect(setting, text)
    if (because === undefined) continue
    warnings.push(`${originText(origin)}${name} has no effect so far: ${because}`)
  }
  return warnings
}
