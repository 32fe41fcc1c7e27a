import { constants } from 'node:os'

/** A Ctrl-C that the terminal has sent here already is passed on by npm once more: what follows so soon is the same one. */
const sameSignalMs = 1000

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/**
 * What signals mean to a command that stops in good order at the first one. Somebody who sends SIGINT or SIGTERM once more has
 * lost patience. SIGHUP says that the terminal or the parent has gone, which is no reason to break off a stop.
 */
export class StopSignals {
  #firstMs: number | undefined

  /** `nowMs` is monotonic. */
  take(signal: StopSignal, nowMs: number): 'stop' | 'end' | 'ignore' {
    if (this.#firstMs === undefined) {
      this.#firstMs = nowMs
      return 'stop'
    }
    return signal !== 'SIGHUP' && nowMs - this.#firstMs > sameSignalMs ? 'end' : 'ignore'
  }
}

/** Calls `stop` at the first SIGINT, SIGTERM or SIGHUP; a second SIGINT or SIGTERM ends the process at once. */
export function onStopSignal(stop: () => void): void {
  const signals = new StopSignals()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const meaning = signals.take(signal, performance.now())
      if (meaning === 'stop') stop()
      else if (meaning === 'end') process.exit(128 + constants.signals[signal])
    })
  }
}
