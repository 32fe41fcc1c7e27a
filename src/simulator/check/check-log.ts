import type { Uuid } from '../../base/uuid.ts'
import type { Call, History } from '../history/history.ts'
import type { ReadRecord, SeenRecord } from '../history/operations.ts'
import type { Violations } from '../violations.ts'
import type { CheckInput } from './check-history.ts'
import { Cuts } from './cuts.ts'
import { Incarnations } from './incarnations.ts'
import { type KnownRecord, KnownRecords } from './known-records.ts'
import { partitionKey, type Truth } from './partition-truth.ts'

/** Whether what was sent is there, what is there was sent, and every reader saw the same (I1, I2, I4, I6, I24, I26). */
export function checkLog(input: CheckInput): void {
  new LogCheck(input).run()
}

/** Everything known of one value. */
interface Sent {
  readonly record: SeenRecord
  readonly calls: Call<'send'>[]
}

class LogCheck {
  readonly #history: History
  readonly #truth: Truth
  readonly #violations: Violations
  readonly #isAck: boolean
  readonly #topics: Incarnations
  readonly #cuts: Cuts
  readonly #known: KnownRecords
  readonly #mayExpireEarly: boolean
  readonly #endMs: number
  readonly #sent = new Map<string, Sent>()
  /** By partition, offset and era: who said first what is there. */
  readonly #seen = new Map<string, { readonly value: string; readonly by: string }>()

  constructor(input: CheckInput) {
    const { history, truth, violations, plan } = input
    this.#history = history
    this.#truth = truth
    this.#violations = violations
    this.#isAck = plan.flush === 'ack'
    this.#topics = new Incarnations(history)
    this.#cuts = new Cuts(history)
    this.#known = new KnownRecords(input, this.#topics)
    this.#mayExpireEarly = plan.faults?.clockStepMs !== undefined
    this.#endMs = history.calls.reduce((end, call) => Math.max(end, call.invokedMs), 0)
  }

  run(): void {
    for (const call of this.#history.callsOf('send')) {
      for (const record of call.request.records) {
        const known = this.#sent.get(record.value)
        if (known === undefined) this.#sent.set(record.value, { record, calls: [call] })
        else known.calls.push(call)
      }
    }
    for (const call of this.#history.callsOf('poll')) this.#checkPoll(call)
    for (const call of this.#history.callsOf('send')) this.#checkSend(call)
    for (const partition of this.#truth.values()) this.#checkTruth(partition.topicId, partition.partition)
  }

  #checkSend(call: Call<'send'>): void {
    const { request, answer } = call
    const topicId = this.#topics.reached(request, call)
    if (answer === undefined || topicId === undefined) return
    for (const [index, record] of request.records.entries())
      this.#checkPresent(topicId, request.partition, { ...record, offset: answer.baseOffset + index }, call, 'I1')
  }

  #checkPoll(call: Call<'poll'>): void {
    const { request, answer } = call
    if (answer === undefined) return
    const span = { invokedAt: request.since ?? call.invokedAt, endedAt: call.endedAt }
    const topicId = this.#topics.reached(request, span)
    let expected = request.offset
    for (const record of answer.records) {
      const place = `${request.topic}-${request.partition} offset ${record.offset}`
      if (record.offset !== expected) {
        const missing = this.#findMissing(topicId, request, { from: expected, to: record.offset }, call)
        if (missing !== undefined) this.#readerMisses(topicId, request, { place, missing }, call)
      }
      expected = record.offset + 1
      if (record.offset >= answer.highWatermark) {
        this.#violations.add('I9', `${place} was read at the high watermark ${answer.highWatermark} (call ${call.id})`)
      }
      this.#checkContent(record, place, request.topic, topicId)
      if (topicId !== undefined) this.#checkPresent(topicId, request.partition, record, { ...call, ...span }, 'I2')
    }
  }

  /** A record that was read is one that was sent, there and so. */
  #checkContent(record: ReadRecord, place: string, topic: string, topicId: Uuid | undefined): void {
    const sent = this.#sent.get(record.value)
    if (sent === undefined) {
      this.#violations.add('I6', `${place} holds ${record.value}, which nobody sent`)
      return
    }
    const isSame = sent.record.digest === record.digest
    const isSameTime = record.timestamp === undefined || record.timestamp === sent.record.timestamp
    if (!isSame || !isSameTime) this.#violations.add('I6', `${place} holds ${record.value}, but not as it was sent`)
    const fits = sent.calls.some(
      ({ request }) => request.topic === topic && (request.topicId ?? topicId) === (topicId ?? request.topicId),
    )
    if (!fits)
      this.#violations.add('I8', `${place} of ${topicId ?? topic} holds ${record.value}, which was sent elsewhere`)
    if (sent.calls.every(call => call.outcome === 'fail')) {
      const errors = sent.calls.map(call => call.error).join(', ')
      this.#violations.add('I53', `${place} holds ${record.value}, which was refused (${errors})`)
    }
  }

  /** What an answer said to be at an offset is there in the end, and every other answer said the same. */
  #checkPresent(topicId: Uuid, partition: number, record: ReadRecord, call: Call, invariant: string): void {
    const { offset, value } = record
    const by = `call ${call.id} of ${call.process}`
    const place = `${topicId} partition ${partition} offset ${offset}`
    const era = this.#cuts.era(topicId, partition, offset, call.invokedAt)
    if (era === this.#cuts.era(topicId, partition, offset, call.endedAt)) {
      const key = `${partitionKey(topicId, partition)} ${offset} ${era}`
      const before = this.#seen.get(key)
      if (before === undefined) this.#seen.set(key, { value, by })
      else if (before.value !== value)
        this.#violations.add('I4', `${place} is ${before.value} for ${before.by} and ${value} for ${by}`)
    }
    const truth = this.#truth.get(partitionKey(topicId, partition))
    if (truth === undefined || offset < truth.logStartOffset) return
    if (this.#cuts.isDamaged(topicId, partition, offset)) return
    const wasPromised = this.#isAck && (invariant !== 'I1' || (call as Call<'send'>).request.acks !== 0)
    if (!wasPromised && this.#cuts.mayHaveTaken(topicId, partition, offset, call.invokedAt)) return
    const found = truth.records.get(offset)
    if (found?.value === value) return
    if (found === undefined && this.#mayBeCompacted(topicId, partition, offset, this.#endMs)) return
    const now = found === undefined ? 'is not there' : `holds ${found.value}`
    this.#violations.add(invariant, `${place} ${now} in the end; ${by} was told it is ${value}`)
  }

  #checkTruth(topicId: Uuid, partition: number): void {
    const truth = this.#truth.get(partitionKey(topicId, partition))!
    const seen = new Map<string, number>()
    let expected = truth.logStartOffset
    for (const record of truth.records.values()) {
      const place = `${truth.topic}-${partition} offset ${record.offset}`
      for (; expected < record.offset; expected++) this.#checkGap(topicId, partition, expected)
      expected = record.offset + 1
      this.#checkContent(record, place, truth.topic, topicId)
      const before = seen.get(record.value)
      seen.set(record.value, record.offset)
      if (before === undefined) continue
      const attempts = this.#sent.get(record.value)?.calls ?? []
      if (attempts.length <= 1 || attempts.some(call => call.request.producer !== undefined))
        this.#violations.add(
          'I24',
          `${record.value} is at offsets ${before} and ${record.offset} of ${truth.topic}-${partition}`,
        )
    }
    for (; expected < truth.logEndOffset; expected++) this.#checkGap(topicId, partition, expected)
  }

  #checkGap(topicId: Uuid, partition: number, offset: number): void {
    if (this.#cuts.isDamaged(topicId, partition, offset)) return
    if (this.#mayBeCompacted(topicId, partition, offset, this.#endMs)) return
    this.#violations.add('I4', `nothing is at offset ${offset} of ${topicId} partition ${partition}`)
  }

  /** A tombstone that should be there is missing because it went before its time. */
  #readerMisses(
    topicId: Uuid | undefined,
    { partition }: { readonly partition: number },
    { place, missing }: { readonly place: string; readonly missing: number },
    call: Call<'poll'>,
  ): void {
    const known = topicId === undefined ? [] : this.#known.at(topicId, partition, missing)
    const isTombstone = known.length > 0 && known.every(record => record.isTombstone)
    const what = isTombstone ? `the tombstone at ${missing}` : `offset ${missing}`
    const text = `a read of ${place} came where ${what} was due (call ${call.id})`
    this.#violations.add(isTombstone ? 'I55' : 'I40', text)
  }

  /** The first offset of those that a reader went over which is not gone for a reason. */
  #findMissing(
    topicId: Uuid | undefined,
    { topic, partition }: { readonly topic: string; readonly partition: number },
    { from, to }: { readonly from: number; readonly to: number },
    call: Call<'poll'>,
  ): number | undefined {
    if (to < from) return from
    // Nobody can say which topic of the name it was.
    if (topicId === undefined) return this.#known.isCompactedName(topic) ? undefined : from
    if (!this.#known.isCompacted(topicId)) return from
    for (let offset = from; offset < to; offset++) {
      if (this.#cuts.isDamaged(topicId, partition, offset)) continue
      if (this.#cuts.mayHaveTaken(topicId, partition, offset, 0)) continue
      if (!this.#mayBeCompacted(topicId, partition, offset, call.endedMs)) return offset
    }
    return undefined
  }

  /**
   * Compaction may have removed the record at this offset by then: nobody knows which it was, or one of its key follows, or it
   * is a tombstone that has been there for long enough.
   */
  #mayBeCompacted(topicId: Uuid, partition: number, offset: number, atMs: number): boolean {
    if (!this.#known.isCompacted(topicId)) return false
    const records = this.#known.at(topicId, partition, offset)
    if (records.length === 0 || records.some(record => this.#mayBeGone(topicId, partition, record, atMs))) return true
    // Those that are known were lost, perhaps, and nobody knows which followed them.
    return !this.#isAck && records.every(({ toldAt }) => this.#cuts.mayHaveTaken(topicId, partition, offset, toldAt))
  }

  #mayBeGone(topicId: Uuid, partition: number, record: KnownRecord, atMs: number): boolean {
    if (this.#known.isUnsure(topicId, partition, record, atMs)) return true
    if (this.#known.later(topicId, partition, record).some(later => later.notBeforeMs <= atMs)) return true
    if (!record.isTombstone) return false
    const isOld = atMs - record.notBeforeMs >= this.#known.deleteRetentionMs(topicId)
    return isOld || this.#mayExpireEarly
  }
}
