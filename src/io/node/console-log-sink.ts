import type { LogLevel, LogSink } from '../log-sink.ts'
import { droppedText, lineWriter } from './line-writer.ts'

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

export interface ConsoleLogOptions {
  /** Lines below are left out. `info` when not given. */
  readonly level?: LogLevel
  /** Where lines go, with their line feed; the process's stderr when not given. */
  readonly write?: (line: string) => void
}

/** Writes one line of text for each event, for people. */
export function consoleLogSink(options: ConsoleLogOptions = {}): LogSink {
  const lowest = levels.indexOf(options.level ?? 'info')
  const dropped = (count: number) => `${textLine(new Date(), 'warn', droppedText(count), {})}\n`
  const write = options.write ?? lineWriter(process.stderr, { dropped })
  return {
    write(level, message, fields = {}) {
      if (levels.indexOf(level) >= lowest) write(`${textLine(new Date(), level, message, fields)}\n`)
    },
  }
}

type Fields = Readonly<Record<string, unknown>>

function textLine(time: Date, level: LogLevel, message: string, fields: Fields): string {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined)
  const pairs = known.map(([key, value]) => ` ${key}=${textValue(value)}`)
  return `${time.toISOString()} ${level.toUpperCase().padEnd(5)} ${onOneLine(message)}${pairs.join('')}`
}

function textValue(value: unknown): string {
  const plain = plainValue(value)
  const text =
    typeof plain === 'string' ? plain : (JSON.stringify(plain, (_, inner) => plainValue(inner)) ?? String(plain))
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text)
}

/** What JSON has no word for. */
function plainValue(value: unknown): unknown {
  if (value instanceof Error) return value.stack ?? value.message
  return typeof value === 'bigint' ? String(value) : value
}

function onOneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ')
}
