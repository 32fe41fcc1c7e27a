import type { Connection } from '../../io/network.ts'
import type { Life } from './life.ts'
import { Pipe } from './pipe.ts'
import type { Scheduler } from './scheduler.ts'
import { type Addresses, SimulatedConnection } from './simulated-connection.ts'
import { type Host, Wire, type WireSettings } from './wire.ts'

/** A port that somebody listens on. */
export interface BoundPort {
  readonly life: Life
  /** The address it is bound to; undefined for all of the host. */
  readonly address: string | undefined
  accept(connection: Connection): void
}

/** A host with what the network keeps for it. */
interface AttachedHost {
  readonly host: Host
  readonly ports: Map<number, BoundPort[]>
  nextEphemeralPort: number
}

const LOOPBACK = '127.0.0.1'

/**
 * The network of a world. Hosts have an address each and are found by name; on itself, every host is also `localhost`.
 * Faults are ordered here, in the middle of a run.
 */
export class SimulatedNetwork {
  readonly wire: Wire
  readonly #hosts = new Map<string, AttachedHost>()
  readonly #connections = new Set<SimulatedConnection>()

  constructor(scheduler: Scheduler) {
    this.wire = new Wire(scheduler)
  }

  get settings(): WireSettings {
    return this.wire.settings
  }

  add(host: Host): void {
    this.#hosts.set(host.name, { host, ports: new Map(), nextEphemeralPort: 32_768 })
  }

  /** Nothing passes from any of these to any of those any more; in the other direction too, unless one way is asked for. */
  partition(from: readonly Host[], to: readonly Host[], how: { readonly oneWay?: boolean } = {}): void {
    for (const one of from)
      for (const other of to) {
        this.wire.block(one, other)
        if (how.oneWay !== true) this.wire.block(other, one)
      }
  }

  heal(): void {
    this.wire.unblockAll()
  }

  /** Breaks the connections between two hosts that are there now. */
  reset(one: Host, other: Host): void {
    for (const connection of this.#between(one, other)) connection.wasReset()
  }

  /** The connections that are there now go dead without a word, as when a firewall forgets them. */
  fallSilent(one: Host, other: Host): void {
    for (const connection of this.#between(one, other)) connection.fallSilent()
  }

  /** The host that a name or address means, seen from `origin`. */
  find(origin: Host, name: string): Host | undefined {
    if (name === 'localhost' || name === LOOPBACK || name === '::1') return origin
    for (const { host } of this.#hosts.values()) if (host.name === name || host.address === name) return host
    return undefined
  }

  /** The port that was bound; undefined when it is taken. */
  bind(host: Host, port: number, bound: BoundPort): number | undefined {
    const attached = this.#attached(host)
    const number = port === 0 ? attached.nextEphemeralPort++ : port
    const others = attached.ports.get(number) ?? []
    const clashes = ({ address }: BoundPort) =>
      address === undefined || bound.address === undefined || address === bound.address
    if (others.some(clashes)) return undefined
    attached.ports.set(number, [...others, bound])
    return number
  }

  unbind(host: Host, port: number, bound: BoundPort): void {
    const { ports } = this.#attached(host)
    const left = (ports.get(port) ?? []).filter(other => other !== bound)
    if (left.length === 0) ports.delete(port)
    else ports.set(port, left)
  }

  listenerAt(host: Host, address: string, port: number): BoundPort | undefined {
    const bound = this.#attached(host).ports.get(port) ?? []
    return bound.find(one => one.address === undefined || one.address === address)
  }

  ephemeralPort(host: Host): number {
    return this.#attached(host).nextEphemeralPort++
  }

  /** Two ends that are connected; nobody has been told yet. */
  connect(
    client: { readonly life: Life; readonly host: Host; readonly port: number },
    server: { readonly life: Life; readonly host: Host; readonly port: number },
  ): { readonly clientEnd: SimulatedConnection; readonly serverEnd: SimulatedConnection } {
    const isLocal = client.host === server.host
    const addressesOf = (own: typeof client, other: typeof client): Addresses => {
      const remoteAddress = isLocal ? LOOPBACK : other.host.address
      return { remoteAddress, remotePort: other.port, localPort: own.port }
    }
    const clientEnd = new SimulatedConnection(client.life, client.host, this.wire, addressesOf(client, server))
    const serverEnd = new SimulatedConnection(server.life, server.host, this.wire, addressesOf(server, client))
    const there = new Pipe(this.wire, clientEnd, serverEnd)
    const back = new Pipe(this.wire, serverEnd, clientEnd)
    clientEnd.attach(serverEnd, there, back)
    serverEnd.attach(clientEnd, back, there)
    this.#remember(clientEnd, serverEnd)
    return { clientEnd, serverEnd }
  }

  #attached(host: Host): AttachedHost {
    return this.#hosts.get(host.name)!
  }

  #remember(...ends: SimulatedConnection[]): void {
    for (const end of this.#connections) if (!end.isOpen) this.#connections.delete(end)
    for (const end of ends) this.#connections.add(end)
  }

  #between(one: Host, other: Host): SimulatedConnection[] {
    const isBetween = (end: SimulatedConnection) =>
      (end.host === one && end.peerHost === other) || (end.host === other && end.peerHost === one)
    return [...this.#connections].filter(end => end.isOpen && isBetween(end))
  }
}
