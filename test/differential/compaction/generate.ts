import type { Random } from '../../../src/base/random.ts'
import type { LogWriter, NewRecord, Producer } from './log-writer.ts'
import { rollMs, type Shape } from './shapes.ts'

/**
 * Writes a log of some shape, in as many rounds as wanted, drawn from `random`. Timestamps lie in the future and grow by a
 * jump where a segment is to end, since a segment's age counts from its first record: markers, which have the broker's own
 * time, then end none.
 */
export class LogGenerator {
  readonly #shape: Shape
  readonly #random: Random
  readonly #producers: Producer[] = []
  /** In no transaction but by chance for a few batches. */
  readonly #open = new Set<Producer>()
  #timestamp: number
  #rounds = 0

  constructor(shape: Shape, random: Random, startMs: number) {
    this.#shape = shape
    this.#random = random
    this.#timestamp = startMs
  }

  async writeRound(writer: LogWriter): Promise<void> {
    await this.#makeProducers(writer)
    for (let segment = 0; segment < this.#shape.segments; segment++) {
      if (segment > 0 || this.#rounds > 0) await this.#roll()
      for (let batch = 0; batch < this.#shape.batchesPerSegment; batch++) await this.#writeBatch(writer)
    }
    if (!this.#shape.leavesOpen) await this.#endAll(writer)
    await this.#roll()
    await writer.append([this.#record('last of the round')])
    this.#rounds++
  }

  /** Transactions that a round left open end, so that the next pass can go on. */
  async endTransactions(writer: LogWriter): Promise<void> {
    await this.#endAll(writer)
  }

  async #makeProducers(writer: LogWriter): Promise<void> {
    const { idempotent, transactional, producers } = this.#shape
    if (this.#producers.length > 0) return
    for (let index = 0; index < producers; index++) {
      if (idempotent > 0) this.#producers.push(await writer.newProducer({ transactional: false }))
      if (transactional > 0) this.#producers.push(await writer.newProducer({ transactional: true }))
    }
  }

  async #roll(): Promise<void> {
    this.#timestamp += rollMs
    // Under LogAppendTime only time itself ends a segment.
    if (this.#shape.configs['segment.ms'] !== undefined) {
      await new Promise(resolve => setTimeout(resolve, Number(this.#shape.configs['segment.ms']) * 1.5))
    }
  }

  async #writeBatch(writer: LogWriter): Promise<void> {
    const { transactional, idempotent, codecs, maxRecordsPerBatch } = this.#shape
    const draw = this.#random.below(100)
    const isTransactional = draw < transactional
    const producer = this.#pick(isTransactional ? true : draw < transactional + idempotent ? false : undefined)
    const records = Array.from({ length: 1 + this.#random.below(maxRecordsPerBatch) }, () => this.#record())
    const codec = codecs[this.#random.below(codecs.length)]!
    await writer.append(records, { codec, producer })
    if (!isTransactional || producer === undefined) return
    this.#open.add(producer)
    if (this.#random.below(3) === 0) await this.#end(writer, producer)
  }

  #pick(transactional: boolean | undefined): Producer | undefined {
    const candidates = this.#producers.filter(({ transactionalId }) => (transactionalId !== null) === transactional)
    return candidates[this.#random.below(Math.max(candidates.length, 1))]
  }

  async #end(writer: LogWriter, producer: Producer): Promise<void> {
    this.#open.delete(producer)
    await writer.end(producer, { commit: this.#random.below(2) === 0 })
  }

  async #endAll(writer: LogWriter): Promise<void> {
    for (const producer of [...this.#open]) await this.#end(writer, producer)
  }

  #record(name?: string): NewRecord {
    const { keys, tombstones, headers, keyless, maxValueBytes, jitterMs } = this.#shape
    this.#timestamp += 1 + this.#random.below(20)
    const jitter = jitterMs === 0 ? 0 : this.#random.below(jitterMs) - (jitterMs >> 1)
    const isKeyless = name === undefined && this.#random.below(100) < keyless
    const key = name ?? `key-${this.#random.below(keys)}`
    return {
      timestamp: this.#timestamp + jitter,
      key: isKeyless ? null : Buffer.from(key === 'key-0' ? '' : key),
      value: this.#random.below(100) < tombstones && name === undefined ? null : this.#value(maxValueBytes),
      headers: this.#random.below(100) < headers ? this.#headers() : [],
    }
  }

  /** Half noise, half repetition, so that codecs have work and effect. */
  #value(maxBytes: number): Buffer {
    const bytes = Buffer.alloc(this.#random.below(maxBytes + 1), 'a value that packs well, ')
    for (let at = 0; at < bytes.length >> 1; at += 4) bytes[at] = this.#random.below(256)
    return bytes
  }

  #headers(): { key: string; value: Buffer | null }[] {
    return Array.from({ length: 1 + this.#random.below(3) }, (_, index) => ({
      key: ['trace', '', 'schläge'][this.#random.below(3)]!,
      value: index === 1 ? null : this.#value(12),
    }))
  }
}
