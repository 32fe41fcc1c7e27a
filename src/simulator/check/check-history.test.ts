import assert from 'node:assert/strict'
import { test } from 'node:test'
import { History } from '../history/history.ts'
import type { GroupTarget, PollRequest, ReadRecord, SeenRecord, SendRequest } from '../history/operations.ts'
import type { PlannedTopic } from '../plan.ts'
import { Violations } from '../violations.ts'
import { checkHistory } from './check-history.ts'
import { type PartitionTruth, partitionKey } from './partition-truth.ts'

const topicId = 'topic-of-the-first-run'
const otherId = 'topic-of-another-kind!'
const place = { topic: 'orders', topicId, partition: 0 }
/** Its records are gone after a second. */
const news = { topic: 'news', topicId: 'topic-of-short-records', partition: 0 }
const producer = { id: 7, epoch: 0, sequence: 0 }
const generation1 = { group: 'g', member: 'one', generation: 1 }

interface Watermarks {
  readonly highWatermark?: number
  readonly lastStableOffset?: number
  readonly logStartOffset?: number
}

/** A small history, written by hand: what clients did in this order, and what is there in the end. */
class Story {
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

function at(offset: number, value: string): ReadRecord {
  return { offset, ...seen(value) }
}

function brokenIn(tell: (story: Story) => void): string {
  const story = new Story()
  tell(story)
  return story.broken()
}

const sound: Record<string, (story: Story) => void> = {
  'records that are sent, read and there in the end': story => {
    story.sent(['a', 'b'], 0)
    story.read(0, ['a', 'b'], { highWatermark: 2 })
    story.holds(['a', 'b'])
  },
  'sends of unknown end, there or not': story => {
    story.sentPerhaps(['a'])
    story.sentPerhaps(['b'])
    story.send(['c'])
    story.holds(['b'])
  },
  'a repetition that is answered with the first offset': story => {
    story.sent(['a'], 0, { producer })
    story.sent(['b'], 1, { producer: { ...producer, sequence: 1 } })
    story.sent(['a'], 0, { producer, attempt: 2 })
    story.holds(['a', 'b'])
  },
  'a record that a plain producer tried again, there twice': story => {
    story.sentPerhaps(['a'])
    story.sent(['a'], 1, { attempt: 2 })
    story.holds(['a', 'a'])
  },
  'sends at the same time, in any order': story => {
    const [one, other] = [story.send(['a']), story.send(['b'])]
    story.history.ok(one, { baseOffset: 1 })
    story.history.ok(other, { baseOffset: 0 })
    story.holds(['b', 'a'])
  },
  'what a power cut took where nothing was promised': story => {
    story.flush = 'async'
    story.sent(['a', 'b'], 0)
    story.read(0, ['a', 'b'], { highWatermark: 2 })
    story.cut(1)
    story.sent(['c'], 1)
    story.read(0, ['a', 'c'], { highWatermark: 2 })
    story.holds(['a', 'c'])
  },
  'what acks=0 did not promise, gone with the power': story => {
    story.sent(['a'], 0, { acks: 0 })
    story.cut(0)
    story.holds([])
  },
  'damaged records that are missing': story => {
    story.sent(['a', 'b', 'c'], 0)
    story.history.mark('damaged', { ...place, from: 1, to: 2 })
    story.holds(['a', undefined, 'c'])
  },
  'a last stable offset that a power cut has set back': story => {
    story.flush = 'async'
    story.read(0, [], { highWatermark: 5 })
    story.cut(3)
    story.read(0, [], { highWatermark: 5, lastStableOffset: 3 })
  },
  'records that were deleted, and a log start that says so': story => {
    story.sent(['a', 'b'], 0)
    story.history.ok(story.history.begin('admin', 'deleteRecords', { ...place, offset: 1 }), { lowWatermark: 1 })
    story.holds(['b'], { logStartOffset: 1 })
  },
  'records that are gone since they were too old': story => {
    story.sent(['a', 'b'], 0, news)
    story.newsBeginAt(1, 1002)
    story.holds(['b'], { logStartOffset: 1, target: news })
  },
  'records that were deleted before they were too old': story => {
    story.sent(['a', 'b'], 0, news)
    story.history.begin('admin', 'deleteRecords', { ...news, offset: 1 })
    story.newsBeginAt(1, 900)
    story.holds(['b'], { logStartOffset: 1, target: news })
  },
  'a topic that was made anew under its name': story => {
    story.sent(['a'], 0)
    story.history.ok(story.history.begin('admin', 'deleteTopic', { topic: 'orders', topicId }), {})
    const target = { ...place, topicId: 'topic-of-the-next-run!' }
    story.created('orders', target.topicId)
    story.sent(['b'], 0, target)
    story.holds(['b'], { target })
  },
  'members that share, commit, and go on to the next generation': story => {
    story.joined('one', 1)
    story.joined('two', 1)
    story.synced(generation1, ['orders-0'])
    story.synced({ ...generation1, member: 'two' }, ['orders-1'])
    story.committed(5, 'first')
    story.joined('two', 2)
    story.synced({ group: 'g', member: 'two', generation: 2 }, ['orders-0', 'orders-1'])
    story.foundCommitted(5, 'first')
  },
  'a static member that comes back to its partitions': story => {
    story.joined('one', 2, 'instance')
    story.synced({ ...generation1, generation: 2 }, ['orders-0'])
    story.joined('one-again', 2, 'instance')
    story.synced({ group: 'g', member: 'one-again', generation: 2 }, ['orders-0'])
  },
  'first generations of a group that had been forgotten meanwhile': story => {
    story.joined('one', 1)
    story.synced(generation1, ['orders-0'])
    story.joined('two', 2)
    story.history.mark('numberedAnew', { group: 'g' })
    story.joined('three', 1)
    story.synced({ group: 'g', member: 'three', generation: 1 }, ['orders-0'])
  },
  'a generation that its coordinator has forgotten with the one before it': story => {
    story.joined('one', 1)
    story.joined('two', 2)
    story.history.mark('numberedAnew', { group: undefined })
    story.synced(generation1, ['orders-0'])
  },
  'a reader that passes over what was deleted meanwhile': story => {
    story.sent(['a', 'b', 'c'], 0)
    story.handedOut(0, ['a'])
    story.history.ok(story.history.begin('admin', 'deleteRecords', { ...place, offset: 2 }), { lowWatermark: 2 })
    story.handedOut(2, ['c'], { after: 1 })
    story.holds(['c'], { logStartOffset: 2 })
  },
  'a reader that goes back where the power took what it had read': story => {
    story.flush = 'async'
    const since = story.history.length
    story.sent(['a', 'b'], 0)
    story.handedOut(0, ['a', 'b'])
    story.cut(1)
    story.sent(['c'], 1)
    story.handedOut(1, ['c'], { after: 2, since })
    story.holds(['a', 'c'])
  },
  'a member that begins where its group had committed, or further on': story => {
    story.sent(['a', 'b', 'c'], 0)
    story.committed(1, 'first')
    story.handedOut(1, ['b'], { beginsFor: 'g', commitsFor: 'g' })
    story.handedOut(2, ['c'], { beginsFor: 'g' })
    story.holds(['a', 'b', 'c'])
  },
  'a member that begins behind what was deleted': story => {
    story.sent(['a', 'b', 'c'], 0)
    story.history.ok(story.history.begin('admin', 'deleteRecords', { ...place, offset: 2 }), { lowWatermark: 2 })
    story.handedOut(2, ['c'], { beginsFor: 'g' })
    story.holds(['c'], { logStartOffset: 2 })
  },
  'a member that begins where a commit that nobody heard of may have set its group back': story => {
    story.sent(['a', 'b', 'c'], 0)
    story.history.info(story.commit(1, 'late'), 'no answer in time')
    story.committed(2, 'first')
    story.handedOut(1, ['b'], { beginsFor: 'g' })
    story.holds(['a', 'b', 'c'])
  },
  'a commit that may have come after another': story => {
    const late = story.commit(5, 'late')
    story.committed(6, 'first')
    story.foundCommitted(5, 'late')
    story.history.ok(late, {})
  },
  'a commit that goes with its topic while somebody asks for it': story => {
    story.committed(5, 'first')
    story.history.begin('admin', 'deleteTopic', { topic: 'orders', topicId })
    story.foundCommitted(-1, '')
  },
  'a directory that is offline until the broker is started again, and its successor': story => {
    story.sent(['a'], 0)
    const underWay = story.send(['b'])
    story.history.mark('offline', { directory: '/disk', partitions: [place] })
    story.history.ok(underWay, { baseOffset: 1 })
    story.history.info(story.send(['c']), 'KAFKA_STORAGE_ERROR')
    story.sent(['x'], 0, { partition: 1 })
    const refused = story.send(['d'])
    story.history.mark('closing', { node: 'broker', life: 1 })
    story.history.info(refused, 'NOT_LEADER_OR_FOLLOWER')
    story.history.mark('ended', { node: 'broker', life: 1, how: 'kill' })
    story.read(0, ['a', 'b'])
    story.holds(['a', 'b'])
  },
  'commits that the power took where nothing was promised': story => {
    story.flush = 'async'
    story.committed(5, 'first')
    story.history.mark('cut', { topic: '__consumer_offsets', topicId: otherId, partition: 0, from: 0 })
    story.foundCommitted(-1, '')
  },
}

/** Each is one mistake of a broker, and the invariants that it breaks. */
const unsound: readonly (readonly [invariants: string, what: string, tell: (story: Story) => void])[] = [
  [
    'I1',
    'an acknowledged record is not there',
    story => {
      story.sent(['a'], 0)
      story.holds([])
    },
  ],
  [
    'I1',
    'a power cut took what was promised',
    story => {
      story.sent(['a'], 0)
      story.cut(0)
      story.holds([])
    },
  ],
  [
    'I1',
    'a record is gone, and the only power cut was before it',
    story => {
      story.flush = 'async'
      story.cut(0)
      story.sent(['a'], 0)
      story.holds([])
    },
  ],
  [
    'I1',
    'a record is gone that lies below what the power cut took',
    story => {
      story.flush = 'async'
      story.sent(['a', 'b'], 0)
      story.cut(1)
      story.holds([])
    },
  ],
  [
    'I1 I4',
    'an acknowledged record is at another offset',
    story => {
      story.sent(['a'], 0)
      story.holds([undefined, 'a'])
    },
  ],
  [
    'I1',
    'another record is in the place of an acknowledged one',
    story => {
      story.sent(['a'], 0)
      story.sentPerhaps(['b'])
      story.holds(['b'])
    },
  ],
  [
    'I2',
    'a record that was read is not there',
    story => {
      story.sentPerhaps(['a'])
      story.read(0, ['a'])
      story.holds([])
    },
  ],
  [
    'I4',
    'two readers saw different records at one offset',
    story => {
      story.sentPerhaps(['a'])
      story.sentPerhaps(['b'])
      story.read(0, ['a'])
      story.read(0, ['b'])
    },
  ],
  [
    'I4',
    'nothing is at an offset',
    story => {
      story.sentPerhaps(['a'])
      story.sentPerhaps(['b'])
      story.holds(['a', undefined, 'b'])
    },
  ],
  ['I6', 'nobody sent the record', story => story.read(0, ['a'])],
  [
    'I6',
    'a record has another content than was sent',
    story => {
      story.sent(['a'], 0)
      story.readRecords(0, [{ ...at(0, 'a'), digest: 'another' }])
      story.holds(['a'])
    },
  ],
  [
    'I6',
    'a record has another time than was sent',
    story => {
      story.sent(['a'], 0)
      story.readRecords(0, [{ ...at(0, 'a'), timestamp: '2' }])
      story.holds(['a'])
    },
  ],
  [
    'I7',
    'a record lies before another that was acknowledged before it was sent',
    story => {
      story.sent(['a'], 1)
      story.sent(['b'], 0)
      story.holds(['b', 'a'])
    },
  ],
  [
    'I8',
    'a record was sent to another topic',
    story => {
      story.sentPerhaps(['a'], { topic: 'others', topicId: otherId })
      story.read(0, ['a'])
    },
  ],
  [
    'I8',
    'a record was sent to the topic that had the name before',
    story => {
      story.sent(['a'], 0, { topicId: 'topic-of-the-past-run!' })
      story.read(0, ['a'])
    },
  ],
  [
    'I9',
    'a record is read at the high watermark',
    story => {
      story.sentPerhaps(['a'])
      story.read(0, ['a'], { highWatermark: 0 })
      story.holds(['a'])
    },
  ],
  [
    'I9',
    'the high watermark goes back',
    story => {
      story.read(0, [], { highWatermark: 5 })
      story.read(0, [], { highWatermark: 4 })
    },
  ],
  [
    'I9',
    'the last stable offset goes back',
    story => {
      story.read(0, [], { lastStableOffset: 5 })
      story.read(0, [], { lastStableOffset: 4 })
    },
  ],
  [
    'I9',
    'a log ends below what was acknowledged before',
    story => {
      story.sent(['a', 'b'], 0)
      story.listed(-1, 1)
      story.holds(['a', 'b'])
    },
  ],
  [
    'I9',
    'the log start goes back',
    story => {
      story.listed(-2, 5)
      story.read(5, [], { logStartOffset: 4 })
    },
  ],
  [
    'I23',
    'a producer id is given twice',
    story => {
      for (const process of ['one', 'two'])
        story.history.ok(story.history.begin(process, 'initProducer', { id: -1, epoch: -1 }), { id: 7, epoch: 0 })
    },
  ],
  ['I23', 'a topic id is given twice', story => story.created('more', topicId)],
  [
    'I24',
    'a record of an idempotent producer is there twice',
    story => {
      story.sentPerhaps(['a'], { producer })
      story.sent(['a'], 0, { producer, attempt: 2 })
      story.holds(['a', 'a'])
    },
  ],
  [
    'I24',
    'a record that was sent once is there twice',
    story => {
      story.sent(['a'], 0)
      story.holds(['a', 'a'])
    },
  ],
  [
    'I36',
    'a partition has two owners',
    story => {
      story.joined('one', 1)
      story.joined('two', 1)
      story.synced(generation1, ['orders-0'])
      story.synced({ ...generation1, member: 'two' }, ['orders-0'])
    },
  ],
  [
    'I36',
    'a partition has two owners in the first generation, and another group was numbered anew',
    story => {
      story.joined('one', 1)
      story.synced(generation1, ['orders-0'])
      story.history.mark('numberedAnew', { group: 'another' })
      story.joined('two', 1)
      story.synced({ ...generation1, member: 'two' }, ['orders-0'])
    },
  ],
  [
    'I37',
    'a heartbeat of a generation that is over is taken',
    story => {
      story.joined('one', 1)
      story.joined('two', 2)
      story.history.ok(story.history.begin('one', 'heartbeat', generation1), {})
    },
  ],
  [
    'I37',
    'a share is given in a generation that is over',
    story => {
      story.joined('one', 1)
      story.joined('two', 2)
      story.synced(generation1, ['orders-0'])
    },
  ],
  [
    'I37',
    'a commit of a generation that is over is taken',
    story => {
      story.joined('one', 1)
      story.joined('two', 2)
      story.committed(5, 'stale')
    },
  ],
  [
    'I37',
    'a commit that was refused is there',
    story => {
      story.history.fail(story.commit(5, 'refused'), 'ILLEGAL_GENERATION')
      story.foundCommitted(5, 'refused')
    },
  ],
  [
    'I38',
    'a commit is lost',
    story => {
      story.committed(5, 'first')
      story.foundCommitted(-1, '')
    },
  ],
  [
    'I38',
    'a power cut took a commit that was promised',
    story => {
      story.committed(5, 'first')
      story.history.mark('cut', { topic: '__consumer_offsets', topicId: otherId, partition: 0, from: 0 })
      story.foundCommitted(-1, '')
    },
  ],
  [
    'I38',
    'an earlier commit is back',
    story => {
      story.committed(5, 'first')
      story.committed(6, 'second')
      story.foundCommitted(5, 'first')
    },
  ],
  [
    'I38',
    'a committed offset is another',
    story => {
      story.committed(5, 'first')
      story.foundCommitted(4, 'first')
    },
  ],
  ['I38', 'nobody made the commit', story => story.foundCommitted(5, 'unheard of')],
  [
    'I40',
    'a read leaves out an offset',
    story => {
      story.sent(['a', 'b', 'c'], 0)
      story.readRecords(0, [at(0, 'a'), at(2, 'c')])
      story.holds(['a', 'b', 'c'])
    },
  ],
  [
    'I40',
    'a read begins elsewhere',
    story => {
      story.sent(['a', 'b'], 0)
      story.readRecords(0, [at(1, 'b')])
      story.holds(['a', 'b'])
    },
  ],
  [
    'I40',
    'a reader is not given a record',
    story => {
      story.sent(['a', 'b', 'c'], 0)
      story.handedOut(0, ['a'])
      story.handedOut(2, ['c'], { after: 1 })
      story.holds(['a', 'b', 'c'])
    },
  ],
  [
    'I40',
    'a reader goes back',
    story => {
      story.sent(['a', 'b'], 0)
      story.handedOut(0, ['a', 'b'])
      story.handedOut(1, ['b'], { after: 2 })
      story.holds(['a', 'b'])
    },
  ],
  [
    'I40',
    'a member begins beyond what its group had committed',
    story => {
      story.sent(['a', 'b', 'c'], 0)
      story.handedOut(0, ['a', 'b'], { beginsFor: 'g' })
      story.committed(1, 'first')
      story.handedOut(2, ['c'], { beginsFor: 'g' })
      story.holds(['a', 'b', 'c'])
    },
  ],
  [
    'I40',
    'a member of a group that has committed nothing begins behind the start',
    story => {
      story.sent(['a', 'b'], 0)
      story.handedOut(1, ['b'], { beginsFor: 'g' })
      story.holds(['a', 'b'])
    },
  ],
  [
    'I41',
    'a member begins before what its group had committed',
    story => {
      story.sent(['a', 'b'], 0)
      story.committed(1, 'first')
      story.handedOut(0, ['a'], { beginsFor: 'g' })
      story.holds(['a', 'b'])
    },
  ],
  [
    'I41',
    'a member begins where its group was before the last commit',
    story => {
      story.sent(['a', 'b', 'c'], 0)
      story.committed(1, 'first')
      story.committed(2, 'second')
      story.handedOut(1, ['b'], { beginsFor: 'g' })
      story.holds(['a', 'b', 'c'])
    },
  ],
  [
    'I53',
    'a record that was refused is there',
    story => {
      story.history.fail(story.send(['a']), 'CORRUPT_MESSAGE')
      story.holds(['a'])
    },
  ],
  [
    'I53',
    'a directory that is offline takes a record',
    story => {
      story.history.mark('offline', { directory: '/disk', partitions: [place] })
      story.sent(['a'], 0)
      story.holds(['a'])
    },
  ],
  [
    'I53',
    'a directory that is offline sends a client to another leader',
    story => {
      story.history.mark('offline', { directory: '/disk', partitions: [place] })
      story.history.info(story.send(['a']), 'NOT_LEADER_OR_FOLLOWER')
      story.holds([])
    },
  ],
  [
    'I53',
    'a directory that is offline is read from',
    story => {
      story.sent(['a'], 0)
      story.history.mark('offline', { directory: '/disk', partitions: [place] })
      story.read(0, ['a'])
      story.holds(['a'])
    },
  ],
  [
    'I56',
    'a record is gone before it is too old',
    story => {
      story.sent(['a', 'b'], 0, news)
      story.newsBeginAt(1, 1001)
      story.holds(['b'], { logStartOffset: 1, target: news })
    },
  ],
  [
    'I56',
    'more is gone than was deleted, and not too old',
    story => {
      story.sent(['a', 'b', 'c'], 0, news)
      story.history.begin('admin', 'deleteRecords', { ...news, offset: 1 })
      story.newsBeginAt(2, 900)
      story.holds(['c'], { logStartOffset: 2, target: news })
    },
  ],
  [
    'I56',
    'a log begins where nobody has deleted',
    story => {
      story.sent(['a', 'b'], 0)
      story.holds(['b'], { logStartOffset: 1 })
    },
  ],
]

for (const [what, tell] of Object.entries(sound))
  test(`no fault is found in ${what}`, () => assert.equal(brokenIn(tell), ''))

for (const [invariants, what, tell] of unsound)
  test(`${invariants} is broken when ${what}`, () => assert.equal(brokenIn(tell), invariants))
