/** The protocols that a listener may be declared with. Only PLAINTEXT is served so far. */
export const securityProtocols = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'] as const
export type SecurityProtocol = (typeof securityProtocols)[number]

export interface HostAndPort {
  /** A name or an address without brackets. Empty: every address to listen on; unknown where it is advertised. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}

export interface Listener extends HostAndPort {
  /** In capitals. */
  readonly name: string
  readonly securityProtocol: SecurityProtocol
}

/** A value that is not allowed: `allowed` says what is. */
export interface NotAllowed {
  readonly type: 'notAllowed'
  readonly allowed: string
  /** The part of the value that it is about; undefined: the whole. */
  readonly given?: string
}

export function notAllowed(allowed: string, given?: string): NotAllowed {
  return { type: 'notAllowed', allowed, ...(given === undefined ? {} : { given }) }
}

export function isNotAllowed(value: object): value is NotAllowed {
  return 'type' in value && value.type === 'notAllowed'
}

/** NAME:PROTOCOL with commas between, as a map of names in capitals. The last of several for one name counts. */
export function parseProtocolMap(text: string): ReadonlyMap<string, SecurityProtocol> | NotAllowed {
  const map = new Map<string, SecurityProtocol>()
  for (const entry of text.split(',').map(one => one.trim())) {
    if (entry === '') continue
    const [name, protocol] = splitAtLast(entry, ':')
    const known = securityProtocols.find(one => one === protocol.trim().toUpperCase())
    if (name === '' || known === undefined) {
      return notAllowed(`NAME:PROTOCOL with one of ${securityProtocols.join(', ')}, and commas between`)
    }
    map.set(name.trim().toUpperCase(), known)
  }
  return map
}

/** NAME://HOST:PORT each. A name that the map lacks is not allowed, nor is one that is there twice. */
export function parseListeners(
  entries: readonly string[],
  protocols: ReadonlyMap<string, SecurityProtocol>,
): readonly Listener[] | NotAllowed {
  const listeners: Listener[] = []
  for (const entry of entries) {
    const match = /^(.+?):\/\/(.*)$/.exec(entry)
    const address = match && parseHostAndPort(match[2])
    if (!address) return notAllowed('NAME://HOST:PORT with a port from 0 to 65535', entry)
    const name = match[1].toUpperCase()
    const securityProtocol = protocols.get(name)
    if (securityProtocol === undefined) {
      return notAllowed(
        `names that stand in listener.security.protocol.map: ${[...protocols.keys()].join(', ')}`,
        entry,
      )
    }
    if (listeners.some(other => other.name === name))
      return notAllowed(`each listener once, and ${name} is there twice`)
    listeners.push({ name, securityProtocol, ...address })
  }
  return listeners
}

/** As it is written in the settings. */
export function listenerText({ name, host, port }: Listener): string {
  return `${name}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Two listeners may share a port only if one has an IPv4 and the other an IPv6 address, or if any free one will do. */
export function findSharedPort(listeners: readonly Listener[]): number | undefined {
  const taken = new Map<number, string[]>()
  for (const { host, port } of listeners) {
    if (port !== 0) taken.set(port, [...(taken.get(port) ?? []), host])
  }
  for (const [port, hosts] of taken) {
    const families = hosts.map(familyOf)
    const isPair = hosts.length === 2 && families.includes(4) && families.includes(6)
    if (hosts.length > 1 && !isPair) return port
  }
  return undefined
}

function familyOf(host: string): 4 | 6 | undefined {
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return 4
  return host.includes(':') ? 6 : undefined
}

/** HOST:PORT or [IPV6]:PORT; undefined for anything else. */
export function parseHostAndPort(text: string): HostAndPort | undefined {
  const match = /^(?:\[([0-9a-zA-Z:.%]*)\]|([0-9a-zA-Z\-._:%]*)):(\d{1,5})$/.exec(text)
  if (!match || Number(match[3]) > 65_535) return undefined
  return { host: match[1] ?? match[2], port: Number(match[3]) }
}

export interface QuorumVoter extends HostAndPort {
  readonly id: number
}

/** ID@HOST:PORT; undefined for anything else. */
export function parseVoter(text: string): QuorumVoter | undefined {
  const match = /^(\d{1,10})@(.*)$/.exec(text)
  const address = match && parseHostAndPort(match[2])
  if (!address || address.host === '' || Number(match[1]) > 2_147_483_647) return undefined
  return { id: Number(match[1]), ...address }
}

/** What stands before and after the last separator; the first is empty where there is no separator. */
export function splitAtLast(text: string, separator: string): [string, string] {
  const at = text.lastIndexOf(separator)
  return at < 0 ? ['', text] : [text.slice(0, at), text.slice(at + separator.length)]
}
