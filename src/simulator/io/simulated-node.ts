import { assert } from '../../base/assert.ts'
import type { Io } from '../../io/io.ts'
import { AttachedDisk } from './attached-disk.ts'
import { AttachedNetwork } from './attached-network.ts'
import { Life } from './life.ts'
import type { Scheduler } from './scheduler.ts'
import { HostClock, SimulatedClock } from './simulated-clock.ts'
import { SimulatedCompute } from './simulated-compute.ts'
import { type CrashKind, SimulatedDisk } from './simulated-disk.ts'
import type { WorldLog } from './simulated-log.ts'
import type { SimulatedNetwork } from './simulated-network.ts'
import type { Host } from './wire.ts'

export interface NodeOptions {
  /** How fast the host's monotonic clock runs. 1 unless given. */
  readonly clockRate?: number
}

/** The whole world as one process of a node sees it. */
export type SimulatedIo = Io

/** What the nodes of a world share. */
export interface WorldParts {
  readonly scheduler: Scheduler
  readonly network: SimulatedNetwork
  readonly log: WorldLog
}

/** A simulated host: its disk, clocks and address last, the process on it lives and dies. */
export class SimulatedNode implements Host {
  readonly name: string
  readonly address: string
  readonly disk: SimulatedDisk
  readonly clock: HostClock
  readonly #parts: WorldParts
  #life: Life | undefined
  #lives = 0
  #isUp = true

  constructor(parts: WorldParts, name: string, address: string, options: NodeOptions = {}) {
    this.#parts = parts
    this.name = name
    this.address = address
    this.clock = new HostClock(options.clockRate ?? 1)
    this.disk = new SimulatedDisk(parts.scheduler, this.clock, name)
  }

  /** Whether a process runs on it. */
  get isAlive(): boolean {
    return this.#life !== undefined
  }

  get isPaused(): boolean {
    return this.#life?.isPaused === true
  }

  get isUp(): boolean {
    return this.#isUp
  }

  /** A new process, with the world as it sees it. */
  start(): SimulatedIo {
    assert(this.#life === undefined, 'one process of a node lives at a time')
    const life = new Life(this.#parts.scheduler, this.name, ++this.#lives)
    this.#life = life
    this.#isUp = true
    return {
      clock: new SimulatedClock(life, this.clock),
      random: life.random,
      disk: new AttachedDisk(this.disk, life),
      network: new AttachedNetwork(this.#parts.network, life, this),
      compute: new SimulatedCompute(life),
      log: this.#parts.log.sinkOf(life),
    }
  }

  /**
   * Ends the process: none of its code runs any more. `kill`: the kernel closes its connections and keeps its bytes.
   * `power`: the host is off until the next start, its peers hear nothing, and of unsynced bytes anything may be gone.
   */
  crash(kind: CrashKind): void {
    const { scheduler } = this.#parts
    scheduler.trace.record(scheduler.timeUs, this.name, kind)
    if (kind === 'power') this.#isUp = false
    this.#life?.end(kind)
    this.#life = undefined
    this.disk.crash(kind)
  }

  /** As SIGSTOP does: the process stands still, the world goes on. */
  pause(): void {
    this.#life?.pause()
  }

  resume(): void {
    this.#life?.resume()
  }
}
