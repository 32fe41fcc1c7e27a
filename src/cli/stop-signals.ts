import { constants } from 'node:os'

/** A Ctrl-C that the terminal has sent here already is passed on by npm once more: what follows so soon is the same one. */
const sameSignalMs = 1000

/** Calls `stop` at the first SIGINT or SIGTERM; a second one ends the process at once. */
export function onStopSignal(stop: () => void): void {
  let firstMs: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const nowMs = performance.now()
      if (firstMs === undefined) {
        firstMs = nowMs
        stop()
      } else if (nowMs - firstMs > sameSignalMs) process.exit(128 + constants.signals[signal])
    })
  }
}
