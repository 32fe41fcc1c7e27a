import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import type { FakeRequest, Mischief } from '../fixtures/fake-cluster.ts'
import { first, partition, readerWorld } from '../fixtures/reader-world.ts'
import type { ConsumerOptions } from './consumer-options.ts'

test('only what the next call confirms is committed', async () => {
  const { consumer, cluster, world, finish } = await readerWorld(
    [
      [0, 1],
      [2, 3],
      [4, 5],
    ],
    {
      groupId: 'g',
      maxRecords: 2,
      autoCommitIntervalMs: 1000,
    },
  )
  consumer.assign([partition])
  await finish(consumer.poll())
  await world.advance(3000)
  assert.equal(cluster.groups.get('g')?.offsets.get('orders-0')?.offset, 0, 'it is still being worked on')
  await finish(consumer.poll())
  await world.advance(1500)
  assert.equal(cluster.groups.get('g')?.offsets.get('orders-0')?.offset, 2)
  await finish(consumer.close())
  assert.equal(cluster.groups.get('g')?.offsets.get('orders-0')?.offset, 2, 'the last batch was not confirmed')
  assert.equal(cluster.asked('OffsetCommit').length, 2, 'what has not changed is not committed again')
})

test('an explicit commit takes what was handed out, or the offsets that are given', async () => {
  const { consumer, cluster, finish } = await readerWorld([[0, 1, 2]], { groupId: 'g', autoCommit: false })
  consumer.assign([partition])
  await finish(consumer.poll())
  await finish(consumer.commit())
  const group = cluster.groups.get('g')!
  assert.equal(group.offsets.get('orders-0')?.offset, 3)
  await finish(consumer.commit([{ ...partition, offset: 1, metadata: 'why' }]))
  assert.equal(group.offsets.get('orders-0')?.offset, 1)
  assert.equal(cluster.asked('OffsetCommit').at(-1)?.body.topics[0].partitions[0].committedMetadata, 'why')
  await assert.rejects(consumer.commit([{ topic: 'orders', partition: 4, offset: 1 }]), { code: 'NOT_ASSIGNED' })
  await finish(consumer.close())
  assert.equal(group.offsets.get('orders-0')?.offset, 1)
})

test('what was committed explicitly is not taken back by a commit of its own accord', async () => {
  const options = { groupId: 'g', maxRecords: 2, autoCommitIntervalMs: 1000 }
  const { consumer, cluster, world, finish } = await readerWorld([[0, 1, 2, 3]], options)
  consumer.assign([partition])
  await finish(consumer.poll())
  await finish(consumer.commit([{ ...partition, offset: 2 }]))
  const group = cluster.groups.get('g')!
  await world.advance(3000)
  assert.equal(group.offsets.get('orders-0')?.offset, 2)
  await finish(consumer.close())
  assert.equal(group.offsets.get('orders-0')?.offset, 2)
})

/** An answer to a commit of the one partition. */
function commitAnswer(errorCode: ErrorCode): Mischief {
  const partitions = [{ partitionIndex: 0, errorCode }]
  return { type: 'answer', body: { topics: [{ topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', partitions }] } }
}

const committedOffsets = (requests: readonly FakeRequest[]) =>
  requests.map(({ body }) => body.topics[0].partitions[0].committedOffset)

test('a commit that is answered after a seek back has not confirmed what is read again', async () => {
  const options = { groupId: 'g', maxRecords: 2, autoCommitIntervalMs: 10_000 }
  const { consumer, cluster, world, finish } = await readerWorld([[0, 1, 2, 3]], options)
  consumer.assign([partition])
  for (let polls = 0; polls < 2; polls++) await finish(consumer.poll())
  cluster.mischief = first('OffsetCommit', { type: 'after', ms: 3000 })
  const committing = consumer.commit([{ ...partition, offset: 4 }])
  await world.advance(100)
  consumer.seek(partition, 0)
  for (let polls = 0; polls < 2; polls++) await finish(consumer.poll())
  await finish(committing)
  await world.advance(15_000)
  assert.equal(cluster.groups.get('g')?.offsets.get('orders-0')?.offset, 2, 'the second batch is in hand once more')
})

test('a commit of its own accord that has failed is not tried again behind a later one', async () => {
  const options = { groupId: 'g', maxRecords: 2, autoCommitIntervalMs: 1000 }
  const { consumer, cluster, world, finish } = await readerWorld([[0, 1, 2, 3]], options)
  consumer.assign([{ ...partition, offset: 0 }])
  for (let polls = 0; polls < 2; polls++) await finish(consumer.poll())
  cluster.mischief = first('OffsetCommit', commitAnswer(ErrorCode.coordinatorLoadInProgress))
  while (cluster.asked('OffsetCommit').length === 0) await world.advance(10)
  await finish(consumer.commit([{ ...partition, offset: 4 }]))
  await world.advance(5000)
  assert.deepEqual(committedOffsets(cluster.asked('OffsetCommit')), [2, 4])
  assert.deepEqual(
    world.log.lines.map(({ message }) => message).filter(line => line.includes('not committed')),
    [],
  )
})

test('commits of its own accord that go on failing are told of, once in a while', async () => {
  const { consumer, cluster, world, finish } = await readerWorld([[0, 1]], { groupId: 'g', autoCommitIntervalMs: 1000 })
  consumer.assign([{ ...partition, offset: 0 }])
  await finish(consumer.poll())
  await finish(consumer.poll({ timeoutMs: 1 }))
  const mischief = commitAnswer(ErrorCode.coordinatorNotAvailable)
  cluster.mischief = ({ api }) => (api === 'OffsetCommit' ? mischief : undefined)
  await world.advance(150_000)
  const told = () => world.log.lines.filter(({ message }) => message.includes('offsets were not committed')).length
  assert.equal(told(), 2)
  cluster.mischief = () => undefined
  await world.advance(2000)
  assert.deepEqual([told(), cluster.groups.get('g')?.offsets.get('orders-0')?.offset], [2, 2])
})

test('a commit that is tried again does not take back a later one', async () => {
  const { consumer, cluster, finish } = await readerWorld([[0, 1, 2, 3]], { groupId: 'g', autoCommit: false })
  consumer.assign([{ ...partition, offset: 0 }])
  await finish(consumer.poll())
  cluster.mischief = first('OffsetCommit', commitAnswer(ErrorCode.coordinatorLoadInProgress))
  const commits = [2, 4].map(offset => consumer.commit([{ ...partition, offset }]))
  await finish(Promise.all(commits))
  assert.deepEqual(committedOffsets(cluster.asked('OffsetCommit')), [2, 4])
})

test('commits are made one after the other, in the order in which they were asked for', async () => {
  const { consumer, cluster, finish } = await readerWorld([[0, 1, 2, 3]], { groupId: 'g', autoCommit: false })
  consumer.assign([{ ...partition, offset: 0 }])
  await finish(consumer.poll())
  cluster.mischief = first('OffsetCommit', { type: 'after', ms: 1000 }, { type: 'close' }, { type: 'loseAnswer' })
  const offsets = [1, 2, 3]
  await finish(Promise.all(offsets.map(offset => consumer.commit([{ ...partition, offset }]))))
  const group = cluster.groups.get('g')!
  assert.equal(group.offsets.get('orders-0')?.offset, 3)
  assert.deepEqual(committedOffsets(cluster.asked('OffsetCommit')).slice(0, 3), offsets)
})

test('what was committed explicitly is not taken back by a commit of its own accord while it has to be tried again', async () => {
  const options = { groupId: 'g', maxRecords: 2, autoCommitIntervalMs: 1000 }
  const { consumer, cluster, world, finish } = await readerWorld([[0, 1, 2, 3]], options)
  consumer.assign([partition])
  for (let polls = 0; polls < 2; polls++) await finish(consumer.poll())
  let isLoading = true
  const refusal = commitAnswer(ErrorCode.coordinatorLoadInProgress)
  cluster.mischief = ({ api, body }) => {
    const isRefused = isLoading && api === 'OffsetCommit' && body.topics[0].partitions[0].committedOffset === 4
    return isRefused ? refusal : undefined
  }
  const committed = consumer.commit([{ ...partition, offset: 4 }])
  await world.advance(3000)
  isLoading = false
  await finish(committed)
  await world.advance(3000)
  assert.equal(cluster.groups.get('g')?.offsets.get('orders-0')?.offset, 4)
  await finish(consumer.close())
  const sent = committedOffsets(cluster.asked('OffsetCommit'))
  assert.ok(!sent.slice(sent.indexOf(4)).includes(2), sent.join())
})

test('without a group nothing can be committed', async () => {
  const { consumer, client } = await readerWorld([])
  await assert.rejects(consumer.commit(), { code: 'INVALID_ARGUMENT' })
  assert.throws(() => consumer.subscribe(['orders']), { code: 'INVALID_ARGUMENT' })
  for (const options of [
    { groupId: '' },
    { autoCommit: true },
    { offsetReset: 'never' },
    { maxRecords: 0 },
    { isolationLevel: 'serializable' },
    { groupId: 'g', assignors: ['mine'] },
    { groupId: 'g', assignors: [] },
    { groupId: 'g', sessionTimeoutMs: 1000, heartbeatIntervalMs: 900 },
  ]) {
    assert.throws(() => client.consumer(options as ConsumerOptions), { code: 'INVALID_ARGUMENT' })
  }
})
