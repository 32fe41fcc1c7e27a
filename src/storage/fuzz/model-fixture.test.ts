import assert from 'node:assert/strict'
import { isControlBatch, readBatchSize, readRecordCount } from '../../records/batch.ts'
import { RecordReader } from '../../records/record.ts'

/** As it was appended: records of one key, each with a value that no other has. */
export interface ModelBatch {
  readonly baseOffset: number
  readonly key: string
  readonly values: readonly string[]
}

/** What a log is found to be. */
export interface FoundLog {
  readonly logStartOffset: number
  readonly logEndOffset: number
  /** `key=value` by offset. */
  readonly records: ReadonlyMap<number, string>
}

/** What was appended to a log and is not known to be gone, and what was at any offset ever. */
export class LogModel {
  readonly #isCompacted: boolean
  /** In the order of their offsets. */
  #batches: readonly ModelBatch[] = []
  /** How often what was there may have gone. */
  #cuts = 0
  /** Of every offset, all that it was ever given to: a crash may bring back what was cut off, but nothing else. */
  readonly #ever = new Map<number, Set<string>>()

  constructor({ isCompacted }: { readonly isCompacted: boolean }) {
    this.#isCompacted = isCompacted
  }

  appended(batch: ModelBatch): void {
    this.#batches = [...this.#batches, batch]
    for (const [offset, text] of recordsOf(batch)) {
      const ever = this.#ever.get(offset) ?? new Set()
      this.#ever.set(offset, ever.add(text))
    }
  }

  /** The log ends there: a batch that reaches beyond is not in it. */
  endsAt(endOffset: number): void {
    this.#cuts++
    this.#batches = this.#batches.filter(batch => lastOffsetOf(batch) < endOffset)
  }

  /** Where a log ends that was cut there: not within a batch. */
  cutEnd(endOffset: number): number {
    const within = this.#batches.find(batch => batch.baseOffset < endOffset && lastOffsetOf(batch) >= endOffset)
    return within?.baseOffset ?? endOffset
  }

  get cuts(): number {
    return this.#cuts
  }

  /** What was read is what lies there now; or did, where the log was cut since then. */
  checkRead(records: ReadonlyMap<number, string>, cutsBefore: number): void {
    this.#checkEver(records)
    if (cutsBefore !== this.#cuts) return
    for (const [offset, text] of this.#wanted()) {
      const read = records.get(offset)
      assert.ok(read === undefined || read === text, `read at ${offset}: ${short(`${read}`)}`)
    }
  }

  #checkEver(records: ReadonlyMap<number, string>): void {
    for (const [offset, text] of records) assert.ok(this.#ever.get(offset)?.has(text), `at ${offset}: ${short(text)}`)
  }

  #wanted(): [number, string][] {
    return this.#batches.flatMap(batch => [...recordsOf(batch)])
  }

  /**
   * Below `mustEnd` there is what was appended last, but for what compaction may have left out. Above, there may be anything that
   * ever was. The model goes on with what is there.
   */
  checkFound(found: FoundLog, mustEnd: number): void {
    const { records, logStartOffset, logEndOffset } = found
    this.#checkEver(records)
    for (const [offset, text] of this.#wanted()) {
      if (offset < logStartOffset || offset >= mustEnd) continue
      const there = records.get(offset)
      if (there === undefined) assert.ok(this.#mayBeLeftOut(offset, text, found), `${offset}: ${short(text)} is lost`)
      else assert.equal(short(there), short(text), `offset ${offset}`)
    }
    const isWhole = this.#batches.every(batch => lastOffsetOf(batch) < logEndOffset || batch.baseOffset >= mustEnd)
    assert.ok(isWhole || logEndOffset >= mustEnd, `it ends at ${logEndOffset} instead of ${mustEnd}`)
    const isThere = (batch: ModelBatch) => [...recordsOf(batch)].every(([at, text]) => records.get(at) === text)
    this.#batches = this.#batches.filter(
      batch => lastOffsetOf(batch) < logEndOffset && (lastOffsetOf(batch) < mustEnd || isThere(batch)),
    )
  }

  #mayBeLeftOut(offset: number, text: string, { records }: FoundLog): boolean {
    if (!this.#isCompacted) return false
    const ofKey = text.slice(0, text.indexOf('=') + 1)
    return [...records].some(([later, one]) => later > offset && one.startsWith(ofKey))
  }
}

function lastOffsetOf({ baseOffset, values }: ModelBatch): number {
  return baseOffset + values.length - 1
}

function* recordsOf({ baseOffset, key, values }: ModelBatch): Generator<[number, string]> {
  for (const [index, value] of values.entries()) yield [baseOffset + index, `${key}=${value}`]
}

function short(text: string): string {
  return text.slice(0, 30)
}

/** `key=value` by offset. */
export function recordsIn(batches: readonly Buffer[]): Map<number, string> {
  const records = new Map<number, string>()
  for (const batch of batches) {
    if (isControlBatch(batch, 0) || readRecordCount(batch, 0) === 0) continue
    const reader = new RecordReader(batch, 0, readBatchSize(batch, 0))
    for (let record = reader.next(); record !== undefined; record = reader.next())
      records.set(record.offset, `${record.key}=${record.value}`)
  }
  return records
}
