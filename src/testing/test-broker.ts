import { EventEmitter } from 'node:events'
import type { RunningBroker } from '../broker/start.ts'

interface TestBrokerEvents {
  /** The broker has stopped itself: its directory has failed, or an invariant is broken. It is closed already. */
  failed: [reason: Error]
}

/** A broker in the process of a test. Closing it leaves no timer, socket or file behind. */
export class TestBroker extends EventEmitter<TestBrokerEvents> implements AsyncDisposable {
  readonly host = 'localhost'
  readonly port: number
  /** Where the data lies while the broker runs. */
  readonly directory: string
  readonly clusterId: string
  readonly #running: RunningBroker
  readonly #removeData: () => Promise<void>
  #closing: Promise<void> | undefined

  constructor(running: RunningBroker, removeData: () => Promise<void>) {
    super()
    const { broker } = running
    this.#running = running
    this.#removeData = removeData
    this.port = broker.listeners[0].port
    this.directory = broker.config.metadataLogDir
    this.clusterId = broker.clusterId
  }

  /** What clients are given: host and port. `localhost` is reached by IPv4 and IPv6. */
  get bootstrapServers(): string {
    return `${this.host}:${this.port}`
  }

  /** Stops in good order. Harmless when repeated. */
  async close(): Promise<void> {
    this.#closing ??= this.#close()
    await this.#closing
  }

  async #close(): Promise<void> {
    try {
      await this.#running.close()
    } finally {
      await this.#removeData()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** The broker inside has stopped itself. */
  fail(reason: Error): void {
    void this.close().then(() => this.emit('failed', reason))
  }
}
