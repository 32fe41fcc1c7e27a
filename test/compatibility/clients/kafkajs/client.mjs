import zlib from 'node:zlib'
import kafkajs from 'kafkajs'
import snappy from 'kafkajs-snappy'
import lz4 from 'lz4-napi'
import { Expected, emit, main, recordsOf, stopRequested } from '../shared/driver.mjs'

const { Kafka, logLevel, CompressionTypes, CompressionCodecs, Partitioners } = kafkajs

// gzip is built in; the others are plug-ins, as KafkaJS documents them.
CompressionCodecs[CompressionTypes.Snappy] = snappy
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: async encoder => await lz4.compressFrame(encoder.buffer),
  decompress: async bytes => await lz4.decompressFrame(bytes),
})
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async encoder => zlib.zstdCompressSync(encoder.buffer),
  decompress: async bytes => zlib.zstdDecompressSync(bytes),
})

const CODECS = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}

const clientOf = bootstrap =>
  new Kafka({ brokers: bootstrap.split(','), logLevel: logLevel.ERROR, clientId: 'kafkajs' })

async function create(bootstrap, { topics, partitions }) {
  const admin = clientOf(bootstrap).admin()
  await admin.connect()
  await admin.createTopics({
    topics: topics.map(topic => ({ topic, numPartitions: partitions })),
    waitForLeaders: true,
  })
  await admin.disconnect()
}

async function produce(bootstrap, { jobs }) {
  for (const job of jobs) {
    const options = job.idempotent ? { idempotent: true, maxInFlightRequests: 1 } : {}
    const producer = clientOf(bootstrap).producer({ createPartitioner: Partitioners.DefaultPartitioner, ...options })
    await producer.connect()
    const messages = recordsOf(job).map(({ key, value, headers }) => ({ key, value, headers }))
    await producer.send({ topic: job.topic, acks: -1, compression: CODECS[job.codec], messages })
    await producer.disconnect()
  }
}

function emitRecord(topic, partition, { offset, timestamp, key, value, headers }) {
  const texts = Object.entries(headers ?? {}).map(([name, bytes]) => [name, bytes.toString()])
  emit('record', {
    topic,
    partition,
    offset: Number(offset),
    timestamp: Number(timestamp),
    key: key?.toString(),
    value: value?.toString(),
    headers: Object.fromEntries(texts),
  })
}

/** KafkaJS reads only in groups. To begin at a time it seeks, at once after the group is joined: nothing is fetched yet. */
async function consume(bootstrap, { topics, from, count, group }) {
  const kafka = clientOf(bootstrap)
  const starts = from === 'start' ? [] : await offsetsAt(kafka, topics, from)
  const consumer = kafka.consumer({ groupId: group, heartbeatInterval: 500, maxWaitTimeInMs: 200 })
  const expected = new Expected(count)
  await consumer.connect()
  await consumer.subscribe({ topics, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ topic, partition, message }) => {
      emitRecord(topic, partition, message)
      expected.seen()
    },
  })
  for (const start of starts) consumer.seek(start)
  await expected.reached
  await consumer.disconnect()
}

async function offsetsAt(kafka, topics, timestamp) {
  const admin = kafka.admin()
  await admin.connect()
  const starts = []
  for (const topic of topics) {
    for (const at of await admin.fetchTopicOffsetsByTimestamp(topic, timestamp)) starts.push({ topic, ...at })
  }
  await admin.disconnect()
  return starts
}

async function member(bootstrap, { topic, group }) {
  const consumer = clientOf(bootstrap).consumer({
    groupId: group,
    heartbeatInterval: 500,
    sessionTimeout: 6000,
    maxWaitTimeInMs: 200,
  })
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    emit('assigned', { partitions: payload.memberAssignment[topic] ?? [] })
  })
  consumer.on(consumer.events.REBALANCING, () => emit('assigned', { partitions: [] }))
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachBatch: async ({ batch, resolveOffset }) => {
      for (const message of batch.messages) {
        emitRecord(topic, batch.partition, message)
        resolveOffset(message.offset)
      }
      const offset = Number(batch.lastOffset()) + 1
      await consumer.commitOffsets([{ topic, partition: batch.partition, offset: String(offset) }])
      emit('committed', { partition: batch.partition, offset })
    },
  })
  await stopRequested()
  await consumer.disconnect()
}

await main({ create, produce, consume, member })
