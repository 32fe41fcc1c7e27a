import { unknownOption } from '../base/unknown-option.ts'
import type { Endpoint } from '../io/network.ts'
import { invalidArgument } from './millrace-error.ts'

/** How to reach a cluster. All times are milliseconds. */
export interface ClientOptions {
  /** `host:port`, several separated by commas or in a list. Any broker that is up will do. */
  readonly bootstrapServers: string | readonly string[]
  /** Shown in the brokers' logs, metrics and quotas. `millrace` unless given. */
  readonly clientId?: string
  /** For connecting and agreeing on versions with one broker. 10,000 unless given. */
  readonly connectTimeoutMs?: number
  /** How long to wait for one answer before the connection is given up. 30,000 unless given. */
  readonly requestTimeoutMs?: number
  /** How long a call that has no timeout of its own goes on trying. 60,000 unless given. */
  readonly apiTimeoutMs?: number
  /** First and longest wait between tries of a request; doubled each time. 100 and 1000 unless given. */
  readonly retryBackoffMs?: number
  readonly retryBackoffMaxMs?: number
  /** The same between attempts to connect to one broker. 50 and 1000 unless given. */
  readonly reconnectBackoffMs?: number
  readonly reconnectBackoffMaxMs?: number
  /** How old knowledge of topics and leaders may get. 300,000 unless given. */
  readonly metadataMaxAgeMs?: number
  /** Connections at rest are closed after this. 540,000 unless given: brokers do so after 600,000. */
  readonly connectionIdleMs?: number
  /** A longer answer closes the connection. 256 MiB unless given. */
  readonly maxResponseBytes?: number
  /** Where this client runs, as in the brokers' `broker.rack`: consumers read from the closest replica. */
  readonly rackId?: string
}

export interface ClientConfig extends Required<Omit<ClientOptions, 'bootstrapServers'>> {
  readonly bootstrapServers: readonly Endpoint[]
}

const defaults = {
  clientId: 'millrace',
  connectTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  apiTimeoutMs: 60_000,
  retryBackoffMs: 100,
  retryBackoffMaxMs: 1000,
  reconnectBackoffMs: 50,
  reconnectBackoffMaxMs: 1000,
  metadataMaxAgeMs: 300_000,
  connectionIdleMs: 540_000,
  maxResponseBytes: 256 * 1024 * 1024,
  rackId: '',
}

/** Throws `INVALID_ARGUMENT` for options that cannot be. */
export function clientConfig(options: ClientOptions): ClientConfig {
  checkNames(options, [...Object.keys(defaults), 'bootstrapServers'])
  const config = { ...defaults, ...given(options), bootstrapServers: parseServers(options.bootstrapServers) }
  checkNumbers(config)
  return config
}

/** The longest time that the protocol has room for, and that timers know: more than 24 days. */
export const longestMs = 2 ** 31 - 1

/** Throws `INVALID_ARGUMENT` for a number that is none or below 0, and for a time that is too long. */
export function checkNumbers(options: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (typeof value !== 'number') continue
    if (!(value >= 0)) throw invalidArgument(`${name} cannot be ${value}`)
    if (name.endsWith('Ms') && value > longestMs) throw invalidArgument(`${name} is at most ${longestMs}, not ${value}`)
  }
}

/** Throws `INVALID_ARGUMENT` for an option that nobody knows: a slip in a name would else stand for the default, silently. */
export function checkNames(options: object, known: readonly string[]): void {
  const wrong = unknownOption(options, known)
  if (wrong !== undefined) throw invalidArgument(wrong)
}

/** The options without those that are undefined, which stand for their defaults. */
export function given<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>
}

export function parseServers(servers: string | readonly string[]): readonly Endpoint[] {
  if (servers === undefined) throw invalidArgument('bootstrapServers is missing; give it as host:port')
  const texts = (typeof servers === 'string' ? servers.split(',') : servers).map(text => text.trim())
  const endpoints = texts.filter(text => text !== '').map(parseServer)
  if (endpoints.length === 0) throw invalidArgument('bootstrapServers is empty; give it as host:port')
  return endpoints
}

function parseServer(text: string): Endpoint {
  const match = /^(?:[A-Z_]+:\/\/)?(?:\[([^\]]+)\]|([^:/[\]\s]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port < 1 || port > 65_535) {
    throw invalidArgument(`bootstrapServers has ${JSON.stringify(text)}; it reads host:port or [address]:port`)
  }
  return { host: match[1] ?? match[2], port }
}
