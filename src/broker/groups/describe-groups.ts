import { ErrorCode } from '../../base/error-code.ts'
import type { GroupReply } from '../../core/group/replies.ts'
import type { GroupCoordinator, GroupRequest } from './group-coordinator.ts'

/** A group as metrics show it. */
export interface DescribedGroup {
  readonly groupId: string
  readonly state: string
  readonly memberCount: number
  readonly offsets: readonly { readonly topic: string; readonly partition: number; readonly committedOffset: number }[]
}

/** The newest versions of the requests, in which answers say most. */
const listVersion = 5
const describeVersion = 6
const fetchVersion = 9

/** All groups that this broker coordinates. A coordinator that is loading has none to tell. `rest` is awaited after each. */
export async function describeGroups(
  coordinator: GroupCoordinator,
  rest: () => Promise<void> | undefined,
): Promise<readonly DescribedGroup[]> {
  const groups: DescribedGroup[] = []
  for (const shard of coordinator.shards.keys()) {
    const ask = (request: GroupRequest) =>
      new Promise<GroupReply>(resolve => coordinator.submitTo(shard, request, resolve))
    const listed = await ask({ type: 'listGroups', apiVersion: listVersion, statesFilter: [], typesFilter: [] })
    if (listed.type !== 'listGroups') continue
    for (const { groupId } of listed.groups) {
      groups.push(await describe(groupId, ask))
      await rest()
    }
  }
  return groups
}

async function describe(groupId: string, ask: (request: GroupRequest) => Promise<GroupReply>): Promise<DescribedGroup> {
  const described = await ask({ type: 'describeGroups', apiVersion: describeVersion, groupIds: [groupId] })
  const group = described.type === 'describeGroups' ? described.groups[0] : undefined
  const all = { groupId, memberId: null, memberEpoch: -1, topics: null }
  const fetched = await ask({ type: 'offsetFetch', apiVersion: fetchVersion, groups: [all], requireStable: false })
  const topics = fetched.type === 'offsetFetch' ? fetched.groups[0].topics : []
  const offsets = topics.flatMap(topic =>
    topic.partitions
      .filter(({ errorCode }) => errorCode === ErrorCode.none)
      .map(({ partitionIndex, committedOffset }) => ({
        topic: topic.name ?? '',
        partition: partitionIndex,
        committedOffset,
      })),
  )
  return { groupId, state: group?.groupState ?? 'Dead', memberCount: group?.members.length ?? 0, offsets }
}
