import { Admin } from './admin/admin.ts'
import type { ClientIo } from './client-io.ts'
import { type ClientOptions, clientConfig } from './client-options.ts'
import { Cluster } from './cluster/cluster.ts'
import { Consumer } from './consumer/consumer.ts'
import type { ConsumerOptions } from './consumer/consumer-options.ts'
import { Producer } from './producer/producer.ts'
import type { ProducerOptions } from './producer/producer-options.ts'

/**
 * A cluster, seen from outside. Producers, consumers and the admin that are made here share what is known of it; each has
 * connections of its own. Nothing is connected before it is needed.
 */
export class Client {
  readonly #cluster: Cluster
  readonly #made = new Set<Producer | Consumer>()

  constructor(options: ClientOptions, io: ClientIo) {
    this.#cluster = new Cluster(io, clientConfig(options))
  }

  producer(options: ProducerOptions = {}): Producer {
    return this.#keep(new Producer(this.#cluster, options, ended => this.#made.delete(ended)))
  }

  consumer(options: ConsumerOptions = {}): Consumer {
    return this.#keep(new Consumer(this.#cluster, options, ended => this.#made.delete(ended)))
  }

  admin(): Admin {
    return new Admin(this.#cluster)
  }

  /**
   * Closes all producers and consumers, as their own `close` does, and then all connections; in `timeoutMs` (30,000 unless
   * given) at most.
   */
  async close({ timeoutMs = 30_000 }: { readonly timeoutMs?: number } = {}): Promise<void> {
    await Promise.all([...this.#made].map(one => one.close({ timeoutMs })))
    this.#cluster.close()
  }

  /** Closes all connections at once: what producers hold is lost, and groups find out by their session timeouts. */
  destroy(): void {
    this.#cluster.close()
  }

  /** Closes with the defaults, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #keep<T extends Producer | Consumer>(made: T): T {
    this.#made.add(made)
    return made
  }
}
