import type { Readable } from 'node:stream'
import { countOf } from '../base/count-of.ts'
import { MillraceError, type Producer, type ProducerRecord, type RecordMetadata, SendError } from '../client/index.ts'
import { LineSplitter, maxLineBytes } from './line-splitter.ts'
import { CommandFailure } from './output.ts'
import { NotARecord } from './record-json.ts'

/** So many lines, or bytes of them, are sent together, if they are there already. */
const linesAtOnce = 1000
const bytesAtOnce = 1 << 20

export interface LineSending {
  readonly input: Readable
  readonly producer: Producer
  readonly recordOf: (line: Buffer) => ProducerRecord | NotARecord
  /** Told of each record that is acknowledged, in the order of lines. */
  readonly sent: (record: RecordMetadata) => void
  /** Ends the reading; what was read whole is sent. */
  readonly stopping: AbortSignal
}

/** Sends each line as a record, as soon as it is there, until the input ends. The answer is how many were sent. */
export async function sendLines(options: LineSending): Promise<number> {
  return await new LineSender(options).run()
}

class LineSender {
  readonly #options: LineSending
  readonly #splitter = new LineSplitter()
  /** Read, and not sent yet. */
  #waiting: ProducerRecord[] = []
  #waitingBytes = 0
  /** How many lines were read: the number of the last one. */
  #lines = 0
  #sent = 0

  constructor(options: LineSending) {
    this.#options = options
  }

  async run(): Promise<number> {
    const { input } = this.#options
    for await (const piece of this.#pieces()) {
      for (const line of this.#splitter.push(piece)) await this.#add(line)
      if (this.#splitter.isLineTooLong) await this.#refuse(this.#lines + 1, `it is longer than ${maxLineBytes} bytes`)
      // There is no knowing when the next line comes.
      if (input.readableLength === 0) await this.#send()
    }
    if (!this.#options.stopping.aborted) for (const line of this.#splitter.end()) await this.#add(line)
    await this.#send()
    return this.#sent
  }

  async *#pieces(): AsyncGenerator<Buffer> {
    const { input, stopping } = this.#options
    const stop = () => input.destroy()
    stopping.addEventListener('abort', stop)
    const pieces = input[Symbol.asyncIterator]()
    while (!stopping.aborted) {
      const next = await pieces.next().catch((error: unknown) => {
        // It was closed under this call.
        if (stopping.aborted) return { done: true, value: undefined } as const
        throw new CommandFailure(`the input cannot be read: ${reasonOf(error)}. ${this.#sentText()}`)
      })
      if (next.done) break
      yield next.value
    }
    stopping.removeEventListener('abort', stop)
  }

  async #add(line: Buffer): Promise<void> {
    this.#lines++
    const record = this.#options.recordOf(line)
    if (record instanceof NotARecord) return await this.#refuse(this.#lines, record.reason)
    this.#waiting.push(record)
    this.#waitingBytes += line.length
    if (this.#waiting.length >= linesAtOnce || this.#waitingBytes >= bytesAtOnce) await this.#send()
  }

  /** All lines before are sent, so that it is plain where to go on. */
  async #refuse(line: number, reason: string): Promise<never> {
    this.#lines = line - 1
    await this.#send()
    throw new CommandFailure(`line ${line}: ${reason}. ${this.#sentText()}`)
  }

  #sentText(): string {
    if (this.#sent === 0) return 'Nothing was sent'
    return `${this.#sent === 1 ? '1 record was' : `${this.#sent} records were`} sent: the lines before it`
  }

  async #send(): Promise<void> {
    const records = this.#waiting
    if (records.length === 0) return
    this.#waiting = []
    this.#waitingBytes = 0
    const firstLine = this.#lines - records.length + 1
    const failures: { readonly line: number; readonly error: MillraceError }[] = []
    for (const [index, outcome] of (await outcomesOf(this.#options.producer, records)).entries()) {
      if (outcome instanceof MillraceError) failures.push({ line: firstLine + index, error: outcome })
      else {
        this.#sent++
        this.#options.sent(outcome)
      }
    }
    if (failures.length === 0) return
    const [{ line, error }] = failures
    const failed = rangesOf(failures.map(failure => failure.line))
    const others =
      this.#sent === 0
        ? 'Nothing was acknowledged'
        : `${countOf(this.#sent, 'record')} of lines 1 to ${this.#lines} acknowledged, not ${failed}`
    throw new CommandFailure(`line ${line}: ${error.message.replace(/\.+$/, '')}. ${others}; no more was read`)
  }
}

async function outcomesOf(
  producer: Producer,
  records: readonly ProducerRecord[],
): Promise<readonly (RecordMetadata | MillraceError)[]> {
  try {
    return await producer.sendMany(records)
  } catch (error) {
    if (error instanceof SendError) return error.results
    // A call with one record has no results.
    if (error instanceof MillraceError) return records.map(() => error)
    throw error
  }
}

const maxRanges = 10

/** `line 3`; `lines 3, 7-9`. `numbers` grow. */
export function rangesOf(numbers: readonly number[]): string {
  const ranges: [first: number, last: number][] = []
  for (const number of numbers) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === number - 1) last[1] = number
    else ranges.push([number, number])
  }
  const texts = ranges.slice(0, maxRanges).map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`))
  const more = ranges.length > maxRanges ? ' and more' : ''
  return `${numbers.length === 1 ? 'line' : 'lines'} ${texts.join(', ')}${more}`
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message
}
