import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ErrorCode } from '../../src/base/error-code.ts'
import { batchSpans, decodeBatchHeader } from '../../src/records/batch-header.ts'
import { startBroker, type TestBroker } from '../../src/testing/index.ts'
import { api } from './api.ts'
import { RawClient } from './raw-client.ts'
import {
  append,
  batchOf,
  createTopic,
  type FetchOptions,
  fetch,
  fetchBody,
  type Place,
  produce,
  recordsOf,
  valuesOf,
} from './requests.ts'

let broker: TestBroker
let client: RawClient

before(async () => {
  broker = await startBroker()
  client = await RawClient.connect({ port: broker.port })
})

after(async () => {
  client.close()
  await broker.close()
})

const versions = Array.from({ length: 15 }, (_, index) => index + 4)

test('data is there at once, in every version, whatever the client would wait', async () => {
  const place = await createTopic(client, 'at-once')
  await append(client, place, ['a'])
  for (const version of versions) {
    const began = performance.now()
    const { errorCode, records, preferredReadReplica, abortedTransactions } = await fetch(client, place, {
      ...{ version, maxWaitMs: 15_000 },
    })
    assert.deepEqual([errorCode, valuesOf(records)], [ErrorCode.none, ['a']])
    // A client would ask another broker for what it has in its hands.
    assert.equal(preferredReadReplica, -1)
    assert.deepEqual(abortedTransactions ?? [], [])
    assert.ok(performance.now() - began < 5000)
  }
})

test('an empty fetch is held until its time is up, in every version', async () => {
  const place = await createTopic(client, 'held')
  await Promise.all(
    versions.map(async version => {
      using own = await RawClient.connect({ port: broker.port })
      const began = performance.now()
      const { errorCode, records } = await fetch(own, place, { version, maxWaitMs: 300 })
      const tookMs = performance.now() - began
      assert.deepEqual([errorCode, records?.length], [ErrorCode.none, 0])
      assert.ok(tookMs >= 299, `version ${version} answered after ${tookMs} ms`)
      assert.ok(tookMs < 1300, `version ${version} answered after ${tookMs} ms`)
    }),
  )
})

test('a fetch is held until there are as many bytes as it asks for, and woken by the append that brings them', async () => {
  const place = await createTopic(client, 'min-bytes')
  using reader = await RawClient.connect({ port: broker.port })
  const small = batchOf(['x'])
  const waiting = fetch(reader, place, { maxWaitMs: 15_000, minBytes: 2 * small.length })
  assert.equal((await produce(client, place, small)).errorCode, ErrorCode.none)
  const early = await Promise.race([waiting, settled(100)])
  assert.equal(early, undefined)
  assert.equal((await produce(client, place, small)).errorCode, ErrorCode.none)
  assert.deepEqual(valuesOf((await waiting).records), ['x', 'x'])
})

test('what lies further on than one read goes is not waited for', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-behind-'))
  const settings = { overrides: { 'log.dirs': directory } }
  const patient = { minBytes: 6_000_000, partitionMaxBytes: 50_000_000, maxWaitMs: 15_000 }
  const soon = async (port: number, place: Place, options: FetchOptions) => {
    using reader = await RawClient.connect({ port })
    const began = performance.now()
    const { records } = await fetch(reader, place, options)
    assert.ok(records!.length > 0 && performance.now() - began < 5000)
  }
  let whole: Place
  let inSegments: Place
  {
    await using own = await startBroker(settings)
    using writer = await RawClient.connect({ port: own.port })
    whole = await createTopic(writer, 'whole')
    inSegments = await createTopic(writer, 'in-segments', { configs: { 'segment.bytes': '2000000' } })
    for (let count = 0; count < 8; count++) {
      for (const place of [whole, inSegments]) await append(writer, place, ['x'.repeat(900_000)])
    }
    await soon(own.port, inSegments, patient)
    // As Kafka has it: also where the client wants no more than this of a partition.
    await soon(own.port, inSegments, { ...patient, partitionMaxBytes: 500_000 })
  }
  {
    await using again = await startBroker(settings)
    // Nothing of it is in memory, and one read from the disk is bounded.
    await soon(again.port, whole, patient)
    await soon(again.port, inSegments, patient)
    using reader = await RawClient.connect({ port: again.port })
    const last = fetch(reader, whole, { ...patient, offset: 7, maxWaitMs: 300 })
    assert.equal(await Promise.race([last, settled(200)]), undefined)
    assert.equal(recordsOf((await last).records).length, 1)
  }
  await rm(directory, { recursive: true })
})

test('an incremental fetch without news is held too', async () => {
  const place = await createTopic(client, 'idle-session')
  const opened = await client.call(api.fetch, 12, fetchBody([place], { sessionEpoch: 0 }))
  assert.notEqual(opened.sessionId, 0)
  for (let sessionEpoch = 1; sessionEpoch <= 3; sessionEpoch++) {
    const began = performance.now()
    const { responses, sessionId } = await client.call(
      api.fetch,
      12,
      fetchBody([], { sessionId: opened.sessionId, sessionEpoch, maxWaitMs: 200 }),
    )
    assert.deepEqual([responses, sessionId], [[], opened.sessionId])
    assert.ok(performance.now() - began >= 199)
  }
})

test('a fetch inside of a batch gives the whole batch', async () => {
  const place = await createTopic(client, 'inside')
  await append(client, place, ['0', '1'])
  await append(client, place, ['2', '3'])
  const oneBatch = { partitionMaxBytes: 10 }
  for (const [offset, values] of [
    [0, ['0', '1']],
    [1, ['0', '1']],
    [2, ['2', '3']],
    [3, ['2', '3']],
  ] as const) {
    for (const version of versions) {
      assert.deepEqual(valuesOf((await fetch(client, place, { version, offset, ...oneBatch })).records), values)
    }
  }
  const all = recordsOf((await fetch(client, place, { offset: 1 })).records)
  assert.deepEqual(
    all.map(record => record.offset),
    [0, 1, 2, 3],
  )
})

test('the first batch is whole however little is asked for, and later ones are cut as Kafka cuts them', async () => {
  const place = await createTopic(client, 'limits')
  const batches = [batchOf(['a'.repeat(500)]), batchOf(['b'.repeat(500)]), batchOf(['c'.repeat(500)])]
  for (const batch of batches) await produce(client, place, batch)
  const size = batches[0].length
  for (const limit of [0, 1, size - 1, size]) {
    const { records } = await fetch(client, place, { partitionMaxBytes: limit })
    assert.equal(records!.length, size)
  }
  const cut = await fetch(client, place, { partitionMaxBytes: size + 100 })
  assert.equal(cut.records!.length, size + 100)
  assert.deepEqual(valuesOf(cut.records), ['a'.repeat(500)])
  const whole = await fetch(client, place, { partitionMaxBytes: 2 * size })
  assert.deepEqual(valuesOf(whole.records), ['a'.repeat(500), 'b'.repeat(500)])
  const ofAll = await fetch(client, place, { maxBytes: 2 * size })
  assert.deepEqual(valuesOf(ofAll.records), ['a'.repeat(500), 'b'.repeat(500)])
})

test('a session is told of what has changed and of nothing else', async () => {
  const { topic, topicId } = await createTopic(client, 'session', { partitions: 3 })
  const places = [0, 1, 2].map((partition): Required<Place> => ({ topic, topicId, partition }))
  for (const version of [7, 11, 12, 13, 18]) {
    const begun = places.map(() => 0)
    for (const [index, place] of places.entries()) begun[index] = await append(client, place, ['start'])
    const bodyOf = (asked: readonly number[], sessionId: number, sessionEpoch: number) => ({
      ...fetchBody([], { version, sessionId, sessionEpoch }),
      topics: asked.map(partition => ({
        ...(version >= 13 ? { topicId } : { topic }),
        partitions: [{ partition, fetchOffset: begun[partition], partitionMaxBytes: 1000 }],
      })),
    })
    const heard = async (body: ReturnType<typeof bodyOf> & { forgottenTopicsData?: never[] | object[] }) => {
      const { responses, sessionId, errorCode } = await client.call(api.fetch, version, body as never)
      assert.equal(errorCode, ErrorCode.none)
      const partitions = responses.flatMap(response => response.partitions)
      return { sessionId, partitions: partitions.map(one => [one.partitionIndex, valuesOf(one.records)] as const) }
    }
    const { sessionId, partitions } = await heard(bodyOf([0, 1], 0, 0))
    assert.deepEqual(partitions, [
      [0, ['start']],
      [1, ['start']],
    ])
    // The client moves on in both, and there is nothing new.
    begun[0]++
    begun[1]++
    assert.deepEqual((await heard(bodyOf([0, 1], sessionId, 1))).partitions, [])
    await append(client, places[1], ['more'])
    assert.deepEqual((await heard(bodyOf([], sessionId, 2))).partitions, [[1, ['more']]])
    // A third partition joins; the first is forgotten and never heard of again.
    begun[1]++
    const forgotten = [{ ...(version >= 13 ? { topicId } : { topic }), partitions: [0] }]
    const changed = { ...bodyOf([1, 2], sessionId, 3), forgottenTopicsData: forgotten }
    assert.deepEqual((await heard(changed)).partitions, [[2, ['start']]])
    begun[2]++
    await append(client, places[0], ['unheard'])
    assert.deepEqual((await heard(bodyOf([2], sessionId, 4))).partitions, [])
  }
})

test('a session that is unknown, closed or out of step is refused, and the client can begin anew', async () => {
  const place = await createTopic(client, 'session-errors')
  const ask = async (sessionId: number, sessionEpoch: number) =>
    await client.call(api.fetch, 12, fetchBody([place], { sessionId, sessionEpoch }))
  const { sessionId } = await ask(0, 0)
  assert.equal((await ask(sessionId + 1, 1)).errorCode, ErrorCode.fetchSessionIdNotFound)
  assert.equal((await ask(sessionId, 2)).errorCode, ErrorCode.invalidFetchSessionEpoch)
  assert.equal((await ask(sessionId, 1)).errorCode, ErrorCode.none)
  assert.equal((await ask(sessionId, 1)).errorCode, ErrorCode.invalidFetchSessionEpoch)
  const closing = await ask(sessionId, -1)
  assert.deepEqual([closing.errorCode, closing.sessionId, closing.responses.length], [ErrorCode.none, 0, 1])
  assert.equal((await ask(sessionId, 2)).errorCode, ErrorCode.fetchSessionIdNotFound)
  const again = await ask(0, 0)
  assert.equal(again.errorCode, ErrorCode.none)
  const byId = await client.call(
    api.fetch,
    13,
    fetchBody([], { version: 13, sessionId: again.sessionId, sessionEpoch: 1 }),
  )
  assert.equal(byId.errorCode, ErrorCode.fetchSessionTopicIdError)
})

test('offsets out of range are refused, also those that fit no number', async () => {
  const place = await createTopic(client, 'range')
  await append(client, place, ['a', 'b'])
  await client.call(api.deleteRecords, 2, {
    topics: [{ name: place.topic, partitions: [{ partitionIndex: 0, offset: 1 }] }],
    timeoutMs: 10_000,
  })
  for (const offset of [-1, 0, 3, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    const { errorCode, records } = await fetch(client, place, { offset, maxWaitMs: 10_000 })
    assert.deepEqual([errorCode, records?.length], [ErrorCode.offsetOutOfRange, 0], String(offset))
  }
  const { logStartOffset, highWatermark, lastStableOffset } = await fetch(client, place, { offset: 1 })
  assert.deepEqual(
    { logStartOffset, highWatermark, lastStableOffset },
    { logStartOffset: 1, highWatermark: 2, lastStableOffset: 2 },
  )
})

test('the leader epoch is real: in batches, in offsets, and in what is refused', async () => {
  const place = await createTopic(client, 'epochs')
  await append(client, place, ['a'])
  const { topics } = await client.call(api.metadata, 12, { topics: [{ name: place.topic }] })
  const { leaderEpoch } = topics[0].partitions[0]
  assert.ok(leaderEpoch >= 0)
  const { records } = await fetch(client, place, { currentLeaderEpoch: leaderEpoch })
  assert.equal(decodeBatchHeader(records!).partitionLeaderEpoch, leaderEpoch)
  const newer = await fetch(client, place, { currentLeaderEpoch: leaderEpoch + 1 })
  assert.equal(newer.errorCode, ErrorCode.unknownLeaderEpoch)
  const offsets = await client.call(api.listOffsets, 7, {
    replicaId: -1,
    topics: [
      {
        name: place.topic,
        partitions: [-1n, -2n].map((timestamp, index) => ({ partitionIndex: 0 * index, timestamp })),
      },
    ],
  })
  // The same partition twice is no request that can be answered.
  assert.deepEqual(
    offsets.topics[0].partitions.map(partition => partition.errorCode),
    [ErrorCode.invalidRequest],
  )
  for (const timestamp of [-1n, -2n, -3n, 0n]) {
    const answer = await client.call(api.listOffsets, 7, {
      replicaId: -1,
      topics: [{ name: place.topic, partitions: [{ partitionIndex: 0, timestamp }] }],
    })
    assert.equal(answer.topics[0].partitions[0].leaderEpoch, leaderEpoch, String(timestamp))
  }
})

test('a fetch that waits is answered when its topic is deleted, and the new topic of that name is another', async () => {
  const place = await createTopic(client, 'deleted')
  await append(client, place, ['old'])
  for (const version of [12, 13]) {
    using reader = await RawClient.connect({ port: broker.port })
    const current = version === 12 ? place : await createTopic(client, 'deleted-by-id')
    const waiting = fetch(reader, current, { version, offset: version === 12 ? 1 : 0, maxWaitMs: 15_000 })
    await client.call(api.metadata, 12, { topics: [] })
    await client.call(api.deleteTopics, 6, { topics: [{ name: null, topicId: current.topicId }], timeoutMs: 10_000 })
    const { errorCode } = await waiting
    assert.ok(
      errorCode === ErrorCode.unknownTopicId || errorCode === ErrorCode.unknownTopicOrPartition,
      String(errorCode),
    )
    const next = await createTopic(client, current.topic)
    assert.notEqual(next.topicId, current.topicId)
    assert.equal((await fetch(client, current, { version: 13 })).errorCode, ErrorCode.unknownTopicId)
    assert.deepEqual([...batchSpans((await fetch(client, next, { version: 13 })).records!)], [])
  }
})

async function settled(ms: number): Promise<undefined> {
  await new Promise(resolve => setTimeout(resolve, ms))
}
