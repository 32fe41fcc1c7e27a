import { assert } from '../../base/assert.ts'
import { type Event, EventQueue } from './event-queue.ts'
import type { Life } from './life.ts'
import { SeededRandom } from './seeded-random.ts'
import { Trace } from './trace.ts'

/** The real one, taken before the tripwire replaces it. Its one use: letting microtasks drain between two events. */
const hop = globalThis.setImmediate

/** That a turn of a node has another event in it, as when several sockets are ready at once. */
const LONGER_TURN_CHANCE = 0.2

/** Events of one run without an end in sight. More means a loop that makes no progress. */
const DEFAULT_MAX_EVENTS = 50_000_000

export interface EventOptions {
  /** What happens, for the trace. */
  readonly kind: string
  readonly afterUs: number
  /** The life whose code runs. The event is dropped when that life has ended, and waits while its node is paused. */
  readonly life?: Life | undefined
  /** No code that can await is called: the loop goes straight on to the next event. */
  readonly quiet?: boolean
  readonly run: () => void
}

export class ScheduledEvent implements Event {
  timeUs: number
  tie: number
  sequence: number
  readonly kind: string
  readonly life: Life | undefined
  readonly quiet: boolean
  run: (() => void) | undefined

  constructor(options: EventOptions, at: { timeUs: number; tie: number; sequence: number }) {
    this.timeUs = at.timeUs
    this.tie = at.tie
    this.sequence = at.sequence
    this.kind = options.kind
    this.life = options.life
    this.quiet = options.quiet === true
    this.run = options.run
  }

  cancel(): void {
    this.run = undefined
  }
}

/** How long a run may go on before it is called stuck. */
export interface RunLimits {
  /** Virtual time from now. */
  readonly withinMs?: number
  readonly maxEvents?: number
}

/** A run that cannot reach what it was started for; names what happened last. */
export class SimulationStuck extends Error {
  override readonly name = 'SimulationStuck'
}

/**
 * The one loop of a simulated world: virtual time, one queue of events, chance by name. Everything that wakes code up
 * comes out of the queue, one event at a time; all microtasks of an event have run before the next is taken.
 */
export class Scheduler {
  readonly seed: string
  readonly trace = new Trace()
  readonly #queue = new EventQueue<ScheduledEvent>()
  readonly #chance: SeededRandom
  #timeUs = 0
  #sequence = 0
  #running = false
  /** The life whose event or microtasks are running: its turn callbacks come before the next event. */
  #current: Life | undefined
  #turnCallbacksRan = false

  constructor(seed: string | number) {
    this.seed = String(seed)
    this.#chance = this.random('scheduler')
  }

  get timeUs(): number {
    return this.#timeUs
  }

  get current(): Life | undefined {
    return this.#current
  }

  random(stream: string): SeededRandom {
    return new SeededRandom(this.seed, stream)
  }

  schedule(options: EventOptions): ScheduledEvent {
    assert(options.afterUs >= 0 && Number.isFinite(options.afterUs), 'an event lies in the future')
    const timeUs = this.#timeUs + Math.ceil(options.afterUs)
    const event = new ScheduledEvent(options, { timeUs, tie: this.#chance.uint32(), sequence: this.#sequence++ })
    this.#queue.push(event)
    return event
  }

  /** Puts events that waited for a paused node back into the queue, in their order, for now. */
  requeue(events: readonly ScheduledEvent[]): void {
    for (const event of events) {
      event.timeUs = this.#timeUs
      event.tie = 0
      event.sequence = this.#sequence++
      this.#queue.push(event)
    }
  }

  /** Runs until `isDone` holds, asked after each event. Rejects with what a node's callback threw, or when it cannot. */
  run(isDone: () => boolean, limits: RunLimits = {}): Promise<void> {
    const endUs = limits.withinMs === undefined ? Infinity : this.#timeUs + limits.withinMs * 1000
    return this.#loop(isDone, endUs, limits.maxEvents ?? DEFAULT_MAX_EVENTS)
  }

  /** Runs all that happens within this time, and leaves the clock at its end. */
  async advance(ms: number): Promise<void> {
    const endUs = this.#timeUs + Math.ceil(ms * 1000)
    await this.#loop(() => (this.#queue.peek()?.timeUs ?? Infinity) > endUs, endUs, DEFAULT_MAX_EVENTS)
    this.#timeUs = endUs
  }

  /** Runs until the promise has settled, and answers as it does. */
  async finish<T>(promise: Promise<T>, limits: RunLimits = {}): Promise<T> {
    let isSettled = false
    const settle = () => {
      isSettled = true
    }
    promise.then(settle, settle)
    await this.run(() => isSettled, limits)
    return promise
  }

  #loop(isDone: () => boolean, endUs: number, maxEvents: number): Promise<void> {
    assert(!this.#running, 'a world is run by one caller at a time')
    this.#running = true
    let eventsLeft = maxEvents
    return new Promise<void>((resolve, reject) => {
      const step = () => {
        try {
          while (!this.#runTurnCallbacks()) {
            if (isDone()) return resolve()
            if (eventsLeft-- <= 0) throw this.#stuck('it does not end')
            if (this.#runNextEvent(endUs)) break
          }
          hop(step)
        } catch (error) {
          reject(error)
        }
      }
      hop(step)
    }).finally(() => {
      this.#running = false
      this.#current = undefined
    })
  }

  /** At the end of a life's turn, what it has put off until then. False when there was nothing. */
  #runTurnCallbacks(): boolean {
    const life = this.#current
    if (life === undefined) return false
    if (!this.#turnCallbacksRan) {
      this.#turnCallbacksRan = true
      // Sometimes the turn goes on, with what happens to the node next.
      if (!this.#chance.chance(LONGER_TURN_CHANCE) && life.runTurnCallbacks()) return true
    }
    this.#current = undefined
    life.scheduleTurn()
    return false
  }

  /** True when the event ran code that may have left microtasks. */
  #runNextEvent(endUs: number): boolean {
    const event = this.#queue.peek()
    if (event === undefined) throw this.#stuck('nothing is left that could happen')
    if (event.timeUs > endUs) throw this.#stuck('its time is over')
    this.#queue.pop()
    const run = event.run
    if (run === undefined || event.life?.isAlive === false) return false
    if (event.life?.holdWhilePaused(event)) return false
    this.#timeUs = event.timeUs
    this.trace.record(event.timeUs, event.life?.name ?? '', event.kind)
    event.run = undefined
    this.#current = event.life
    this.#turnCallbacksRan = false
    run()
    return !event.quiet
  }

  #stuck(why: string): SimulationStuck {
    const now = `seed ${this.seed}, ${this.#timeUs / 1000} ms, event ${this.trace.events}`
    return new SimulationStuck(`the simulation is stuck (${now}): ${why}\n${this.trace.recent().join('\n')}`)
  }
}
