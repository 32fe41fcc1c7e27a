import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ErrorCode } from '../../src/base/error-code.ts'
import { MillraceProcess } from '../compatibility/millrace-process.ts'
import { Patience } from '../compatibility/patience.ts'
import { inDirectory } from '../compatibility/temporary-directory.ts'
import { api } from './api.ts'
import { RawClient } from './raw-client.ts'
import { createTopic } from './requests.ts'
import { untilCoordinated } from './typical-requests.ts'

const patienceMs = 60_000
const topic = 'read'
const partitions = 5
const groups = Array.from({ length: 20 }, (_, index) => `group-${index}`)
const rounds = 300
const metadata = 'm'.repeat(1000)
const segmentBytes = 1 << 20
/** At least: the text that goes with each commit. */
const writtenBytes = groups.length * rounds * metadata.length

const overrides = {
  'offsets.topic.num.partitions': '1',
  'offsets.topic.segment.bytes': String(segmentBytes),
  'log.cleaner.backoff.ms': '50',
  'log.cleaner.min.cleanable.ratio': '0.1',
  'log.segment.delete.delay.ms': '0',
}

/** In round n each group commits n, or another offset that it is told, for one of the partitions. */
async function commit(client: RawClient, round: number): Promise<void> {
  const asked = groups.map((groupId, index) =>
    client.send(api.offsetCommit.request, 7, {
      ...{ groupId, memberId: '', generationIdOrMemberEpoch: -1 },
      topics: [{ name: topic, partitions: [{ ...committed(index, round), committedMetadata: metadata }] }],
    }),
  )
  for (const id of asked) {
    const { topics } = await client.answer(api.offsetCommit.response, 7, id)
    assert.equal(topics[0].partitions[0].errorCode, ErrorCode.none)
  }
}

function committed(group: number, round: number) {
  return { partitionIndex: (group + round) % partitions, committedOffset: round * 1000 + group }
}

/** What was committed last for each partition by every group is what they are told. */
async function assertCommitted(client: RawClient, lastRound: number): Promise<void> {
  for (const [index, groupId] of groups.entries()) {
    const expected = Array.from({ length: partitions }, (_, back) => committed(index, lastRound - back))
    const answer = await client.call(api.offsetFetch, 7, { groupId, topics: null })
    assert.equal(answer.errorCode, ErrorCode.none)
    const found = answer.topics[0].partitions
    assert.ok(found.every(one => one.metadata === metadata))
    assert.deepEqual(
      found.map(({ partitionIndex, committedOffset }) => `${partitionIndex}: ${committedOffset}`).sort(),
      expected.map(({ partitionIndex, committedOffset }) => `${partitionIndex}: ${committedOffset}`).sort(),
    )
  }
}

function sizeOf(directory: string): number {
  const logs = readdirSync(directory).filter(name => name.endsWith('.log'))
  return logs.reduce((sum, name) => sum + (statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0), 0)
}

async function untilSmall(directory: string): Promise<void> {
  using patience = new Patience(patienceMs)
  // The active segment, and one of what is left of all others.
  while (sizeOf(directory) > 2 * segmentBytes) {
    assert.ok(!patience.isOver, `${sizeOf(directory)} bytes are left of at least ${writtenBytes}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

test("the groups' topic is compacted while groups commit, and tells the same after a kill", () =>
  inDirectory('millrace-offsets', async dir => {
    await using broker = await MillraceProcess.start({ dir, overrides })
    const port = Number(broker.bootstrap.split(':')[1])
    const directory = join(broker.logDirs[0], '__consumer_offsets-0')
    {
      using client = await RawClient.connect({ port })
      await createTopic(client, topic, { partitions })
      await untilCoordinated(client, groups[0])
      for (let round = 0; round < rounds; round++) await commit(client, round)
      assert.ok(writtenBytes > 5 * segmentBytes)
      await untilSmall(directory)
      await assertCommitted(client, rounds - 1)
    }
    for (let kills = 0; kills < 2; kills++) {
      await broker.stop('SIGKILL')
      await broker.restart()
      using client = await RawClient.connect({ port })
      await untilCoordinated(client, groups[0])
      const lastRound = rounds - 1 + kills
      await assertCommitted(client, lastRound)
      await commit(client, lastRound + 1)
      await assertCommitted(client, lastRound + 1)
      await untilSmall(directory)
    }
    await broker.stop()
  }))
