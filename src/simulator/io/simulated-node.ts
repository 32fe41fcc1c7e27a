import { assert } from '../../base/assert.ts'
import type { Random } from '../../base/random.ts'
import type { Clock } from '../../io/clock.ts'
import type { Disk } from '../../io/disk.ts'
import { AttachedDisk } from './attached-disk.ts'
import { Life } from './life.ts'
import type { Scheduler } from './scheduler.ts'
import { HostClock, SimulatedClock } from './simulated-clock.ts'
import { type CrashKind, SimulatedDisk } from './simulated-disk.ts'

export interface NodeOptions {
  /** How fast the host's monotonic clock runs. 1 unless given. */
  readonly clockRate?: number
}

export interface SimulatedIo {
  readonly clock: Clock
  readonly random: Random
  readonly disk: Disk
}

/** A simulated host: its disk and clocks last, the process on it lives and dies. */
export class SimulatedNode {
  readonly name: string
  readonly disk: SimulatedDisk
  readonly clock: HostClock
  readonly #scheduler: Scheduler
  #life: Life | undefined
  #lives = 0

  constructor(scheduler: Scheduler, name: string, options: NodeOptions = {}) {
    this.#scheduler = scheduler
    this.name = name
    this.clock = new HostClock(options.clockRate ?? 1)
    this.disk = new SimulatedDisk(scheduler, this.clock, name)
  }

  get isAlive(): boolean {
    return this.#life !== undefined
  }

  /** A new process, with the world as it sees it. */
  start(): SimulatedIo {
    assert(this.#life === undefined, 'one process of a node lives at a time')
    const life = new Life(this.#scheduler, this.name, ++this.#lives)
    this.#life = life
    return {
      clock: new SimulatedClock(life, this.clock),
      random: life.random,
      disk: new AttachedDisk(this.disk, life),
    }
  }

  /** Ends the process: none of its code runs any more. Harmless when none lives. */
  crash(kind: CrashKind): void {
    this.#life?.end()
    this.#life = undefined
    this.#scheduler.trace.record(this.#scheduler.timeUs, this.name, kind)
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
