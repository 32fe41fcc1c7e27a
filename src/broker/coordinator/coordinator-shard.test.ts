import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { readCodec, readRecordCount } from '../../records/batch.ts'
import { BatchBuilder } from '../../records/builder.ts'
import { Codec } from '../../records/compression/codec.ts'
import { findCoordinatorApi, offsetCommitApi, offsetFetchApi } from '../../simulator/wire/requests.ts'
import { type BrokerHost, onBrokerHost } from '../fixture.test.ts'

const options = { overrides: ['offsets.topic.num.partitions=1'] }
const logOfGroups = '__consumer_offsets-0/00000000000000000000.log'

async function commit(host: BrokerHost, committedOffset: number): Promise<number> {
  const partitions = [{ partitionIndex: 0, committedOffset, committedMetadata: null }]
  const body = {
    ...{ groupId: 'group', generationIdOrMemberEpoch: -1, memberId: '' },
    topics: [{ name: 'topic', partitions }],
  }
  const { topics } = await host.ask(offsetCommitApi, body, 8)
  return topics[0].partitions[0].errorCode
}

async function committed(host: BrokerHost): Promise<number | string> {
  const topics = [{ name: 'topic', partitionIndexes: [0] }]
  const { groups } = await host.ask(offsetFetchApi, { groups: [{ groupId: 'group', topics }] }, 8)
  const [group] = groups
  return group.errorCode === 0 ? group.topics[0].partitions[0].committedOffset : `error ${group.errorCode}`
}

/** Starts a broker whose groups' log fails to be read this often. */
async function startUnreadable(host: BrokerHost, times: number): Promise<void> {
  await host.start()
  await host.createTopic('topic')
  await host.ask(findCoordinatorApi, { coordinatorKeys: ['group'] }, 4)
  await host.world.sleep(1000)
  assert.equal(await commit(host, 42), ErrorCode.none)
  await host.close()
  host.node.disk.faults.failNext('read', 'io', { pathEnd: logOfGroups, times })
  await host.start()
}

test('commits are compressed as offsets.topic.compression.codec says, and read back in pieces of offsets.load.buffer.size', () => {
  const overrides = [...options.overrides, 'offsets.topic.compression.codec=4', 'offsets.load.buffer.size=1']
  return onBrokerHost({ overrides }, async host => {
    await host.start()
    await host.createTopic('topic')
    await host.ask(findCoordinatorApi, { coordinatorKeys: ['group'] }, 4)
    await host.world.sleep(1000)
    for (const offset of [41, 42, 43]) assert.equal(await commit(host, offset), ErrorCode.none)
    await host.close()
    const bytes = host.node.start().disk.readSmallFile(`/data/${logOfGroups}`, 100_000)!
    assert.deepEqual([readCodec(bytes, 0), readRecordCount(bytes, 0)], [Codec.zstd, 1])
    host.crash('kill')
    await host.start()
    await host.world.sleep(1000)
    assert.equal(await committed(host), 43)
    await host.close()
  })
})

describe('a coordinator whose log cannot be read', () => {
  test('is loading to its clients until it can, and then has all that was committed', () =>
    onBrokerHost(options, async host => {
      await startUnreadable(host, 3)
      const loading = `error ${ErrorCode.coordinatorLoadInProgress}`
      for (let times = 0; times < 5; times++) {
        assert.equal(await committed(host), loading)
        assert.equal(await commit(host, 1), ErrorCode.coordinatorLoadInProgress)
        await host.world.sleep(400)
      }
      await host.world.sleep(20_000)
      assert.equal(await committed(host), 42)
      assert.equal(await commit(host, 43), ErrorCode.none)
      assert.deepEqual([host.linesWith('cannot be loaded').length, host.linesWith('loaded at last').length], [1, 1])
      await host.close()
    }))

  test('is tried again at most each second or so, and at least each minute or so', () =>
    onBrokerHost(options, async host => {
      await startUnreadable(host, 1_000_000)
      // Not by the lines that tell of it, which are held back when they follow one another soon.
      let tries = 0
      let lastMs = 0
      host.node.disk.faults.failed = ({ path }) => {
        if (path.endsWith(logOfGroups) && host.world.nowMs > lastMs + 100) tries++
        lastMs = host.world.nowMs
      }
      const triesIn = async (ms: number) => {
        const before = tries
        await host.world.sleep(ms)
        return tries - before
      }
      assert.ok((await triesIn(10_000)) <= 5)
      await host.world.sleep(300_000)
      const late = await triesIn(150_000)
      assert.ok(late >= 2 && late <= 4, `${late}`)
      host.node.disk.faults.forgetOrdered()
      await host.world.sleep(75_000)
      assert.equal(await committed(host), 42)
      await host.close()
    }))

  test('is not tried again once its broker stops', () =>
    onBrokerHost(options, async host => {
      await startUnreadable(host, 1_000_000)
      await host.broker.close()
      const tries = host.linesWith('cannot be read').length
      await host.world.sleep(100_000)
      assert.equal(host.linesWith('cannot be read').length, tries)
    }))
})

test('a coordinator whose log ends where offsets are left out is loaded', () =>
  onBrokerHost(options, async host => {
    await host.start()
    await host.createTopic('topic')
    await host.ask(findCoordinatorApi, { coordinatorKeys: ['group'] }, 4)
    await host.world.sleep(1000)
    assert.equal(await commit(host, 42), ErrorCode.none)
    const log = [...host.broker.logs.logs].find(one => one.topic === '__consumer_offsets')!
    // What a follower has that copied a gap from its leader, and gave up all behind it.
    const endOffset = log.logEndOffset
    const builder = new BatchBuilder()
    builder.append(1000, Buffer.from('behind the gap'), null)
    assert.equal(
      log.appendAsFollower(
        Buffer.from(builder.finish({ baseOffset: endOffset + 10, partitionLeaderEpoch: log.latestEpoch })),
      ),
      undefined,
    )
    while (log.logEndOffset < log.nextOffset) await host.world.sleep(10)
    await log.truncate({ endOffset: endOffset + 5 })
    await host.close()
    await host.start()
    await host.world.sleep(1000)
    assert.equal(await committed(host), 42)
    assert.equal(await commit(host, 43), ErrorCode.none)
    await host.close()
    await host.start()
    await host.world.sleep(1000)
    assert.equal(await committed(host), 43)
    await host.close()
  }))
