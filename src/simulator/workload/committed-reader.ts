import { ErrorCode } from '../../base/error-code.ts'
import { findWronglyCommitted } from '../check/committed-records.ts'
import { fetchApi } from '../wire/requests.ts'
import { pickPartition, think, type Workplace } from './workplace.ts'

const readCommitted = 1
/** The first version whose answers name aborted transactions. */
const minVersion = 4

export interface CommittedReaderOptions {
  readonly topic: string
  /** Nobody can say what becomes of a partition whose bytes were damaged on purpose. */
  readonly isDamaged: (topicId: string, partition: number) => boolean
}

/** A reader of committed records, which jumps about: each answer alone has to say what of it was aborted. */
export async function runCommittedReader(
  at: Workplace,
  { topic: name, isDamaged }: CommittedReaderOptions,
): Promise<void> {
  const { random } = at
  while (!at.isStopping()) {
    await think(at, 50)
    const target = await pickPartition({ ...at, topicNames: [name] })
    if (target === undefined) continue
    const { topic, partition } = target
    let offset = 0
    for (let left = random.between(1, 30); left > 0 && !at.isStopping(); left--) {
      const line = await at.client.line(fetchApi, minVersion)
      if (line === undefined) break
      const partitionMaxBytes = random.pick([1, 500, 3000, 100_000])
      const partitions = [{ partition, fetchOffset: offset, partitionMaxBytes, logStartOffset: -1 }]
      const topics = [{ topic: topic.name, topicId: topic.topicId, partitions }]
      const body = { maxWaitMs: 100, minBytes: 1, maxBytes: 1_000_000, isolationLevel: readCommitted, topics }
      const result = await line.send(body, { timeoutMs: 6000 })
      if (result.type === 'lost') break
      const answer = result.answer.responses[0]?.partitions[0]
      const isReset = answer?.errorCode === ErrorCode.offsetOutOfRange
      if (answer === undefined || (answer.errorCode !== ErrorCode.none && !isReset)) break
      const { records, abortedTransactions, lastStableOffset, logStartOffset } = answer
      const read = {
        bytes: records ?? Buffer.alloc(0),
        abortedTransactions: abortedTransactions ?? [],
        lastStableOffset,
      }
      const problem = isReset ? undefined : findWronglyCommitted(read)
      if (problem !== undefined && !isDamaged(topic.topicId, partition))
        at.complain('I52', `${topic.name}-${partition} read from ${offset} on: ${problem}`)
      offset = random.between(Math.max(0, logStartOffset), Math.max(0, logStartOffset, lastStableOffset))
      if (random.chance(0.3)) await think(at, 20)
    }
  }
}
