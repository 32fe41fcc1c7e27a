import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ErrorCode } from '../../src/base/error-code.ts'
import { createClient } from '../../src/client/index.ts'
import { decodeBatchHeader } from '../../src/records/batch-header.ts'
import { startBroker } from '../../src/testing/index.ts'
import { Patience } from '../compatibility/patience.ts'
import { api } from './api.ts'
import { RawClient } from './raw-client.ts'
import { batchOf, createTopic, fetch, listOffset, type Place, produce, recordsOf } from './requests.ts'

const patienceMs = 30_000
const firstTimestamp = 1_700_000_000_000
const stepMs = 1000
/** Records of the broker's first life, and of both. */
const inFirstLife = 40
const inAll = 60
/**
 * One in ten has a key of its own; the others, the first of each life among them, have the same. The last one is in the active
 * segment, which replaces nothing yet.
 */
const kept = [5, 15, 25, 35, 45, 55, inAll - 2, inAll - 1]

const configs = {
  'cleanup.policy': 'compact,delete',
  'retention.ms': '-1',
  'segment.ms': '1',
  'min.cleanable.dirty.ratio': '0.01',
  'delete.retention.ms': '0',
  'file.delete.delay.ms': '0',
}

async function write(client: RawClient, place: Place, { from, to }: { from: number; to: number }): Promise<void> {
  for (let index = from; index < to; index++) {
    const key = index % 10 === 5 ? `kept-${index}` : 'key'
    const batch = batchOf([String(index)], { key, timestamp: firstTimestamp + index * stepMs })
    assert.deepEqual(await produce(client, place, batch).then(({ errorCode, baseOffset }) => [errorCode, baseOffset]), [
      ErrorCode.none,
      index,
    ])
  }
}

/** The offsets that a consumer gets, and the leader epoch of each batch. */
async function readAll(client: RawClient, place: Place, from: number) {
  const offsets: number[] = []
  const epochs: number[] = []
  for (let offset = from; offset < inAll; ) {
    const { errorCode, records } = await fetch(client, place, { offset, partitionMaxBytes: 1 })
    assert.equal(errorCode, ErrorCode.none)
    assert.ok(records !== null && records.length > 0, `a fetch at ${offset} finds something`)
    const { lastOffset, partitionLeaderEpoch } = decodeBatchHeader(records)
    const found = recordsOf(records).filter(record => record.offset >= offset)
    offsets.push(...found.map(record => record.offset))
    for (const { value, offset: at } of found) assert.equal(value, String(at))
    epochs.push(...found.map(() => partitionLeaderEpoch))
    offset = lastOffset + 1
  }
  return { offsets, epochs }
}

async function untilCompacted(client: RawClient, place: Place): Promise<number[]> {
  using patience = new Patience(patienceMs)
  for (;;) {
    const { offsets, epochs } = await readAll(client, place, 0)
    if (offsets.length <= kept.length) return assert.deepEqual(offsets, kept) ?? epochs
    assert.ok(!patience.isOver, `${offsets.length} records are left`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

/** By timestamp, at each record's and between them; with the largest; the earliest and the latest. */
async function checkOffsets(client: RawClient, place: Place, from: number): Promise<void> {
  for (let index = from; index < inAll; index++) {
    const timestampOf = (offset: number) => firstTimestamp + offset * stepMs
    const expected = kept.find(offset => offset >= index && offset >= from) as number
    const found = { offset: expected, timestamp: timestampOf(expected) }
    assert.deepEqual(await listOffset(client, place, BigInt(timestampOf(index))), found, `at the time of ${index}`)
    assert.deepEqual(await listOffset(client, place, BigInt(timestampOf(index) - 1)), found, `before that of ${index}`)
  }
  const newest = { offset: inAll - 1, timestamp: firstTimestamp + (inAll - 1) * stepMs }
  assert.deepEqual(await listOffset(client, place, -3n), newest)
  assert.deepEqual(await listOffset(client, place, BigInt(newest.timestamp + 1)), { offset: -1, timestamp: -1 })
  assert.deepEqual(await listOffset(client, place, -2n), { offset: from, timestamp: -1 })
  assert.deepEqual(await listOffset(client, place, -1n), { offset: inAll, timestamp: -1 })
}

async function checkReads(client: RawClient, place: Place, from: number): Promise<void> {
  for (let offset = from; offset < inAll; offset++) {
    const { records } = await fetch(client, place, { offset, partitionMaxBytes: 1 })
    assert.equal(
      recordsOf(records)[0]?.offset,
      kept.find(one => one >= offset),
      `a fetch at ${offset}`,
    )
  }
  assert.deepEqual(
    (await readAll(client, place, from)).offsets,
    kept.filter(offset => offset >= from),
  )
}

/** As the library's consumer sees it, which begins within a gap. */
async function checkConsumer(port: number, { topic }: Place, from: number): Promise<void> {
  const client = createClient({ bootstrapServers: `127.0.0.1:${port}` })
  try {
    const consumer = client.consumer()
    consumer.assign([{ topic, partition: 0, offset: from }])
    const expected = kept.filter(offset => offset >= from)
    const values: string[] = []
    while (values.length < expected.length) {
      const batches = await consumer.poll({ timeoutMs: patienceMs })
      assert.ok(batches.length > 0, `${values.length} records came`)
      for (const batch of batches) for (const { value } of batch) values.push(String(value))
    }
    assert.deepEqual(values, expected.map(String))
    await consumer.close()
  } finally {
    await client.close()
  }
}

async function epochEnd(client: RawClient, { topic }: Place, leaderEpoch: number) {
  const partitions = [{ partition: 0, currentLeaderEpoch: -1, leaderEpoch }]
  const { topics } = await client.call(api.offsetForLeaderEpoch, 4, { replicaId: -1, topics: [{ topic, partitions }] })
  const { errorCode, leaderEpoch: found, endOffset } = topics[0].partitions[0]
  assert.equal(errorCode, ErrorCode.none)
  return { leaderEpoch: found, endOffset }
}

/** The first records of the second epoch are gone; it begins where it did. */
async function checkEpochs(client: RawClient, place: Place, [first, second]: readonly [number, number]): Promise<void> {
  assert.deepEqual(await epochEnd(client, place, first), { leaderEpoch: first, endOffset: inFirstLife })
  for (let epoch = first + 1; epoch < second; epoch++)
    assert.deepEqual(await epochEnd(client, place, epoch), { leaderEpoch: first, endOffset: inFirstLife })
  const { leaderEpoch, endOffset } = await epochEnd(client, place, second)
  assert.deepEqual([leaderEpoch, endOffset], [second, inAll])
}

async function deleteRecords(client: RawClient, place: Place, offset: number) {
  const topics = [{ name: place.topic, partitions: [{ partitionIndex: 0, offset }] }]
  const answer = await client.call(api.deleteRecords, 2, { topics, timeoutMs: 10_000 })
  const { errorCode, lowWatermark } = answer.topics[0].partitions[0]
  return { errorCode, lowWatermark }
}

test('a compacted topic is read and asked for offsets and epochs across its gaps, also after a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-lookups-'))
  const overrides = { 'log.cleaner.backoff.ms': '50', 'log.dirs': directory }
  let place: Place = { topic: 'gaps' }
  let epochs: readonly [number, number] = [0, 0]
  try {
    {
      await using broker = await startBroker({ overrides })
      using client = await RawClient.connect({ port: broker.port })
      place = await createTopic(client, 'gaps', { configs })
      await write(client, place, { from: 0, to: inFirstLife })
    }
    {
      await using broker = await startBroker({ overrides })
      using client = await RawClient.connect({ port: broker.port })
      await write(client, place, { from: inFirstLife, to: inAll })
      const found = await untilCompacted(client, place)
      epochs = [found[0], found[found.length - 1]]
      assert.ok(epochs[0] < epochs[1], 'each life has its epoch')
      await checkReads(client, place, 0)
      await checkConsumer(broker.port, place, 6)
      await checkOffsets(client, place, 0)
      await checkEpochs(client, place, epochs)
    }
    await using broker = await startBroker({ overrides })
    using client = await RawClient.connect({ port: broker.port })
    await checkReads(client, place, 0)
    await checkOffsets(client, place, 0)
    await checkEpochs(client, place, epochs)
    // To the middle of what is left out.
    const from = 18
    assert.deepEqual(await deleteRecords(client, place, from), { errorCode: ErrorCode.none, lowWatermark: from })
    assert.equal((await fetch(client, place, { offset: from - 1 })).errorCode, ErrorCode.offsetOutOfRange)
    await checkReads(client, place, from)
    await checkConsumer(broker.port, place, from)
    await checkOffsets(client, place, from)
    await checkEpochs(client, place, epochs)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

test('records of a topic that is only compacted cannot be deleted', async () => {
  await using broker = await startBroker({})
  using client = await RawClient.connect({ port: broker.port })
  const place = await createTopic(client, 'only-compacted', { configs: { 'cleanup.policy': 'compact' } })
  await write(client, place, { from: 0, to: 3 })
  assert.equal((await deleteRecords(client, place, 2)).errorCode, ErrorCode.policyViolation)
})
