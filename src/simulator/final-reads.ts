import { ErrorCode } from '../base/error-code.ts'
import { Cuts } from './check/cuts.ts'
import { type PartitionTruth, partitionKey } from './check/partition-truth.ts'
import type { ReadRecord } from './history/operations.ts'
import { listOffset, poll } from './workload/read-partition.ts'
import type { PartitionTarget, Workplace } from './workload/workplace.ts'

/** Tries of one read that brings nothing, when all faults are over. */
const maxTries = 20
const pauseMs = 200

/** Reads every topic from its start to its end. Nobody writes any more. */
export async function readAll(at: Workplace): Promise<Map<string, PartitionTruth>> {
  const truth = new Map<string, PartitionTruth>()
  const topics = await again(at, () => at.client.topics(at.topicNames))
  if (topics === undefined) {
    at.complain('I65', 'the broker does not say which topics there are')
    return truth
  }
  for (const topic of topics)
    for (let partition = 0; partition < topic.partitionCount; partition++) {
      const read = await readWhole(at, { topic, partition })
      if (read !== undefined) truth.set(partitionKey(topic.topicId, partition), read)
    }
  return truth
}

async function readWhole(at: Workplace, target: PartitionTarget): Promise<PartitionTruth | undefined> {
  const { topic, partition } = target
  let start = await again(at, () => listOffset(at, target, -2))
  const end = await again(at, () => listOffset(at, target, -1))
  if (start === undefined || end === undefined) {
    at.complain('I65', `${topic.name}-${partition} does not say where it begins and ends`)
    return undefined
  }
  const records = new Map<number, ReadRecord>()
  let offset = start
  while (offset < end) {
    const next = await readOn(at, target, offset, records)
    if (next !== undefined) {
      offset = next
      continue
    }
    // Retention goes on meanwhile.
    const startNow: number | undefined = await again(at, () => listOffset(at, target, -2))
    if (startNow !== undefined && startNow > offset) {
      start = startNow
      offset = startNow
    } else if (mayBeUnreadable(at, target, offset)) offset++
    else {
      at.complain('I65', `${topic.name}-${partition} cannot be read at ${offset}, it ends at ${end}`)
      return undefined
    }
  }
  for (const before of [...records.keys()]) if (before < start) records.delete(before)
  const bounds = { logStartOffset: start, logEndOffset: end }
  return { topic: topic.name, topicId: topic.topicId, partition, ...bounds, records }
}

/** The offset to go on from; undefined when there is no getting on. */
async function readOn(
  at: Workplace,
  target: PartitionTarget,
  offset: number,
  records: Map<number, ReadRecord>,
): Promise<number | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    const result = await poll(at, target, { offset, maxWaitMs: 0, maxBytes: 1_000_000 })
    if (result.type === 'read' && result.nextOffset > offset) {
      for (const record of result.records) records.set(record.offset, record)
      return result.nextOffset
    }
    const isOutOfRange = result.type === 'refused' && result.errorCode === ErrorCode.offsetOutOfRange
    if (isOutOfRange || mayBeUnreadable(at, target, offset)) return undefined
    await at.client.sleep(pauseMs)
  }
  return undefined
}

/**
 * The offset is damaged, or what was between it and damage has been compacted away, so that a read of it comes there. Whether
 * it may be gone is for those who check what was read.
 */
function mayBeUnreadable(at: Workplace, { topic, partition }: PartitionTarget, offset: number): boolean {
  const cuts = new Cuts(at.history)
  if (cuts.isDamaged(topic.topicId, partition, offset)) return true
  return at.isCompacted(topic.name) && cuts.isDamagedBehind(topic.topicId, partition, offset)
}

async function again<T>(at: Workplace, act: () => Promise<T | undefined>): Promise<T | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    const answer = await act()
    if (answer !== undefined) return answer
    await at.client.sleep(pauseMs)
  }
  return undefined
}
