import { pino } from 'pino'
import type { LogLevel, LogSink } from '../log-sink.ts'
import { droppedText, lineWriter } from './line-writer.ts'

/** Writes one JSON object a line, to stderr or to `write`: `level`, `time`, `message` and the fields of the event. */
export function jsonLogSink(level: LogLevel, write?: (line: string) => void): LogSink {
  const target = { write: write ?? lineWriter(process.stderr, { dropped: droppedLine }) }
  const logger = pino(
    {
      level,
      messageKey: 'message',
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
    },
    // Not pino's own way to a descriptor: it waits for whoever reads, and a reader who has gone is an error of its own.
    target,
  )
  return {
    write(level, message, fields = {}) {
      logger[level](plain(fields), message)
    },
  }
}

function droppedLine(count: number): string {
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), message: droppedText(count) })}\n`
}

/** What JSON has no word for becomes text, and no field takes the name of one that every line has. */
function plain(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(fields).map(([key, value]) => {
    const name = /^(time|level|message)$/.test(key) ? `${key}_` : key
    if (value instanceof Error) return [name, value.stack ?? value.message]
    return [name, typeof value === 'bigint' ? String(value) : value]
  })
  return Object.fromEntries(entries)
}
