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

  constructor(options: ClientOptions, io: ClientIo) {
    this.#cluster = new Cluster(io, clientConfig(options))
  }

  producer(options: ProducerOptions = {}): Producer {
    return new Producer(this.#cluster, options)
  }

  consumer(options: ConsumerOptions = {}): Consumer {
    return new Consumer(this.#cluster, options)
  }

  admin(): Admin {
    return new Admin(this.#cluster)
  }

  /** Closes all connections at once. Close producers and consumers first: what they still hold is lost. */
  close(): void {
    this.#cluster.close()
  }
}
