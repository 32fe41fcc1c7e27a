import { ErrorCode } from '../../base/error-code.ts'
import { findEpochEnd, listOffset, poll } from './read-partition.ts'
import { type PartitionTarget, pickPartition, targetOf, think, type Workplace } from './workplace.ts'

/** Readers that keep their position themselves, one partition at a time. */
export async function runAssignedConsumer(at: Workplace): Promise<void> {
  while (!at.isStopping()) {
    await think(at, 50)
    const target = await pickPartition(at)
    if (target === undefined) continue
    const start = await listOffset(at, target, at.random.pick([-2, -2, -1]))
    if (start !== undefined) await follow(at, target, start)
  }
}

async function follow(at: Workplace, first: PartitionTarget, start: number): Promise<void> {
  const { random } = at
  let target = first
  let offset = start
  for (let left = random.between(5, 40); left > 0 && !at.isStopping(); left--) {
    const maxBytes = random.pick([1, 100, 1000, 1_000_000])
    const result = await poll(at, target, { offset, maxWaitMs: random.pick([0, 10, 300]), maxBytes })
    if (result.type === 'read') offset = result.nextOffset
    else if (result.type === 'refused' && result.errorCode === ErrorCode.offsetOutOfRange) {
      const reset = await listOffset(at, target, random.pick([-2, -1]))
      if (reset === undefined) return
      offset = reset
    } else if (result.type === 'refused') {
      const next = passing.has(result.errorCode) ? await lookAgain(at, target, offset) : undefined
      if (next === undefined) return
      target = next.target
      offset = next.offset
    } else await think(at, 100)
    if (random.chance(0.3)) await think(at, 20)
  }
}

/** After these a client asks who leads, and goes on. */
const passing: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.notLeaderOrFollower,
  ErrorCode.fencedLeaderEpoch,
  ErrorCode.unknownLeaderEpoch,
  ErrorCode.kafkaStorageError,
])

/** What a reader knows of its partition may be old still. In a new epoch it asks whether what it has read is there. */
async function lookAgain(
  at: Workplace,
  target: PartitionTarget,
  offset: number,
): Promise<{ target: PartitionTarget; offset: number } | undefined> {
  await think(at, 100)
  if (at.random.chance(0.2)) return { target, offset }
  const [topic] = (await at.client.topics([target.topic.name])) ?? []
  if (topic?.topicId !== target.topic.topicId) return undefined
  const now = targetOf(topic, target.partition)
  const end = await findEpochEnd(at, now, target.leaderEpoch ?? -1)
  return { target: now, offset: end === undefined || end < 0 ? offset : Math.min(offset, end) }
}
