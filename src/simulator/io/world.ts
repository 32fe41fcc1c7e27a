import { type RunLimits, Scheduler } from './scheduler.ts'
import type { SeededRandom } from './seeded-random.ts'
import { WorldLog } from './simulated-log.ts'
import { SimulatedNetwork } from './simulated-network.ts'
import { type NodeOptions, SimulatedNode } from './simulated-node.ts'
import type { Trace } from './trace.ts'

/**
 * A simulated world: hosts, and one queue of all that happens to them. The same seed and the same calls give the same
 * run, to the byte. Time moves only inside `run`, `advance` and `finish`.
 */
export class World {
  readonly scheduler: Scheduler
  readonly network: SimulatedNetwork
  readonly log = new WorldLog()
  #nodes = 0

  constructor(options: { readonly seed: string | number }) {
    this.scheduler = new Scheduler(options.seed)
    this.network = new SimulatedNetwork(this.scheduler)
  }

  get trace(): Trace {
    return this.scheduler.trace
  }

  /** Milliseconds since the world began. */
  get nowMs(): number {
    return this.scheduler.timeUs / 1000
  }

  addNode(name: string, options: NodeOptions = {}): SimulatedNode {
    const number = ++this.#nodes
    const node = new SimulatedNode(this, name, `10.0.${number >> 8}.${number & 255}`, options)
    this.network.add(node)
    return node
  }

  /** A stream of chance of its own, for workloads and faults. */
  random(stream: string): SeededRandom {
    return this.scheduler.random(stream)
  }

  /** Calls back after this time, for workloads and faults: it belongs to no node and outlives them all. */
  after(delayMs: number, callback: () => void): { cancel(): void } {
    return this.scheduler.schedule({ kind: 'world timer', afterUs: delayMs * 1000, run: callback })
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise(resolve => void this.after(delayMs, resolve))
  }

  /** Runs until `isDone` holds, asked after each event; rejects with what a node's callback threw, or when stuck. */
  run(isDone: () => boolean, limits?: RunLimits): Promise<void> {
    return this.scheduler.run(isDone, limits)
  }

  /** Runs all that happens within this time. */
  advance(ms: number): Promise<void> {
    return this.scheduler.advance(ms)
  }

  /** Runs until the promise has settled, and answers as it does. */
  finish<T>(promise: Promise<T>, limits?: RunLimits): Promise<T> {
    return this.scheduler.finish(promise, limits)
  }
}
