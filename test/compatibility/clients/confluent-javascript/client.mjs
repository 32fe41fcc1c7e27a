import confluent from '@confluentinc/kafka-javascript'
import { Expected, emit, main, recordsOf, stopRequested } from '../shared/driver.mjs'

const { Kafka, logLevel } = confluent.KafkaJS

const clientOf = bootstrap => new Kafka({ kafkaJS: { brokers: bootstrap.split(','), logLevel: logLevel.ERROR } })

async function create(bootstrap, { topics, partitions }) {
  const admin = clientOf(bootstrap).admin()
  await admin.connect()
  await admin.createTopics({ topics: topics.map(topic => ({ topic, numPartitions: partitions })) })
  await admin.disconnect()
}

async function produce(bootstrap, { jobs }) {
  for (const job of jobs) {
    const kafkaJS = { idempotent: job.idempotent, acks: -1, compression: job.codec, allowAutoTopicCreation: true }
    const producer = clientOf(bootstrap).producer({ kafkaJS, 'linger.ms': 20 })
    await producer.connect()
    const messages = recordsOf(job).map(({ key, value, headers }) => ({ key, value, headers }))
    await producer.send({ topic: job.topic, messages })
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

const consumerOf = (bootstrap, groupId, more = {}, settings = {}) =>
  clientOf(bootstrap).consumer({
    kafkaJS: { groupId, fromBeginning: true, sessionTimeout: 6000, heartbeatInterval: 500, ...more },
    ...settings,
  })

/** It reads only in groups, as KafkaJS does; positions are sought once the partitions are assigned. */
async function consume(bootstrap, { topics, from, count, group }) {
  const starts = from === 'start' ? [] : await offsetsAt(bootstrap, topics, from)
  const seekWhenAssigned = {
    rebalance_cb: async (error, assignment, actions) => {
      if (error.code !== confluent.CODES.ERRORS.ERR__ASSIGN_PARTITIONS || starts.length === 0) return
      actions.assign(assignment.map(at => starts.find(s => s.topic === at.topic && s.partition === at.partition)))
    },
  }
  const consumer = consumerOf(bootstrap, group, { autoCommit: false }, from === 'start' ? {} : seekWhenAssigned)
  const expected = new Expected(count)
  await consumer.connect()
  await consumer.subscribe({ topics })
  await consumer.run({
    eachMessage: async ({ topic, partition, message }) => {
      emitRecord(topic, partition, message)
      expected.seen()
    },
  })
  await expected.reached
  await consumer.disconnect()
}

async function offsetsAt(bootstrap, topics, timestamp) {
  const admin = clientOf(bootstrap).admin()
  await admin.connect()
  const starts = []
  for (const topic of topics) {
    for (const { partition, offset } of await admin.fetchTopicOffsetsByTimestamp(topic, timestamp)) {
      starts.push({ topic, partition, offset: Number(offset) })
    }
  }
  await admin.disconnect()
  return starts
}

async function member(bootstrap, { topic, group, assignor }) {
  const partitionAssigners = [assignor === 'eager' ? 'range' : 'cooperative-sticky']
  const consumer = consumerOf(bootstrap, group, { autoCommit: false, partitionAssigners })
  await consumer.connect()
  let shown = ''
  const watch = setInterval(() => {
    const partitions = consumer.assignment().map(({ partition }) => partition)
    if (String(partitions) !== shown) emit('assigned', { partitions })
    shown = String(partitions)
  }, 50)
  await consumer.subscribe({ topics: [topic] })
  await consumer.run({
    eachBatchAutoResolve: true,
    eachBatch: async ({ batch }) => {
      for (const message of batch.messages) emitRecord(topic, batch.partition, message)
      const offset = Number(batch.lastOffset()) + 1
      await consumer.commitOffsets([{ topic, partition: batch.partition, offset: String(offset) }])
      emit('committed', { partition: batch.partition, offset })
    },
  })
  await stopRequested()
  clearInterval(watch)
  await consumer.disconnect()
}

await main({ create, produce, consume, member })
