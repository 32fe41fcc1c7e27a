export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/**
 * Where log lines go. `message` is one sentence a person can act on: it names the setting, file, address or topic and
 * says what to do. `fields` are for machines.
 */
export interface LogSink {
  write(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void
}
