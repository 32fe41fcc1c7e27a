import type { CheckInput } from './check-history.ts'
import { Incarnations } from './incarnations.ts'

/** Settings that let a log lose its beginning. */
const removing = ['retention.bytes', 'retention.ms']

/** A log begins at 0 unless somebody was allowed to cut off its beginning (I56). How much may go is seen by the watch. */
export function checkRetention({ history, truth, plan, violations }: CheckInput): void {
  const topics = new Incarnations(history)
  for (const { topic, topicId, partition, logStartOffset } of truth.values()) {
    const planned = plan.topics.find(one => one.name === topic)
    if (planned === undefined || removing.some(name => name in planned.config)) continue
    const deletions = history.callsOf('deleteRecords').filter(call => {
      const reached = topics.reached(call.request, call) ?? topicId
      return call.outcome !== 'fail' && reached === topicId && call.request.partition === partition
    })
    const end = Math.max(0, ...deletions.map(({ request, answer }) => answer?.lowWatermark ?? endOf(request.offset)))
    if (logStartOffset > end)
      violations.add('I56', `${topic}-${partition} begins at ${logStartOffset}, and nobody has deleted beyond ${end}`)
  }
}

function endOf(offset: number): number {
  return offset < 0 ? Number.POSITIVE_INFINITY : offset
}
