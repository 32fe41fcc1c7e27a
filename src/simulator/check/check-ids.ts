import type { CheckInput } from './check-history.ts'

/** What is given out once is not given out again (I23). */
export function checkIds({ history, violations }: CheckInput): void {
  const producers = new Map<string, string>()
  for (const { id, process, answer } of history.callsOf('initProducer')) {
    if (answer === undefined) continue
    const key = `${answer.id}/${answer.epoch}`
    const before = producers.get(key)
    if (before !== undefined)
      violations.add('I23', `producer id ${key} was given to ${before} and to call ${id} of ${process}`)
    producers.set(key, `call ${id} of ${process}`)
  }
  const topics = new Map<string, string>()
  for (const { id, request, answer } of history.callsOf('createTopic')) {
    if (answer === undefined) continue
    const before = topics.get(answer.topicId)
    if (before !== undefined)
      violations.add('I23', `topic id ${answer.topicId} was given to ${before} and to ${request.topic} (call ${id})`)
    topics.set(answer.topicId, `${request.topic} (call ${id})`)
  }
}
