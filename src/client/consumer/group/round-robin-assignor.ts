import { type Assignor, emptyAssignment, inOrder, subscribedPartitions } from './assignor.ts'

/** Kafka's `roundrobin`: all partitions, one after the other, to the next member that subscribes to the topic. */
export const roundRobinAssignor: Assignor = {
  name: 'roundrobin',
  protocol: 'eager',
  userData: () => null,
  assign(members, counts) {
    const assignment = emptyAssignment(members)
    const order = inOrder(members)
    let next = 0
    for (const one of subscribedPartitions(members, counts)) {
      while (!order[next % order.length].topics.includes(one.topic)) next++
      assignment.get(order[next++ % order.length].memberId)!.push(one)
    }
    return assignment
  },
}
