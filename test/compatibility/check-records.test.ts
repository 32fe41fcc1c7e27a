import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAcked, checkRecords } from './check-records.ts'
import type { SeenRecord } from './driver-process.ts'
import { expectedRecords, type Job } from './job.ts'

const job: Job = { topic: 't', codec: 'none', idempotent: true, prefix: 'p', first: 0, count: 4, valueBytes: 10 }
const window = { from: 100, to: 200 }

/** What a faultless client sees of the job, all in partition 0. */
function seen(): SeenRecord[] {
  return expectedRecords([job]).map(({ topic, key, value, prefix }, index) => {
    const at = { event: 'record', topic, partition: 0, offset: index, timestamp: 150 } as const
    return { ...at, key, value, headers: { job: prefix } }
  })
}

function withChange(index: number, change: Partial<SeenRecord>): SeenRecord[] {
  return seen().map((record, at) => (at === index ? { ...record, ...change } : record))
}

test('what was sent, seen once and in order, is in order', () => {
  assert.deepEqual(checkRecords(seen(), [job], window), [])
})

test('a record that was not seen is missed', () => {
  assert.match(checkRecords(seen().slice(0, 3), [job], window).join(), /record 3 of p in t was seen 0 times/)
})

test('a record that was seen twice is noticed', () => {
  const twice = [...seen(), { ...seen()[1]!, offset: 4 }]
  assert.match(checkRecords(twice, [job], window).join(), /record 1 of p in t was seen 2 times/)
})

test('a record that nobody sent is noticed', () => {
  const foreign = [...seen(), { ...seen()[0]!, offset: 4, value: 'p-9.......' }]
  assert.match(checkRecords(foreign, [job], window).join(), /t-0@4 is not a record that was sent/)
})

test('a record with another key or header is noticed', () => {
  assert.match(checkRecords(withChange(0, { key: 'k7' }), [job], window).join(), /has key k7 for k0/)
  assert.match(checkRecords(withChange(0, { headers: {} }), [job], window).join(), /has headers {}/)
})

test('a gap in the offsets is noticed', () => {
  assert.match(checkRecords(withChange(3, { offset: 5 }), [job], window).join(), /t-0@5 came after offset 2/)
})

test('records of one producer out of order are noticed', () => {
  const [first, second, ...rest] = seen()
  const swapped = [{ ...second!, offset: 0 }, { ...first!, offset: 1 }, ...rest]
  assert.match(checkRecords(swapped, [job], window).join(), /t-0@1 is record 0, after record 1/)
})

test('a key in two partitions is noticed', () => {
  const keyed = withChange(1, { key: 'k0', partition: 1, offset: 0 })
  assert.match(checkRecords(keyed, [job], window).join(), /has key k0, which was in partition 0 before/)
})

test('a timestamp from before the record was sent is noticed', () => {
  assert.match(checkRecords(withChange(2, { timestamp: 99 }), [job], window).join(), /t-0@2 has timestamp 99/)
})

test('an acknowledgement that names another place is noticed', () => {
  const acked = [0, 1, 2, 3].map(n => ({ event: 'acked', topic: 't', partition: 0, offset: n, n }) as const)
  assert.deepEqual(checkAcked(acked, seen(), [job]), [])
  assert.match(checkAcked([{ ...acked[0]!, offset: 1 }], seen(), [job]).join(), /record 0 was acknowledged at t-0@1/)
})
