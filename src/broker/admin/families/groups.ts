import { gauge, labels, type MetricFamily, oneGauge } from '../metric-family.ts'
import type { GroupGauges } from '../metrics-source.ts'

const prefix = 'kafka_coordinator_group_groupmetadatamanager'
const states = ['PreparingRebalance', 'CompletingRebalance', 'Stable', 'Empty', 'Dead']

/** Of the groups that this broker coordinates. */
export const groupFamilies: readonly MetricFamily[] = [
  gauge('kafka_consumergroup_members', 'Members of a group.', function* ({ groups }) {
    for (const one of groups) yield [labels({ consumergroup: one.groupId }), one.memberCount]
  }),
  offsets('kafka_consumergroup_current_offset', 'Committed offset.', one => one.committedOffset),
  offsets('kafka_consumergroup_lag', 'Records between the committed offset and the high watermark.', one =>
    Math.max(0, one.highWatermark - one.committedOffset),
  ),
  oneGauge(`${prefix}_numgroups`, 'Groups.', ({ groups }) => groups.length),
  ...states.map(state =>
    oneGauge(
      `${prefix}_numgroups${state.toLowerCase()}`,
      `Groups in state ${state}.`,
      ({ groups }) => groups.filter(one => one.state === state).length,
    ),
  ),
  oneGauge(`${prefix}_numoffsets`, 'Committed offsets.', ({ groups }) =>
    groups.reduce((sum, one) => sum + one.offsets.length, 0),
  ),
]

function offsets(name: string, help: string, value: (one: GroupGauges['offsets'][number]) => number): MetricFamily {
  return gauge(name, help, function* ({ groups }) {
    for (const group of groups)
      for (const one of group.offsets) {
        const { topic, partition } = one
        yield [labels({ consumergroup: group.groupId, topic, partition }), value(one)]
      }
  })
}
