import assert from 'node:assert/strict'
import type { LogLevel, LogSink } from '../../src/io/log-sink.ts'
import { Patience } from '../compatibility/patience.ts'

const patienceMs = 10_000

/** What a broker has written to its log, for tests that wait for a line or count on there being none. */
export class LogLines implements LogSink {
  readonly #lines: { readonly level: LogLevel; readonly message: string }[] = []
  readonly #waiting = new Set<() => void>()

  write(level: LogLevel, message: string): void {
    this.#lines.push({ level, message })
    for (const look of this.#waiting) look()
  }

  /** Forgets what was written so far. */
  clear(): void {
    this.#lines.length = 0
  }

  matching(pattern: RegExp): string[] {
    return this.#lines.map(line => line.message).filter(message => pattern.test(message))
  }

  get errors(): string[] {
    return this.#lines.filter(line => line.level === 'error').map(line => line.message)
  }

  /** Resolves when there is such a line. */
  async logged(pattern: RegExp): Promise<void> {
    const reached = Promise.withResolvers<void>()
    const look = () => {
      if (this.matching(pattern).length > 0) reached.resolve()
    }
    this.#waiting.add(look)
    look()
    using patience = new Patience(patienceMs)
    void patience.over.then(() => {
      const said = this.#lines.map(line => line.message).join('\n')
      reached.reject(new assert.AssertionError({ message: `no line is like ${pattern}:\n${said}` }))
    })
    await reached.promise.finally(() => this.#waiting.delete(look))
  }
}
