import assert from 'node:assert/strict'
import { test } from 'node:test'
import { History } from '../history/history.ts'
import type { ReadRecord, SeenRecord } from '../history/operations.ts'
import { Violations } from '../violations.ts'
import { checkHistory } from './check-history.ts'
import { type PartitionTruth, partitionKey } from './partition-truth.ts'

const topicId = 'topic-that-is-compacted'
const place = { topic: 'latest', topicId, partition: 0 }
const deleteRetentionMs = 10_000

/** A record as a story tells it: `key=value`, or `key!name` for a tombstone. */
function seen(text: string): SeenRecord {
  const [key = ''] = text.split(/[=!]/)
  return { value: text, digest: text, timestamp: '1', key, isTombstone: text.includes('!') }
}

class Story {
  #nowMs = 0
  readonly history = new History(() => this.#nowMs)
  readonly truth = new Map<string, PartitionTruth>()

  constructor() {
    const call = this.history.begin('admin', 'createTopic', { topic: 'latest', partitions: 1 })
    this.history.ok(call, { topicId })
  }

  pass(ms: number): void {
    this.#nowMs += ms
  }

  sent(text: string, baseOffset: number): void {
    const request = { ...place, acks: -1, records: [seen(text)], producer: undefined, attempt: 1 }
    this.history.ok(this.history.begin('producer', 'send', request), { baseOffset })
  }

  read(offset: number, found: Readonly<Record<number, string>>, nextOffset: number): void {
    const call = this.history.begin('reader', 'poll', { ...place, offset, isolation: 'readUncommitted' })
    const watermarks = { highWatermark: 100, lastStableOffset: 100, logStartOffset: 0 }
    this.history.ok(call, { records: recordsOf(found), nextOffset, ...watermarks })
  }

  holds(found: Readonly<Record<number, string>>, logEndOffset: number): void {
    const records = new Map(recordsOf(found).map(record => [record.offset, record]))
    this.truth.set(partitionKey(topicId, 0), { ...place, logStartOffset: 0, logEndOffset, records })
    this.history.mark('phase', { name: 'end' })
  }

  broken({ isCompacted = true, flush = 'ack' as 'ack' | 'async' } = {}): string {
    const violations = new Violations()
    const config = { 'delete.retention.ms': String(deleteRetentionMs) }
    const topics = [{ name: 'latest', partitions: 1, config, isMortal: false, isCompacted }]
    const history = History.parse([...this.history.lines()])
    checkHistory({ history, truth: this.truth, violations, plan: { flush, topics } })
    return [...new Set(violations.kept.map(({ invariant }) => invariant))].sort().join(' ')
  }
}

function recordsOf(found: Readonly<Record<number, string>>): ReadRecord[] {
  return Object.entries(found).map(([offset, text]) => ({ offset: Number(offset), ...seen(text) }))
}

function brokenIn(tell: (story: Story) => void): string {
  const story = new Story()
  tell(story)
  return story.broken()
}

const sound: Record<string, (story: Story) => void> = {
  'records whose key has a later one are gone, and readers go over them': story => {
    story.sent('k=1', 0)
    story.sent('a=1', 1)
    story.sent('k=2', 2)
    story.read(0, { 0: 'k=1', 1: 'a=1', 2: 'k=2' }, 3)
    story.read(0, { 1: 'a=1', 2: 'k=2' }, 3)
    story.holds({ 1: 'a=1', 2: 'k=2' }, 3)
  },
  'a tombstone that is old enough is gone with what it deleted': story => {
    story.sent('k=1', 0)
    story.sent('k!gone', 1)
    story.sent('a=1', 2)
    story.pass(deleteRetentionMs + 1)
    story.read(0, { 2: 'a=1' }, 3)
    story.holds({ 2: 'a=1' }, 3)
  },
  'a reader that was away for too long is not told of a tombstone': story => {
    story.sent('k=1', 0)
    story.read(0, { 0: 'k=1' }, 1)
    story.sent('k!gone', 1)
    story.sent('a=1', 2)
    story.pass(2 * deleteRetentionMs)
    story.read(1, { 2: 'a=1' }, 3)
    story.holds({ 2: 'a=1' }, 3)
  },
}

const unsound: readonly (readonly [invariants: string, what: string, tell: (story: Story) => void])[] = [
  [
    'I1 I4',
    'the last record of a key is gone',
    story => {
      story.sent('k=1', 0)
      story.sent('a=1', 1)
      story.holds({ 1: 'a=1' }, 2)
    },
  ],
  [
    'I54',
    'a record that was gone is back',
    story => {
      story.sent('k=1', 0)
      story.sent('k=2', 1)
      story.read(0, { 1: 'k=2' }, 2)
      story.read(0, { 0: 'k=1', 1: 'k=2' }, 2)
      story.holds({ 1: 'k=2' }, 2)
    },
  ],
  [
    'I55',
    'a tombstone is gone before its time, for a reader that had the record',
    story => {
      story.sent('k=1', 0)
      story.sent('k!gone', 1)
      story.sent('a=1', 2)
      story.read(0, { 0: 'k=1' }, 1)
      story.read(1, { 2: 'a=1' }, 3)
      story.pass(2 * deleteRetentionMs)
      story.history.ok(story.history.begin('admin', 'listOffset', { ...place, timestamp: -1 }), {
        offset: 100,
        timestamp: -1,
      })
      story.holds({ 2: 'a=1' }, 3)
    },
  ],
]

for (const [what, tell] of Object.entries(sound)) {
  test(`compaction may do this: ${what}`, () => assert.equal(brokenIn(tell), ''))
}

for (const [invariants, what, tell] of unsound) {
  test(`compaction must not do this: ${what}`, () => assert.equal(brokenIn(tell), invariants))
}

test('in a topic that is not compacted nothing may be missing', () => {
  const story = new Story()
  story.sent('k=1', 0)
  story.sent('k=2', 1)
  story.holds({ 1: 'k=2' }, 2)
  assert.equal(story.broken({ isCompacted: false }), 'I1 I4')
})

for (const [flush, broken] of [
  ['async', ''],
  ['ack', 'I1 I4'],
] as const) {
  test(`what the power may have taken may have been followed by a record that nobody saw: flush=${flush}`, () => {
    const story = new Story()
    story.sent('k=1', 0)
    story.history.mark('cut', { ...place, from: 0 })
    story.sent('a=1', 1)
    story.holds({ 1: 'a=1' }, 2)
    assert.equal(story.broken({ flush }), broken)
  })
}
