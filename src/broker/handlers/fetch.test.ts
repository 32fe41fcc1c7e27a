import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { fetchRequest, fetchResponse } from '../../protocol/messages/fetch.ts'
import { type BrokerHost, onBrokerHost } from '../fixture.test.ts'

const fetchApi = { request: fetchRequest, response: fetchResponse }

interface Asked {
  readonly version?: number
  readonly sessionId?: number
  readonly sessionEpoch?: number
  readonly isolationLevel?: number
  readonly partitions?: readonly {
    readonly topic?: string
    readonly partition: number
    readonly partitionMaxBytes?: number
  }[]
  readonly fetchOffset?: number
  readonly lastFetchedEpoch?: number
}

async function fetch(host: BrokerHost, asked: Asked) {
  const { version = 12, sessionId = 0, sessionEpoch = -1, isolationLevel = 0, partitions = [] } = asked
  const { fetchOffset = 0, lastFetchedEpoch = -1 } = asked
  const topics = partitions.map(({ topic = 'topic', partition, partitionMaxBytes = 10_000 }) => ({
    topic,
    partitions: [{ partition, fetchOffset, partitionMaxBytes, ...(version >= 12 ? { lastFetchedEpoch } : {}) }],
  }))
  const limits = { maxWaitMs: 0, minBytes: 0, maxBytes: 1 << 20 }
  const body = { ...limits, isolationLevel, sessionId, sessionEpoch, topics, forgottenTopicsData: [] }
  const answer = await host.ask(fetchApi, body, version)
  const said = answer.responses.flatMap(({ topic, partitions }) => partitions.map(one => ({ topic, ...one })))
  return { ...answer, said }
}

test('an epoch that diverges is not said in a version that has no words for it', () =>
  onBrokerHost({}, async host => {
    await host.start()
    await host.createTopic('topic')
    await host.produce('topic')
    const partitions = [{ partition: 0 }]
    const opened = await fetch(host, { sessionEpoch: 0, partitions, fetchOffset: 9, lastFetchedEpoch: 0 })
    assert.deepEqual({ ...opened.said[0].divergingEpoch }, { epoch: 0, endOffset: 1 })
    const older = await fetch(host, { version: 11, sessionId: opened.sessionId, sessionEpoch: 1 })
    assert.equal(older.said[0].errorCode, ErrorCode.offsetOutOfRange)
    await host.close()
  }))

test('a session serves its partitions in the order of the answer that opened it', () =>
  onBrokerHost({}, async host => {
    await host.start()
    await host.createTopic('topic', 2)
    const partitions = [{ topic: 'later', partition: 0 }, { partition: 1 }, { partition: 0 }]
    const opened = await fetch(host, { sessionEpoch: 0, partitions })
    const order = [
      ['topic', 1],
      ['topic', 0],
      ['later', 0],
    ]
    assert.deepEqual(
      opened.said.map(({ topic, partitionIndex }) => [topic, partitionIndex]),
      order,
    )
    await host.createTopic('later')
    for (const [topic, index] of order) await host.produce(topic as string, index as number)
    const next = await fetch(host, { sessionId: opened.sessionId, sessionEpoch: 1 })
    assert.deepEqual(
      next.said.map(({ topic, partitionIndex, errorCode }) => [topic, partitionIndex, errorCode]),
      order.map(place => [...place, ErrorCode.none]),
    )
    await host.close()
  }))

test('where not even one batch may be returned, aborted transactions are not said to be none', () =>
  onBrokerHost({}, async host => {
    await host.start()
    await host.createTopic('topic', 2)
    await host.produce('topic', 0)
    await host.produce('topic', 1)
    const partitions = [{ partition: 0 }, { partition: 1, partitionMaxBytes: 1 }]
    const { said } = await fetch(host, { isolationLevel: 1, partitions })
    assert.deepEqual(
      said.map(({ records, abortedTransactions }) => [(records?.length ?? 0) > 0, abortedTransactions]),
      [
        [true, []],
        [false, null],
      ],
    )
    await host.close()
  }))
