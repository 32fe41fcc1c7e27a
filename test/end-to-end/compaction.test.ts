import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startBroker } from '../../src/testing/index.ts'
import { Patience } from '../compatibility/patience.ts'
import { api } from './api.ts'
import { RawClient } from './raw-client.ts'
import { batchOf, createTopic, fetch, type Place, produce, type ReadRecord, recordsOf } from './requests.ts'

const patienceMs = 30_000
const keys = 50
const rounds = 40

/** Small chunks and short waits. */
const overrides = {
  'log.cleaner.backoff.ms': '50',
  'log.cleaner.io.buffer.size': '4096',
}

const configs = {
  'cleanup.policy': 'compact',
  'segment.ms': '1',
  'min.cleanable.dirty.ratio': '0.01',
  'delete.retention.ms': '0',
  'file.delete.delay.ms': '0',
}

async function readAll(client: RawClient, place: Place): Promise<{ records: ReadRecord[]; end: number }> {
  const records: ReadRecord[] = []
  let offset = 0
  for (;;) {
    const answer = await fetch(client, place, { offset })
    assert.equal(answer.errorCode, 0)
    if (offset === answer.highWatermark) return { records, end: offset }
    const found = recordsOf(answer.records).filter(record => record.offset >= offset)
    // A batch without records still says where the next one may be.
    const last = lastOffsetOf(answer.records)
    assert.ok(last >= offset, `a fetch at ${offset} of ${answer.highWatermark} comes further`)
    records.push(...found)
    offset = last + 1
  }
}

function lastOffsetOf(bytes: Buffer | null): number {
  let last = -1
  const all = bytes ?? Buffer.alloc(0)
  for (let at = 0; at + 61 <= all.length; at += 12 + all.readInt32BE(at + 8))
    last = Number(all.readBigInt64BE(at)) + all.readInt32BE(at + 23)
  return last
}

interface Latest {
  readonly offset: number
  readonly value: string
}

async function write(client: RawClient, place: Place): Promise<Map<string, Latest>> {
  const expected = new Map<string, Latest>()
  for (let round = 0; round < rounds; round++) {
    for (let key = round % 2; key < keys; key += 2) {
      const value = `${key}:${round}`
      const batch = batchOf([value], { key: String(key), timestamp: Date.now() + round * 10 })
      const { errorCode, baseOffset } = await produce(client, place, batch)
      assert.equal(errorCode, 0)
      expected.set(String(key), { offset: baseOffset, value })
    }
  }
  return expected
}

function assertLatest(records: readonly ReadRecord[], expected: ReadonlyMap<string, Latest>): void {
  const last = new Map(records.map(({ offset, value }) => [value?.split(':')[0], { offset, value }]))
  for (const [key, record] of expected) assert.deepEqual(last.get(key), record)
  const offsets = records.map(({ offset }) => offset)
  assert.deepEqual(
    offsets,
    offsets.toSorted((a, b) => a - b),
  )
}

/** Reads again and again, while the broker compacts, until little more is left than has to be. */
async function readCompacted(client: RawClient, place: Place, expected: ReadonlyMap<string, Latest>) {
  using patience = new Patience(patienceMs)
  for (;;) {
    const { records, end } = await readAll(client, place)
    assert.equal(end, (rounds * keys) / 2)
    assertLatest(records, expected)
    if (records.length <= keys * 2) return records
    assert.ok(!patience.isOver, `${records.length} records are left`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

async function firstByTime(client: RawClient, place: Place): Promise<number> {
  const { topics } = await client.call(api.listOffsets, 7, {
    replicaId: -1,
    isolationLevel: 0,
    topics: [{ name: place.topic, partitions: [{ partitionIndex: 0, currentLeaderEpoch: -1, timestamp: 0n }] }],
  })
  return topics[0].partitions[0].offset
}

test('a compacted topic keeps the last record of each key, while it is read and after a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-compaction-'))
  try {
    let expected = new Map<string, Latest>()
    let left: ReadRecord[] = []
    let place: Place = { topic: 'latest' }
    {
      await using broker = await startBroker({ overrides: { ...overrides, 'log.dirs': directory } })
      using client = await RawClient.connect({ port: broker.port })
      place = await createTopic(client, 'latest', { configs })
      expected = await write(client, place)
      left = await readCompacted(client, place, expected)
      assert.equal(await firstByTime(client, place), left[0].offset, 'the first by time is the first that is left')
      const segments = readdirSync(join(directory, 'latest-0')).filter(name => name.endsWith('.log'))
      assert.ok(segments.length < rounds, 'segments have been merged')
    }
    await using again = await startBroker({ overrides: { ...overrides, 'log.dirs': directory } })
    using client = await RawClient.connect({ port: again.port })
    const { records } = await readAll(client, place)
    assertLatest(records, expected)
    assert.ok(records.length <= left.length, 'nothing comes back')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
