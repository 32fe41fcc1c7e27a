import { type BrokenRule, brokenRules } from './broker-rules.ts'
import { brokerSettings, type SettingValues } from './broker-settings.ts'
import {
  type HostAndPort,
  isNotAllowed,
  type Listener,
  type NotAllowed,
  notAllowed,
  parseHostAndPort,
  parseListeners,
  parseProtocolMap,
  parseVoter,
  type QuorumVoter,
  type SecurityProtocol,
  splitAtLast,
} from './listeners.ts'
import { parseAdminListener } from './millrace-settings.ts'

/** The properties whose text is resolved further than to a value of their own type. */
type Resolved =
  | 'listeners'
  | 'advertisedListeners'
  | 'listenerSecurityProtocolMap'
  | 'interBrokerListenerName'
  | 'securityInterBrokerProtocol'
  | 'controllerQuorumVoters'
  | 'controllerQuorumBootstrapServers'
  | 'processRoles'
  | 'brokerId'
  | 'logDir'
  | 'logDirs'
  | 'metadataLogDir'
  | 'logRetentionMs'
  | 'logRetentionMinutes'
  | 'logRetentionHours'
  | 'logRollMs'
  | 'logRollHours'
  | 'logRollJitterMs'
  | 'logRollJitterHours'
  | 'logFlushIntervalMs'
  | 'maxConnectionsPerIpOverrides'
  | 'millraceAdminListener'

/**
 * What a broker runs by. Synonyms are resolved: `logRetentionMs` is what counts, however it was given. A duration or size
 * of Infinity is none.
 */
export interface BrokerConfig extends Omit<SettingValues, Resolved> {
  readonly isBroker: boolean
  readonly isController: boolean
  /** Where clients and other brokers connect. */
  readonly brokerListeners: readonly Listener[]
  /** Where the quorum connects; empty unless this node is a controller. */
  readonly controllerListeners: readonly Listener[]
  /** What clients are told; a host may be empty and is then this host's name. */
  readonly advertisedListeners: readonly Listener[]
  readonly interBrokerListenerName: string
  readonly controllerQuorumVoters: readonly QuorumVoter[]
  readonly controllerQuorumBootstrapServers: readonly HostAndPort[]
  readonly logDirs: readonly string[]
  readonly metadataLogDir: string
  /** -1: kept for ever. */
  readonly logRetentionMs: number
  readonly logRollMs: number
  readonly logRollJitterMs: number
  readonly logFlushIntervalMs: number
  readonly maxConnectionsPerIpOverrides: ReadonlyMap<string, number>
  /** Undefined: no admin port. */
  readonly adminListener: HostAndPort | undefined
}

/** Derives what the broker runs by, or every rule that the values break. `given` tells which settings have a value of their own. */
export function brokerConfigOf(
  values: SettingValues,
  given: ReadonlySet<string>,
): { readonly config: BrokerConfig | undefined; readonly broken: readonly BrokenRule[] } {
  const broken: BrokenRule[] = []
  function resolve<T extends object>(key: string, value: T | NotAllowed): T | undefined {
    if (!isNotAllowed(value)) return value
    broken.push({ key, allowed: value.allowed, given: value.given })
    return undefined
  }

  const times = retentionTimes(values)
  const listeners = resolveListeners(values, given, resolve)
  const voters = resolve(
    'controller.quorum.voters',
    parseAll(values.controllerQuorumVoters, parseVoter, 'ID@HOST:PORT'),
  )
  const servers = resolve(
    'controller.quorum.bootstrap.servers',
    parseAll(values.controllerQuorumBootstrapServers, parseHostAndPort, 'HOST:PORT'),
  )
  const overrides = resolve('max.connections.per.ip.overrides', parseLimits(values.maxConnectionsPerIpOverrides))
  const adminListener = parseAdminListener(values.millraceAdminListener) ?? undefined
  if (!listeners || !voters || !servers || !overrides) return { config: undefined, broken }

  const logDirs = values.logDirs ?? values.logDir
  const config: BrokerConfig = {
    ...values,
    ...times,
    ...listeners,
    isBroker: values.processRoles.includes('broker'),
    isController: values.processRoles.includes('controller'),
    controllerQuorumVoters: voters,
    controllerQuorumBootstrapServers: servers,
    logDirs,
    metadataLogDir: values.metadataLogDir ?? logDirs[0],
    maxConnectionsPerIpOverrides: overrides,
    adminListener,
  }
  broken.push(...brokenRules(config, given))
  return { config: broken.length === 0 ? config : undefined, broken }
}

function retentionTimes(values: SettingValues) {
  const minuteMs = 60_000
  const hourMs = 60 * minuteMs
  const minutes = values.logRetentionMinutes
  const retentionMs =
    values.logRetentionMs ?? (minutes === undefined ? values.logRetentionHours * hourMs : minutes * minuteMs)
  return {
    logRetentionMs: retentionMs < 0 ? -1 : retentionMs,
    logRollMs: values.logRollMs ?? values.logRollHours * hourMs,
    logRollJitterMs: values.logRollJitterMs ?? values.logRollJitterHours * hourMs,
    logFlushIntervalMs: values.logFlushIntervalMs ?? values.logFlushSchedulerIntervalMs,
  }
}

type Resolve = <T extends object>(key: string, value: T | NotAllowed) => T | undefined

function resolveListeners(values: SettingValues, given: ReadonlySet<string>, resolve: Resolve) {
  const controllerNames = values.controllerListenerNames.map(name => name.toUpperCase())
  const map = resolve('listener.security.protocol.map', protocolMap(values, controllerNames, given))
  if (!map) return undefined
  const all = resolve('listeners', parseListeners(values.listeners, map))
  const advertised = resolve('advertised.listeners', parseListeners(values.advertisedListeners ?? [], map))
  if (!all || !advertised) return undefined

  const brokerListeners = all.filter(one => !controllerNames.includes(one.name))
  const advertisedForClients = advertised.filter(one => !controllerNames.includes(one.name))
  const interBroker = values.interBrokerListenerName?.toUpperCase() ?? values.securityInterBrokerProtocol
  return {
    brokerListeners,
    controllerListeners: all.filter(one => controllerNames.includes(one.name)),
    advertisedListeners: values.advertisedListeners === undefined ? brokerListeners : advertisedForClients,
    interBrokerListenerName: interBroker,
    controllerListenerNames: controllerNames,
  }
}

/**
 * Where the map is not given, controller listeners are PLAINTEXT. Kafka wants them in the map as soon as a listener has TLS
 * or SASL; here such a listener is the one to name, since it is not served.
 */
function protocolMap(
  values: SettingValues,
  controllerNames: readonly string[],
  given: ReadonlySet<string>,
): ReadonlyMap<string, SecurityProtocol> | NotAllowed {
  const map = parseProtocolMap(values.listenerSecurityProtocolMap)
  if (isNotAllowed(map) || given.has('listener.security.protocol.map')) return map
  const missing = controllerNames.filter(name => !map.has(name))
  return new Map([...map, ...missing.map(name => [name, 'PLAINTEXT'] as const)])
}

function parseAll<T>(
  entries: readonly string[],
  parse: (entry: string) => T | undefined,
  form: string,
): readonly T[] | NotAllowed {
  const parsed: T[] = []
  for (const entry of entries) {
    const one = parse(entry)
    if (one === undefined) return notAllowed(`${form} with commas between`)
    parsed.push(one)
  }
  return parsed
}

function parseLimits(text: string): ReadonlyMap<string, number> | NotAllowed {
  const limits = new Map<string, number>()
  for (const entry of text.split(',').map(one => one.trim())) {
    if (entry === '') continue
    const [host, limit] = splitAtLast(entry, ':')
    if (host === '' || !/^\d{1,9}$/.test(limit)) return notAllowed('ADDRESS:LIMIT with commas between')
    limits.set(host.replace(/^\[|\]$/g, ''), Number(limit))
  }
  return limits
}

/** Parses every setting that changes something here. `text` gives the text in force, or undefined where there is none. */
export function settingValuesOf(text: (name: string) => string | null | undefined): SettingValues {
  const values: Record<string, unknown> = {}
  for (const [property, setting] of Object.entries(brokerSettings)) {
    const given = text(setting.name) ?? setting.default
    if (given === undefined || given === null) continue
    const parsed = setting.parse(given)
    if (parsed.type === 'parsed') values[property] = parsed.value
  }
  return values as unknown as SettingValues
}
