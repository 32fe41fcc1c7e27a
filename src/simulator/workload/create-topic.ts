import { ErrorCode, errorName } from '../../base/error-code.ts'
import type { PlannedTopic } from '../plan.ts'
import { createTopicsApi } from '../wire/requests.ts'
import type { Workplace } from './workplace.ts'

/** Answers the error code; undefined without an answer. */
export async function createTopic(at: Workplace, topic: PlannedTopic): Promise<ErrorCode | undefined> {
  const { name, partitions, config } = topic
  const line = await at.client.line(createTopicsApi, 7)
  if (line === undefined) return undefined
  const call = at.history.begin(at.process, 'createTopic', { topic: name, partitions })
  const configs = Object.entries(config).map(([key, value]) => ({ name: key, value }))
  const wanted = { name, numPartitions: partitions, replicationFactor: 1, assignments: [], configs }
  const result = await line.send({ topics: [wanted], timeoutMs: 5000 }, { timeoutMs: 8000 })
  if (result.type === 'lost') {
    at.history.info(call, result.reason)
    return undefined
  }
  const answer = result.answer.topics[0]!
  if (answer.errorCode === ErrorCode.none) at.history.ok(call, { topicId: answer.topicId })
  else if (answer.errorCode === ErrorCode.requestTimedOut) at.history.info(call, errorName(answer.errorCode))
  else at.history.fail(call, errorName(answer.errorCode))
  return answer.errorCode
}
