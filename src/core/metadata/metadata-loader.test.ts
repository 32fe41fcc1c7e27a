import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readBatchSize, readLastOffset, setBaseOffset } from '../../records/batch.ts'
import { recordBatchCodec } from '../state-machine/record-batch-codec.ts'
import { id, TestCluster } from './controller/fixtures/test-cluster.ts'
import { MetadataController } from './controller/metadata-controller.ts'
import { unimplementedFeatures } from './features.ts'
import { MetadataLoader } from './metadata-loader.ts'
import { type KnownRecord, type MetadataRecord, metadataRecords, type RecordOf } from './records.ts'
import { bootstrapRecords, snapshotRecords } from './snapshot.ts'

const codec = recordBatchCodec(metadataRecords)
const now = { monotonicMs: 0, wallMs: 0 }

/** The metadata log of an Apache Kafka 4.4 node, without the batches that hold only a NoOp. */
function kafkaBatches(): Buffer[] {
  const log = readFileSync(new URL('fixtures/kafka-4.4-metadata.log', import.meta.url))
  const batches: Buffer[] = []
  for (let at = 0; at < log.length; at += readBatchSize(log, at))
    batches.push(log.subarray(at, at + readBatchSize(log, at)))
  return batches
}

function load(batches: readonly Buffer[]): MetadataLoader {
  const loader = new MetadataLoader()
  for (const batch of batches) loader.replayBatch(batch)
  loader.publish(() => {})
  return loader
}

function batchOf(baseOffset: number, ...records: MetadataRecord[]): Buffer {
  const batch = codec.encode(records, now)
  setBaseOffset(batch, 0, baseOffset)
  return batch
}

function readSnapshot(into: MetadataLoader, records: Iterable<MetadataRecord>, endOffset: number): MetadataLoader {
  into.startSnapshot(endOffset)
  into.replayBatch(codec.encode([...records], now))
  into.finishSnapshot()
  into.publish(() => {})
  return into
}

const level: KnownRecord = { type: 'featureLevel', version: 0, name: 'metadata.version', featureLevel: 33 }

function topicNamed(name: string, number: number): RecordOf<'topic'> {
  return { type: 'topic', version: 0, name, topicId: id(number) }
}

test("an image of Kafka's own log is what Kafka said it was", () => {
  const loader = load(kafkaBatches())
  const { image } = loader
  assert.deepEqual(
    [...image.topics()].map(topic => `${topic.name} ${topic.id} ${topic.partitions.length}`),
    [
      't1 qCdc_yHpTomSvCxBM4lR5g 6',
      't.dot IfjuicoJS_ajTdlmXXWlCw 1',
      'dflt OmQRTBFnRJ244KdW6Ku_nA 4',
      '__proto__ SvQh3dcnQ2GnZDiX3WK0LQ 1',
      'c8 ubU8rJxRSaaO1fUCwLj6bw 1',
      'c9 OIxg9WbWRaC9t5yCYtHJ4w 1',
      'c10 s5VQFMp5TnexQwNpzElKEw 1',
      'c12 h4nSrHnxQnql2ieJsYTKrA 1',
      'c21 njTny0J3QxCi1OawY3bb4A 1',
    ],
  )
  // Six changes of each partition, five of them of its leader, the last by a clean shutdown.
  for (const topic of image.topics()) {
    for (const { leader, isr, elr, lastKnownElr, leaderEpoch, partitionEpoch } of topic.partitions) {
      assert.deepEqual([leader, isr, elr, lastKnownElr, leaderEpoch, partitionEpoch], [-1, [], [1], [1], 5, 6])
    }
  }
  assert.deepEqual(image.config(2, 't1'), new Map([['cleanup.policy', '']]))
  assert.deepEqual(image.config(4, '').get('log.retention.ms'), '888888')
  assert.equal(image.config(32, 'g1').get('consumer.session.timeout.ms'), '50000')
  assert.deepEqual([image.broker(1)?.epoch, image.broker(1)?.fenced], [996, true])
  assert.equal([...image.controllers()].length, 1)
  assert.equal(image.featureLevel('metadata.version'), 33)
  assert.deepEqual(image.unknownRecords(), [])
  assert.deepEqual(
    unimplementedFeatures(image.features())
      .map(({ name, level }) => `${name} ${level}`)
      .sort(),
    ['eligible.leader.replicas.version 1', 'group.version 1', 'share.version 2', 'streams.version 1'],
  )
})

test("a snapshot of an image of Kafka's log gives the same image", () => {
  const loader = load(kafkaBatches())
  const copy = readSnapshot(new MetadataLoader(), snapshotRecords(loader.image), loader.endOffset)
  assert.deepEqual(copy.inspect(), loader.inspect())
  assert.equal(copy.endOffset, loader.endOffset)
})

test("our controller takes over a cluster of Kafka's: its broker comes back and leads what it led", () => {
  const batches = kafkaBatches()
  const loader = load(batches)
  const cluster = new TestCluster()
  cluster.controller = new MetadataController(cluster.options, {
    metadata: loader.copyForController(),
    endOffset: loader.endOffset,
  })
  for (const batch of batches) cluster.batches.push(batch)
  const taken = Object.assign(cluster, { loader, offset: loader.endOffset })
  taken.submit({ type: 'activate', bootstrapRecords: bootstrapRecords(), hasOpenTransaction: false })
  assert.deepEqual(taken.records, [])
  assert.equal(taken.register(1, { incarnation: 9, previousEpoch: 996 }).errorCode, 0)
  assert.equal(taken.heartbeat(1).isFenced, false)
  for (const topic of loader.image.topics()) {
    for (const { leader, isr, elr, lastKnownElr, leaderRecoveryState } of topic.partitions) {
      assert.deepEqual([leader, isr, elr, lastKnownElr], [1, [1], [], []])
      assert.equal(leaderRecoveryState, 1, 'of the unclean election before')
    }
  }
  assert.deepEqual(taken.controller.inspect().durable, loader.inspect())
})

test('an image does not move before it is published, and nobody sees half of a batch', () => {
  const loader = new MetadataLoader()
  loader.replayBatch(batchOf(0, level, topicNamed('a', 1)))
  assert.deepEqual([loader.image.topicCount, loader.endOffset], [0, 0])
  loader.publish(delta => {
    assert.equal(loader.image.topicCount, 0)
    assert.deepEqual(
      delta.createdTopics().map(topic => topic.name),
      ['a'],
    )
  })
  assert.deepEqual([loader.image.topicCount, loader.endOffset], [1, 2])
})

test('records of a metadata transaction are in the image when it has ended, and never when it is aborted', () => {
  const loader = new MetadataLoader()
  const begin: KnownRecord = { type: 'beginTransaction', version: 0, name: null }
  loader.replayBatch(batchOf(0, level))
  loader.replayBatch(batchOf(1, begin, topicNamed('a', 1)))
  loader.publish(() => {})
  assert.deepEqual([loader.image.topicCount, loader.endOffset, loader.hasOpenTransaction], [0, 1, true])
  loader.replayBatch(batchOf(3, topicNamed('b', 2), { type: 'endTransaction', version: 0 }))
  loader.publish(() => {})
  assert.deepEqual([loader.image.topicCount, loader.endOffset, loader.hasOpenTransaction], [2, 5, false])
  loader.replayBatch(batchOf(5, begin, topicNamed('c', 3), { type: 'abortTransaction', version: 0, reason: null }))
  loader.publish(() => {})
  assert.deepEqual([loader.image.topicCount, loader.endOffset], [2, 8])
})

test('a topic that comes and goes between two publications is in no delta', () => {
  const loader = new MetadataLoader()
  loader.replayBatch(batchOf(0, level, topicNamed('a', 1)))
  loader.publish(() => {})
  loader.replayBatch(batchOf(2, topicNamed('b', 2), { type: 'removeTopic', version: 0, topicId: id(2) }))
  loader.replayBatch(batchOf(4, { type: 'removeTopic', version: 0, topicId: id(1) }, topicNamed('a', 3)))
  loader.publish(delta => {
    assert.deepEqual(delta.createdTopics(), [{ id: id(3), name: 'a', isNew: true, partitions: new Map() }])
    assert.deepEqual(
      [...delta.deletedTopics()].map(topic => topic.id),
      [id(1)],
    )
  })
  assert.equal(loader.image.topic('a')?.id, id(3))
})

test('a snapshot that takes the place of an image takes away what it does not hold', () => {
  const config = {
    type: 'config',
    version: 0,
    resourceType: 2,
    resourceName: 'a',
    name: 'retention.ms',
    value: '1',
  } as const
  const loader = load([batchOf(0, level, topicNamed('a', 1), topicNamed('b', 2), config)])
  const seen: string[] = []
  loader.startSnapshot(50)
  loader.replayBatch(codec.encode([level, topicNamed('b', 2), topicNamed('a', 3)], now))
  loader.finishSnapshot()
  loader.publish(delta => {
    for (const topic of delta.deletedTopics()) seen.push(`deleted ${topic.id}`)
    for (const topic of delta.createdTopics()) seen.push(`created ${topic.id}`)
  })
  assert.deepEqual(seen, [`deleted ${id(1)}`, `created ${id(3)}`])
  assert.deepEqual([loader.image.topic('a')?.id, loader.image.config(2, 'a').size, loader.endOffset], [id(3), 0, 50])
})

test('records of unknown types and versions, and state of parts that are not there, survive a snapshot byte by byte', () => {
  const acl: KnownRecord = {
    ...{ type: 'accessControlEntry', version: 0, id: id(1), resourceType: 2, resourceName: 't', patternType: 3 },
    ...{ principal: 'User:a', host: '*', operation: 3, permissionType: 3 },
  }
  const scram: KnownRecord = {
    ...{ type: 'userScramCredential', version: 0, name: 'a', mechanism: 1, iterations: 4096 },
    ...{ salt: Buffer.from('salt'), storedKey: Buffer.from('key'), serverKey: Buffer.from('key2') },
  }
  const quota = (value: number, remove: boolean): KnownRecord => ({
    ...{ type: 'clientQuota', version: 0, key: 'producer_byte_rate', value, remove },
    entity: [
      { entityType: 'user', entityName: 'a' },
      { entityType: 'client-id', entityName: null },
    ],
  })
  const unknown = (...bytes: number[]): MetadataRecord => ({ type: 'unknown', name: '', value: Buffer.from(bytes) })
  const batch = batchOf(
    0,
    level,
    acl,
    scram,
    quota(1, false),
    quota(2, false),
    unknown(1, 99, 0, 7),
    unknown(1, 2, 9, 7),
  )
  const loader = load([batch])
  batch.fill(0)
  assert.deepEqual(
    loader.image.unknownRecords().map(record => [record.name, [...record.value]]),
    [
      ['record type 99, version 0', [1, 99, 0, 7]],
      ['record type 2, version 9', [1, 2, 9, 7]],
    ],
  )
  assert.deepEqual([...loader.image.kept()], [acl, scram, quota(2, false)])
  const copy = readSnapshot(new MetadataLoader(), snapshotRecords(loader.image), loader.endOffset)
  assert.deepEqual(copy.inspect(), loader.inspect())

  loader.replayBatch(batchOf(7, { type: 'removeAccessControlEntry', version: 0, id: id(1) }, quota(0, true)))
  loader.replayBatch(batchOf(9, { type: 'removeUserScramCredential', version: 0, name: 'a', mechanism: 1 }))
  loader.publish(() => {})
  assert.deepEqual([...loader.image.kept()], [])
})

test('a snapshot is of the moment in which it was asked for, however slowly it is written', () => {
  const cluster = new TestCluster().start(1)
  cluster.create('a', { partitions: 3 })
  const before = cluster.loader.inspect()
  const records = snapshotRecords(cluster.image)[Symbol.iterator]()
  const taken: MetadataRecord[] = []
  for (let step = 0; step < 3; step++) taken.push(records.next().value)
  cluster.create('b')
  cluster.heartbeat(1, { wantFence: true })
  for (const record of { [Symbol.iterator]: () => records }) taken.push(record)
  assert.deepEqual(readSnapshot(new MetadataLoader(), taken, 1000).inspect(), before)
})

test('formatting writes the one level that is implemented', () => {
  const [record] = bootstrapRecords()
  const { key, value } = metadataRecords.encode(record)
  assert.equal(key, null)
  assert.equal(value?.toString('hex'), '010c00116d657461646174612e76657273696f6e002100')
  assert.equal(bootstrapRecords().length, 1)
})

test('a batch is replayed once and in order', () => {
  const batches = kafkaBatches()
  const loader = load(batches)
  assert.equal(loader.endOffset, readLastOffset(batches[batches.length - 1], 0) + 1)
  assert.throws(() => loader.replayBatch(batches[1]), { name: 'AssertionFailure' })
})
