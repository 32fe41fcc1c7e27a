import {
  Admin,
  Consumer,
  cooperativeStickyAssigner,
  Producer,
  stringDeserializers,
  stringSerializers,
} from '@platformatic/kafka'
import { Expected, emit, main, recordsOf, stopRequested } from '../shared/driver.mjs'

const common = bootstrap => ({
  clientId: 'platformatic',
  bootstrapBrokers: bootstrap.split(','),
  retries: 300,
  retryDelay: 100,
})

async function create(bootstrap, { topics, partitions }) {
  const admin = new Admin(common(bootstrap))
  await admin.createTopics({ topics, partitions, replicas: -1 })
  await admin.close()
}

async function produce(bootstrap, { jobs }) {
  for (const { topic, codec, idempotent, ...job } of jobs) {
    const producer = new Producer({
      ...common(bootstrap),
      serializers: stringSerializers,
      autocreateTopics: true,
      compression: codec,
      idempotent,
      acks: -1,
    })
    const messages = recordsOf(job).map(({ key, value, headers }) => ({ topic, key, value, headers }))
    await producer.send({ messages })
    await producer.close()
  }
}

function emitRecord({ topic, partition, offset, timestamp, key, value, headers }) {
  emit('record', {
    topic,
    partition,
    offset: Number(offset),
    timestamp: Number(timestamp),
    key,
    value,
    headers: Object.fromEntries(headers),
  })
}

const consumerOf = (bootstrap, groupId, more = {}) =>
  new Consumer({
    ...common(bootstrap),
    groupId,
    deserializers: stringDeserializers,
    sessionTimeout: 6000,
    rebalanceTimeout: 10_000,
    heartbeatInterval: 500,
    maxWaitTime: 200,
    ...more,
  })

async function offsetsAt(consumer, topics, timestamp) {
  const found = await consumer.listOffsets({ topics, timestamp: BigInt(timestamp) })
  const ends = await consumer.listOffsets({ topics, timestamp: -1n })
  return topics.flatMap(topic =>
    found.get(topic).map((offset, partition) => {
      // Nothing that late: -1.
      return { topic, partition, offset: offset >= 0n ? offset : ends.get(topic)[partition] }
    }),
  )
}

async function consume(bootstrap, { topics, from, count, group }) {
  const consumer = consumerOf(bootstrap, group)
  const expected = new Expected(count)
  const start =
    from === 'start' ? { mode: 'earliest' } : { mode: 'manual', offsets: await offsetsAt(consumer, topics, from) }
  const stream = await consumer.consume({ topics, autocommit: false, ...start })
  stream.on('data', message => {
    emitRecord(message)
    expected.seen()
  })
  await Promise.race([expected.reached, failure(stream)])
  await consumer.close(true)
}

/** Rejects when the stream fails, so that the driver does not wait for records that will not come. */
function failure(stream) {
  return new Promise((_, reject) => stream.on('error', reject))
}

async function member(bootstrap, { topic, group, assignor }) {
  const cooperative = {
    protocols: [{ name: 'cooperative-sticky', version: 1 }],
    partitionAssigner: cooperativeStickyAssigner,
  }
  const consumer = consumerOf(bootstrap, group, assignor === 'cooperative' ? cooperative : {})
  const assigned = ({ assignments }) => {
    emit('assigned', { partitions: (assignments ?? []).flatMap(each => (each.topic === topic ? each.partitions : [])) })
  }
  consumer.on('consumer:group:join', assigned)
  const stream = await consumer.consume({
    topics: [topic],
    mode: 'committed',
    fallbackMode: 'earliest',
    autocommit: false,
  })
  const pump = (async () => {
    for await (const message of stream) {
      emitRecord(message)
      await message.commit()
      emit('committed', { partition: message.partition, offset: Number(message.offset) + 1 })
    }
  })()
  await Promise.race([stopRequested(), failure(stream), pump])
  await consumer.close(true)
}

await main({ create, produce, consume, member })
