import assert from 'node:assert/strict'
import { test } from 'node:test'
import { History } from '../history/history.ts'
import type { GroupTarget, PollRequest, ReadRecord, SeenRecord, SendRequest } from '../history/operations.ts'
import type { PlannedTopic } from '../plan.ts'
import { Violations } from '../violations.ts'
import { checkHistory } from './check-history.ts'
import { type PartitionTruth, partitionKey } from './partition-truth.ts'

export const topicId = 'topic-of-the-first-run'
export const otherId = 'topic-of-another-kind!'
export const place = { topic: 'orders', topicId, partition: 0 }
/** Its records are gone after a second. */
export const news = { topic: 'news', topicId: 'topic-of-short-records', partition: 0 }
export const producer = { id: 7, epoch: 0, sequence: 0 }
export const generation1 = { group: 'g', member: 'one', generation: 1 }

interface Watermarks {
  readonly highWatermark?: number
  readonly lastStableOffset?: number
  readonly logStartOffset?: number
}

/** A small history, written by hand: what clients did in this order, and what is there in the end. */
export class Story {
  readonly history = new History(() => 0)
  readonly truth = new Map<string, PartitionTruth>()
  flush: 'async' | 'ack' = 'ack'

  constructor() {
    this.created('orders', topicId)
    this.created('others', otherId)
    this.created('news', news.topicId)
  }

  created(topic: string, id: string): void {
    this.history.ok(this.history.begin('admin', 'createTopic', { topic, partitions: 1 }), { topicId: id })
  }

  send(values: readonly string[], more: Partial<SendRequest> = {}) {
    const records = values.map(seen)
    const request = { ...place, acks: -1, records, producer: undefined, attempt: 1, ...more }
    return this.history.begin('producer', 'send', request)
  }

  sent(values: readonly string[], baseOffset: number, more: Partial<SendRequest> = {}): void {
    this.history.ok(this.send(values, more), { baseOffset })
  }

  /** Nobody heard how it ended. */
  sentPerhaps(values: readonly string[], more: Partial<SendRequest> = {}): void {
    this.history.info(this.send(values, more), 'no answer in time')
  }

  read(offset: number, values: readonly string[], watermarks: Watermarks = {}): void {
    const records = values.map((value, index) => at(offset + index, value))
    this.readRecords(offset, records, watermarks)
  }

  readRecords(offset: number, records: readonly ReadRecord[], watermarks: Watermarks = {}): void {
    const { highWatermark = 100, lastStableOffset = highWatermark, logStartOffset = 0 } = watermarks
    const call = this.history.begin('reader', 'poll', { ...place, offset, isolation: 'readUncommitted' })
    this.history.ok(call, { records, highWatermark, lastStableOffset, logStartOffset })
  }

  /** Handed out by a client that fetches ahead, since this place. */
  handedOut(offset: number, values: readonly string[], more: Partial<PollRequest> = {}): void {
    const request = { ...place, topicId: undefined, offset, since: this.history.length, ...more }
    const call = this.history.begin('reader', 'poll', { ...request, isolation: 'readUncommitted' })
    const records = values.map((value, index) => at(offset + index, value))
    this.history.ok(call, { records, highWatermark: 100, lastStableOffset: -1, logStartOffset: -1 })
  }

  listed(timestamp: -1 | -2, offset: number): void {
    this.history.ok(this.history.begin('reader', 'listOffset', { ...place, timestamp }), { offset, timestamp: -1 })
  }

  cut(from: number): void {
    this.history.mark('cut', { ...place, from })
  }

  joined(member: string, generation: number, instance?: string): void {
    const call = this.history.begin(member, 'join', { group: 'g', member, instance })
    this.history.ok(call, { member, generation, isLeader: false })
  }

  synced(who: GroupTarget, share: readonly string[]): void {
    this.history.ok(this.history.begin(who.member, 'sync', { ...who, shares: null }), { share })
  }

  commit(offset: number, token: string) {
    return this.history.begin('one', 'commit', { ...generation1, ...place, offset, token })
  }

  committed(offset: number, token: string): void {
    this.history.ok(this.commit(offset, token), {})
  }

  foundCommitted(offset: number, token: string): void {
    const call = this.history.begin('admin', 'fetchCommitted', { group: 'g', ...place })
    this.history.ok(call, { ...place, offset, token })
  }

  newsBeginAt(to: number, wallMs: number): void {
    this.history.mark('logStartMoved', { ...news, from: 0, to, wallMs, sizeBytes: 0 })
  }

  /** The partition in the end. */
  holds(values: readonly (string | undefined)[], { logStartOffset = 0, target = place } = {}): void {
    const records = values.flatMap((value, index) => (value === undefined ? [] : [at(logStartOffset + index, value)]))
    this.truth.set(partitionKey(target.topicId, target.partition), {
      ...{ ...target, logStartOffset, logEndOffset: logStartOffset + values.length },
      records: new Map(records.map(record => [record.offset, record])),
    })
  }

  /** The invariants that were broken, each once. What is checked has been through its written form. */
  broken(): string {
    const violations = new Violations()
    const history = History.parse([...this.history.lines()])
    const topics: PlannedTopic[] = [
      { name: 'orders', partitions: 1, config: {}, isMortal: false },
      { name: 'news', partitions: 1, config: { 'retention.ms': '1000' }, isMortal: false },
    ]
    checkHistory({ history, truth: this.truth, violations, plan: { flush: this.flush, topics } })
    return [...new Set(violations.kept.map(({ invariant }) => invariant))].sort().join(' ')
  }
}

function seen(value: string): SeenRecord {
  return { value, digest: `digest of ${value}`, timestamp: '1' }
}

export function at(offset: number, value: string): ReadRecord {
  return { offset, ...seen(value) }
}

function brokenIn(tell: (story: Story) => void): string {
  const story = new Story()
  tell(story)
  return story.broken()
}

/** Histories of a broker without fault. */
export function testSound(stories: Readonly<Record<string, (story: Story) => void>>): void {
  for (const [what, tell] of Object.entries(stories))
    test(`no fault is found in ${what}`, () => assert.equal(brokenIn(tell), ''))
}

/** Each is one mistake of a broker, and the invariants that it breaks. */
export type Mistake = readonly [invariants: string, what: string, tell: (story: Story) => void]

export function testMistakes(mistakes: readonly Mistake[]): void {
  for (const [invariants, what, tell] of mistakes)
    test(`${invariants} is broken when ${what}`, () => assert.equal(brokenIn(tell), invariants))
}
