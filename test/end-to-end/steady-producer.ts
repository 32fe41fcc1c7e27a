import { ErrorCode } from '../../src/base/error-code.ts'
import { api } from './api.ts'
import type { RawClient } from './raw-client.ts'
import { batchOf, type Place, produceBody } from './requests.ts'

const everyMs = 5

/** What a well-behaved client saw of its 200 produces a second. */
export interface Experience {
  readonly count: number
  readonly failures: readonly string[]
  readonly p99Ms: number
}

/** A client that goes on with its work while others misbehave. */
export class SteadyProducer {
  readonly #client: RawClient
  readonly #place: Place
  #latencies: number[] = []
  #failures: string[] = []
  #isStopped = false
  readonly #running: Promise<void>

  constructor(client: RawClient, place: Place) {
    this.#client = client
    this.#place = place
    this.#running = this.#run()
  }

  /** Of the time since the last call. */
  experience(): Experience {
    const latencies = this.#latencies.sort((a, b) => a - b)
    const failures = this.#failures
    this.#latencies = []
    this.#failures = []
    const p99Ms = latencies[Math.floor(latencies.length * 0.99)] ?? 0
    return { count: latencies.length, failures, p99Ms }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    const body = produceBody(this.#place, batchOf(['x'.repeat(100)]))
    while (!this.#isStopped) {
      const began = performance.now()
      try {
        const { responses } = await this.#client.call(api.produce, 9, body)
        const { errorCode } = responses[0].partitionResponses[0]
        if (errorCode !== ErrorCode.none) this.#failures.push(`error ${errorCode}`)
      } catch (error) {
        this.#failures.push(String(error))
        return
      }
      const tookMs = performance.now() - began
      this.#latencies.push(tookMs)
      await new Promise(resolve => setTimeout(resolve, Math.max(0, everyMs - tookMs)))
    }
  }
}
