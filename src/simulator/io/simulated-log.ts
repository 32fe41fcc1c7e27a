import type { LogLevel, LogSink } from '../../io/log-sink.ts'
import type { Life } from './life.ts'

export interface LogLine {
  readonly timeMs: number
  readonly node: string
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Lines that are kept for each world. */
const KEPT_LINES = 1000

/** The log of all nodes of a world, the newest lines of it. */
export class WorldLog {
  readonly #lines: LogLine[] = []
  /** Told of each line as it is written. */
  watcher: (line: LogLine) => void = () => undefined

  get lines(): readonly LogLine[] {
    return this.#lines
  }

  sinkOf(life: Life): LogSink {
    return {
      write: (level, message, fields = {}) => {
        const timeMs = life.scheduler.timeUs / 1000
        const line = { timeMs, node: life.name, level, message, fields }
        this.#lines.push(line)
        if (this.#lines.length > KEPT_LINES) this.#lines.shift()
        this.watcher(line)
      },
    }
  }
}
