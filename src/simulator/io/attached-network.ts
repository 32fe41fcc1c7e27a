import {
  type Connection,
  type ConnectOptions,
  type Endpoint,
  type Listener,
  type ListenOptions,
  type Network,
  NetworkError,
} from '../../io/network.ts'
import type { Life } from './life.ts'
import type { BoundPort, SimulatedNetwork } from './simulated-network.ts'
import type { Host } from './wire.ts'

const loopbacks: readonly string[] = ['localhost', '127.0.0.1', '::1']
const everywhere: readonly string[] = ['0.0.0.0', '::', '']

/** The network as one life of a node sees it. */
export class AttachedNetwork implements Network {
  readonly #network: SimulatedNetwork
  readonly #life: Life
  readonly #host: Host

  constructor(network: SimulatedNetwork, life: Life, host: Host) {
    this.#network = network
    this.#life = life
    this.#host = host
  }

  listen(endpoint: Endpoint, options: ListenOptions): Promise<Listener> {
    const where = `listen on ${endpoint.host}:${endpoint.port}`
    return this.#soon('network listen', () => {
      const address = everywhere.includes(endpoint.host) ? undefined : this.#ownAddress(endpoint.host, where)
      const bound: BoundPort = { life: this.#life, address, accept: options.accept }
      const port = this.#network.bind(this.#host, endpoint.port, bound)
      if (port === undefined) throw new NetworkError('addressInUse', `${where}: somebody else does`)
      const unbind = () => this.#network.unbind(this.#host, port, bound)
      const ending = this.#life.atEnd(unbind)
      return {
        endpoint: { host: endpoint.host, port },
        close: () => {
          unbind()
          ending.cancel()
          return this.#soon('network unlisten', () => undefined)
        },
      }
    })
  }

  connect(endpoint: Endpoint, { timeoutMs }: ConnectOptions): Promise<Connection> {
    const where = `connect to ${endpoint.host}:${endpoint.port}`
    return new Promise((resolve, reject) => {
      let isSettled = false
      const settle = (kind: string, act: () => void) => {
        if (isSettled) return
        isSettled = true
        timer.cancel()
        this.#life.schedule(kind, 0, act)
      }
      const fail = (error: NetworkError) => settle('network refused', () => reject(error))
      const timer = this.#life.schedule('network connect timeout', timeoutMs * 1000, () => {
        isSettled = true
        reject(new NetworkError('timedOut', `${where}: no answer within ${timeoutMs} ms`))
      })
      const target = this.#network.find(this.#host, endpoint.host)
      if (target === undefined) return fail(new NetworkError('failed', `${where}: there is no such host`))
      const address = loopbacks.includes(endpoint.host) ? '127.0.0.1' : target.address
      this.#carry(this.#host, target, () => {
        if (!target.isUp) return
        const listener = this.#network.listenerAt(target, address, endpoint.port)
        if (listener === undefined || !listener.life.isAlive) {
          const refused = new NetworkError('refused', `${where}: nobody listens there`)
          this.#carry(target, this.#host, () => fail(refused))
          return
        }
        const client = { life: this.#life, host: this.#host, port: this.#network.ephemeralPort(this.#host) }
        const server = { life: listener.life, host: target, port: endpoint.port }
        const { clientEnd, serverEnd } = this.#network.connect(client, server)
        // Which side learns of the connection first is not said: the client may send before it was accepted.
        listener.life.schedule('network accept', this.#network.wire.latencyUs(target, target), () => {
          listener.accept(serverEnd)
        })
        this.#carry(target, this.#host, () => {
          if (isSettled) clientEnd.wasAbandoned()
          else settle('network connected', () => resolve(clientEnd))
        })
      })
    })
  }

  #carry(from: Host, to: Host, arrive: () => void): void {
    this.#network.wire.carry(from, to, 'network handshake', arrive)
  }

  #ownAddress(name: string, where: string): string {
    if (loopbacks.includes(name)) return '127.0.0.1'
    if (name === this.#host.name || name === this.#host.address) return this.#host.address
    throw new NetworkError('addressNotAvailable', `${where}: it is no address of this host`)
  }

  #soon<T>(kind: string, act: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#life.schedule(kind, this.#life.random.below(200), () => {
        try {
          resolve(act())
        } catch (error) {
          reject(error)
        }
      })
    })
  }
}
