import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ErrorCode } from '../../src/base/error-code.ts'
import { allSucceeded, createClient } from '../../src/client/index.ts'
import { ApiKey } from '../../src/protocol/apis.ts'
import { decode } from '../../src/protocol/codec.ts'
import { decodeResponseHeader, encodeResponse } from '../../src/protocol/frames.ts'
import { listOffsetsResponse } from '../../src/protocol/messages/list-offsets.ts'
import { Reader } from '../../src/protocol/reader.ts'
import { Writer } from '../../src/protocol/writer.ts'
import { startBroker } from '../../src/testing/start-broker.ts'
import { freePorts } from '../compatibility/free-port.ts'
import { FrameProxy, type ProxiedRequest } from '../frame-proxy.ts'
import { millrace } from './run-millrace.ts'

/** Five records in each of two partitions, three of them committed by the group `g`; and a leader that says it is none. */
async function withMovingLeader(t: TestContext) {
  const [port] = await freePorts(1)
  const bootstrap = `127.0.0.1:${port}`
  const broker = await startBroker({
    topics: { t: 2 },
    overrides: { 'advertised.listeners': `PLAINTEXT://${bootstrap}` },
  })
  const leader = { refusals: 0, refused: 0 }
  const proxy = await FrameProxy.start({
    port,
    brokerPort: () => broker.port,
    answered: ({ header }, frame) => {
      if (header.apiKey !== ApiKey.listOffsets || leader.refused === leader.refusals) return frame
      leader.refused++
      return refusalOf(header, frame)
    },
  })
  const client = createClient({ bootstrapServers: bootstrap })
  t.after(async () => {
    await client.close()
    await proxy[Symbol.asyncDispose]()
    await broker.close()
  })
  const producer = client.producer()
  const admin = client.admin()
  const both = [0, 1].map(partition => ({ topic: 't', partition }))
  await producer.sendMany(both.flatMap(one => Array.from({ length: 5 }, (_, n) => ({ ...one, value: `${n}` }))))
  allSucceeded(
    await admin.alterGroupOffsets(
      'g',
      both.map(one => ({ ...one, offset: 3 })),
    ),
  )
  const committed = async () => (await admin.listGroupOffsets('g')).map(({ offset }) => offset)
  const reset = (...flags: string[]) => {
    return millrace(['group', 'reset-offsets', 'g', '--json', '--execute', ...flags], { bootstrap })
  }
  return { leader, committed, reset }
}

/** The same answer, but that its second partition is led by another. */
function refusalOf({ apiKey, apiVersion, correlationId }: ProxiedRequest['header'], frame: Buffer): Buffer {
  const reader = new Reader(frame.subarray(4))
  decodeResponseHeader(reader, apiKey, apiVersion)
  const answer = decode(listOffsetsResponse, apiVersion, reader)
  const topics = answer.topics.map(topic => ({
    ...topic,
    partitions: topic.partitions.map(one => {
      if (one.partitionIndex !== 1) return one
      return { ...one, errorCode: ErrorCode.notLeaderOrFollower, timestamp: -1n, offset: -1 }
    }),
  }))
  const writer = new Writer({ chunkBytes: 1024, copiesAll: true })
  return encodeResponse(writer, { apiVersion, correlationId }, listOffsetsResponse, { ...answer, topics })
    .parts[0] as Buffer
}

test('offsets are reset to what is true once a leader that moves has been found', async t => {
  const { leader, committed, reset } = await withMovingLeader(t)
  leader.refusals = 3
  const { code, stderr } = await reset('--to-latest')
  assert.deepEqual({ code, stderr, refused: leader.refused }, { code: 0, stderr: '', refused: 3 })
  assert.deepEqual(await committed(), [5, 5])
})

test('where a leader is not found in time nothing is reset, of no partition, and the error is told', async t => {
  const { leader, committed, reset } = await withMovingLeader(t)
  for (const flags of [['--to-latest'], ['--shift-by', '-1'], ['--to-datetime', '2020-01-01']]) {
    leader.refused = 0
    leader.refusals = Number.POSITIVE_INFINITY
    const { code, stdout, stderr } = await reset(...flags, '--timeout', '1')
    assert.deepEqual([code, stdout], [1, ''], flags.join())
    assert.match(stderr, /^t-1: NOT_LEADER_OR_FOLLOWER.*\n$|^.*t-1.*NOT_LEADER_OR_FOLLOWER.*\n$/)
    assert.ok(leader.refused > 0)
    leader.refusals = 0
    leader.refused = 0
    assert.deepEqual(await committed(), [3, 3], flags.join())
  }
})
