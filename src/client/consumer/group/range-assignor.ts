import {
  type Assignor,
  emptyAssignment,
  type GroupAssignment,
  type GroupMember,
  inOrder,
  type PartitionCounts,
} from './assignor.ts'

/**
 * Kafka's `range`: each topic is cut into as many runs of partitions as it has members, the first ones one longer. Topics
 * with equal partition counts are shared out alike, so that equal keys meet at one member.
 */
export const rangeAssignor: Assignor = {
  name: 'range',
  protocol: 'eager',
  userData: () => null,
  assign(members, counts) {
    const assignment = emptyAssignment(members)
    for (const topic of new Set(members.flatMap(({ topics }) => topics))) cut(topic, members, counts, assignment)
    return assignment
  },
}

function cut(
  topic: string,
  members: readonly GroupMember[],
  counts: PartitionCounts,
  assignment: GroupAssignment,
): void {
  const subscribed = inOrder(members.filter(({ topics }) => topics.includes(topic)))
  const count = counts.get(topic) ?? 0
  const each = Math.floor(count / subscribed.length)
  const longer = count % subscribed.length
  let next = 0
  for (const [index, { memberId }] of subscribed.entries()) {
    const end = next + each + (index < longer ? 1 : 0)
    for (; next < end; next++) assignment.get(memberId)!.push({ topic, partition: next })
  }
}
