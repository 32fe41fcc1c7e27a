import type { Writable } from 'node:stream'

/** Bytes of lines that may wait to be read. A pipe itself holds another 64 KiB. */
const defaultMaxWaitingBytes = 1024 * 1024

export interface LineWriterOptions {
  /** The line that says how many were dropped, with its line feed. */
  readonly dropped: (count: number) => string
  readonly maxWaitingBytes?: number
}

/**
 * Writes lines to a stream without ever waiting for whoever reads them: who does not read in time misses some, and is told how
 * many when he reads on.
 */
export function lineWriter(
  stream: Writable,
  { dropped, maxWaitingBytes = defaultMaxWaitingBytes }: LineWriterOptions,
): (line: string) => void {
  let count = 0
  return line => {
    if (stream.writableLength > maxWaitingBytes) {
      count++
      return
    }
    if (count > 0) stream.write(dropped(count))
    count = 0
    stream.write(line)
  }
}

export function droppedText(count: number): string {
  return `${count} ${count === 1 ? 'line' : 'lines'} of the log were dropped: nobody read them in time`
}
