import { assert } from '../../base/assert.ts'
import type { ScheduledEvent, Scheduler } from './scheduler.ts'
import type { SeededRandom } from './seeded-random.ts'
import type { CrashKind } from './simulated-disk.ts'

/** Thrown by a synchronous call of code whose node has been killed: there is nothing that could be answered. */
export class NodeIsDead extends Error {
  override readonly name = 'NodeIsDead'
}

/**
 * One life of a node, from its start to its crash. Its code is woken through events of this life only, so nothing of a
 * dead life ever runs: timers, completions and bytes that were under way for it are dropped.
 */
export class Life {
  readonly name: string
  readonly random: SeededRandom
  readonly scheduler: Scheduler
  #isAlive = true
  #isPaused = false
  #turnCallbacks: (() => void)[] = []
  #turnEvent: ScheduledEvent | undefined
  readonly #heldEvents: ScheduledEvent[] = []
  readonly #endings = new Set<(kind: CrashKind) => void>()

  constructor(scheduler: Scheduler, nodeName: string, lifeNumber: number) {
    this.scheduler = scheduler
    this.name = nodeName
    this.random = scheduler.random(`${nodeName}, life ${lifeNumber}`)
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** To be called first by all that the node's code can call. */
  assertAlive(): void {
    if (!this.#isAlive) throw new NodeIsDead(this.name)
  }

  schedule(kind: string, afterUs: number, run: () => void): ScheduledEvent {
    return this.scheduler.schedule({ kind, afterUs, life: this, run })
  }

  /** Runs when the life ends: what the kernel does to files and sockets of a dead process. */
  atEnd(ending: (kind: CrashKind) => void): { cancel(): void } {
    this.#endings.add(ending)
    return { cancel: () => void this.#endings.delete(ending) }
  }

  end(kind: CrashKind): void {
    assert(this.#isAlive, 'a life ends once')
    this.#isAlive = false
    this.#turnCallbacks = []
    this.#heldEvents.length = 0
    for (const ending of this.#endings) ending(kind)
    this.#endings.clear()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.scheduler.requeue(this.#heldEvents.splice(0))
  }

  /** True when the event has to wait for `resume`. */
  holdWhilePaused(event: ScheduledEvent): boolean {
    if (this.#isPaused) this.#heldEvents.push(event)
    return this.#isPaused
  }

  nextTurn(callback: () => void): void {
    if (!this.#isAlive) return
    this.#turnCallbacks.push(callback)
    if (this.scheduler.current !== this) this.scheduleTurn()
  }

  /** Runs those that were given before this call; what they give themselves waits. False when there was none. */
  runTurnCallbacks(): boolean {
    if (this.#turnCallbacks.length === 0) return false
    this.#turnEvent?.cancel()
    this.#turnEvent = undefined
    const callbacks = this.#turnCallbacks
    this.#turnCallbacks = []
    for (const callback of callbacks) if (this.#isAlive) callback()
    return true
  }

  /** Sees to a turn for the callbacks that wait, when nothing else would bring one. */
  scheduleTurn(): void {
    if (this.#turnCallbacks.length === 0 || this.#turnEvent !== undefined) return
    this.#turnEvent = this.schedule('turn', this.random.below(100), () => {
      this.#turnEvent = undefined
    })
  }
}
