import type { DiskError } from '../../io/disk.ts'
import type { LogLine } from '../io/simulated-log.ts'
import type { Violations } from '../violations.ts'

/** Within this time of a broker that runs, a directory that has refused a change is offline. */
const graceMs = 1000
const passing: ReadonlySet<string> = new Set(['noSpace', 'tooManyOpenFiles'])
const reading: ReadonlySet<string> = new Set(['read', 'list', 'status', 'lock'])

/** What an operator has to know besides, each once: what the directory that has failed means for something else. */
const consequences = [
  /^the broker stops: /,
  /^not all could be put in order: .+ is offline\b/,
  / cannot be opened: it may lie in /,
]

export interface WatchedDirectory {
  readonly path: string
  readonly isOffline: boolean
}

/**
 * What becomes of log directories in the life of one process (I53): one that cannot be changed, since its file system is
 * read-only now or its disk has failed, goes offline soon, and the operator is told so once, by one line that names it.
 */
export class DirectoryWatch {
  readonly #paths: readonly string[]
  readonly #violations: Violations
  /** By directory, when it has first refused a change. */
  readonly #refusals = new Map<string, { readonly error: DiskError; sinceMs: number }>()
  /** Of which it was said that they are offline. */
  readonly #told = new Set<string>()

  constructor(paths: readonly string[], violations: Violations) {
    this.#paths = paths
    this.#violations = violations
  }

  processBegins(): void {
    this.#refusals.clear()
    this.#told.clear()
  }

  /** To be asked of a path within a directory; undefined where it is in none. */
  directoryOf(path: string): string | undefined {
    return this.#paths.find(directory => path === directory || path.startsWith(`${directory}/`))
  }

  /** The broker is about to hear of this. */
  failed(error: DiskError, nowMs: number): void {
    const directory = this.directoryOf(error.path)
    if (directory === undefined || passing.has(error.code) || reading.has(error.operation)) return
    if (error.operation === 'open' && error.code !== 'readOnly') return
    if (!this.#refusals.has(directory)) this.#refusals.set(directory, { error, sinceMs: nowMs })
  }

  logged({ level, message }: LogLine): void {
    if (level !== 'error') return
    const path = this.#paths.find(one => new RegExp(`${one}(?![\\w-])`).test(message))
    if (path === undefined) return
    const saysOffline = message.startsWith(`log directory ${path} is offline: `)
    const wasTold = this.#told.has(path)
    if (saysOffline) this.#told.add(path)
    if (!wasTold || consequences.some(one => one.test(message))) return
    this.#violations.add('I53', `after it was said that ${path} is offline there is one more line: ${message}`)
  }

  /** Neither the directory of the metadata, which is the first, nor all have failed: the others are served (I53). */
  mayGoOn(directories: readonly WatchedDirectory[]): boolean {
    const metadata = directories.find(one => one.path === this.#paths[0])
    return metadata?.isOffline === false && directories.some(one => !one.isOffline)
  }

  /** Seen to be offline for the first time. */
  wentOffline(path: string): void {
    if (!this.#told.has(path)) this.#violations.add('I53', `${path} is offline, and no line says so`)
  }

  /** While the process stands still nobody can expect anything; and what a disk has refused that stands still is heard of later. */
  look(
    directories: readonly WatchedDirectory[],
    { nowMs, isPaused, stalledUntilMs }: { nowMs: number; isPaused: boolean; stalledUntilMs: number },
  ): void {
    for (const [path, refusal] of this.#refusals) {
      refusal.sinceMs = Math.max(isPaused ? nowMs : refusal.sinceMs, stalledUntilMs)
      if (nowMs - refusal.sinceMs <= graceMs) continue
      this.#refusals.delete(path)
      if (directories.find(one => one.path === path)?.isOffline !== false) continue
      this.#violations.add(
        'I53',
        `${path} is not offline ${graceMs} ms after it could not be changed: ${refusal.error.message}`,
      )
    }
  }
}
