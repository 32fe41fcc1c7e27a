import type { Scheduler } from './scheduler.ts'
import type { SeededRandom } from './seeded-random.ts'

/** A machine on the wire. It is up from its first start, also while no process runs on it; a power cut takes it down. */
export interface Host {
  readonly name: string
  readonly address: string
  readonly isUp: boolean
}

export interface WireSettings {
  /** One way between two hosts, mostly; now and then many times that. */
  latencyUs: number
  /** Of a single byte that arrives alone. */
  tinyPieceChance: number
  /** Of a reset of the connection, for each piece. */
  resetChance: number
}

const SCRATCH_BYTES = 65_536

/** Something that waits at a blocked link. */
export interface Stalled {
  /** Looks again whether it can go on. */
  tryAgain(): void
}

/** What lies between the hosts: latency, and what is wrong with it at present. */
export class Wire {
  readonly scheduler: Scheduler
  readonly random: SeededRandom
  /** Where bytes are delivered that no receiver has a place for; shared by all, as on a real host. */
  readonly scratch = Buffer.alloc(SCRATCH_BYTES)
  readonly settings: WireSettings = { latencyUs: 300, tinyPieceChance: 0.02, resetChance: 0 }
  readonly #blocked = new Set<string>()
  readonly #stalled = new Set<Stalled>()

  constructor(scheduler: Scheduler) {
    this.scheduler = scheduler
    this.random = scheduler.random('wire')
  }

  latencyUs(from: Host, to: Host): number {
    return this.random.delayUs(from === to ? 20 : this.settings.latencyUs)
  }

  /** From now on nothing of `from` reaches `to`; connections stall, as they do when every packet is lost. */
  block(from: Host, to: Host): void {
    this.#blocked.add(linkName(from, to))
  }

  unblock(from: Host, to: Host): void {
    this.#blocked.delete(linkName(from, to))
    this.#retryStalled()
  }

  unblockAll(): void {
    this.#blocked.clear()
    this.#retryStalled()
  }

  isBlocked(from: Host, to: Host): boolean {
    return from !== to && this.#blocked.has(linkName(from, to))
  }

  wait(stalled: Stalled): void {
    this.#stalled.add(stalled)
  }

  /** Carries a single message, as soon as the link lets it through. */
  carry(from: Host, to: Host, kind: string, arrive: () => void): void {
    const arrival = () => {
      if (this.isBlocked(from, to)) this.wait({ tryAgain: () => this.carry(from, to, kind, arrive) })
      else arrive()
    }
    this.scheduler.schedule({ kind, afterUs: this.latencyUs(from, to), quiet: true, run: arrival })
  }

  #retryStalled(): void {
    const stalled = [...this.#stalled]
    this.#stalled.clear()
    for (const one of stalled) one.tryAgain()
  }
}

function linkName(from: Host, to: Host): string {
  return `${from.name}>${to.name}`
}
