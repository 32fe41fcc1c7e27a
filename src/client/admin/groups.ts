import { ErrorCode } from '../../base/error-code.ts'
import { decodeAssignment, decodeSubscription } from '../../protocol/consumer-protocol.ts'
import { deleteGroupsRequest, deleteGroupsResponse } from '../../protocol/messages/delete-groups.ts'
import {
  type DescribedGroupMember,
  describeGroupsRequest,
  describeGroupsResponse,
} from '../../protocol/messages/describe-groups.ts'
import { leaveGroupRequest, leaveGroupResponse } from '../../protocol/messages/leave-group.ts'
import { listGroupsRequest, listGroupsResponse } from '../../protocol/messages/list-groups.ts'
import { ProtocolError } from '../../protocol/protocol-error.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Coordinators } from '../cluster/coordinators.ts'
import type { Outcomes, TopicPartition } from '../cluster/leader-requests.ts'
import { brokerError, MillraceError, toMillraceError } from '../millrace-error.ts'
import { type AdminOptions, type AdminResult, eachResource, resultOf } from './admin-result.ts'
import { adminLane } from './controller.ts'

const listGroupsApi = { request: listGroupsRequest, response: listGroupsResponse }
const describeGroupsApi = { request: describeGroupsRequest, response: describeGroupsResponse }
const deleteGroupsApi = { request: deleteGroupsRequest, response: deleteGroupsResponse }
const leaveGroupApi = { request: leaveGroupRequest, response: leaveGroupResponse }

export interface ListedGroup {
  readonly groupId: string
  /** `consumer` for groups of consumers; empty for one that only has committed offsets. */
  readonly protocolType: string
  /** Kafka's word, such as `Stable`. Empty with brokers before 2.6. */
  readonly state: string
  /** `classic`, `consumer`, `share`, `streams`. Empty with brokers before 3.8. */
  readonly type: string
}

export interface ListGroupsOptions extends AdminOptions {
  /** All unless given. */
  readonly states?: readonly string[]
  readonly types?: readonly string[]
}

/** Asks all brokers, since each knows those that it coordinates. Rejects when one of them cannot be asked. */
export async function listGroups(cluster: Cluster, options: ListGroupsOptions): Promise<ListedGroup[]> {
  const { timeoutMs = cluster.config.apiTimeoutMs, states = [], types = [] } = options
  await cluster.refresh(timeoutMs)
  const nodes = cluster.metadata.brokers.map(({ nodeId }) => nodeId)
  const answers = await Promise.all(
    nodes.map(nodeId =>
      cluster.retry(`listing groups of broker ${nodeId}`, timeoutMs, async leftMs => {
        const body = { statesFilter: states, typesFilter: types }
        const answer = await cluster.send(nodeId, listGroupsApi, body, { lane: adminLane, timeoutMs: leftMs })
        if (answer.errorCode !== ErrorCode.none) throw brokerError(answer.errorCode, `groups of broker ${nodeId}`)
        return answer.groups
      }),
    ),
  )
  const groups = new Map<string, ListedGroup>()
  for (const { groupId, protocolType, groupState: state, groupType: type } of answers.flat()) {
    groups.set(groupId, { groupId, protocolType, state, type })
  }
  return [...groups.values()].sort((a, b) => (a.groupId < b.groupId ? -1 : 1))
}

export interface GroupMember {
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly clientId: string
  readonly clientHost: string
  /** undefined where the member does not speak the consumers' protocol. */
  readonly subscribedTopics: readonly string[] | undefined
  readonly assignment: readonly TopicPartition[] | undefined
}

export interface GroupDescription {
  /** Kafka's word: `Stable`, `Empty`, `PreparingRebalance`, `CompletingRebalance`, `Dead` for a group that does not exist. */
  readonly state: string
  readonly protocolType: string
  /** Empty while there is none. */
  readonly assignor: string
  readonly coordinator: number
  readonly members: readonly GroupMember[]
}

/** A request about groups to the coordinator of each. */
async function eachGroup<V>(
  { cluster, coordinators }: { cluster: Cluster; coordinators: Coordinators },
  groupIds: readonly string[],
  options: AdminOptions,
  ask: (nodeId: number, groupId: string, leftMs: number) => Promise<V>,
): Promise<Outcomes<string, V>> {
  return eachResource<string, V>(cluster, groupIds, options, async (pending, leftMs) => {
    const results: Outcomes<string, V> = new Map()
    const asked = pending.map(async groupId => {
      try {
        const nodeId = await coordinators.find(groupId, leftMs)
        results.set(groupId, await ask(nodeId, groupId, leftMs))
      } catch (thrown) {
        const error = toMillraceError(thrown)
        coordinators.note(groupId, error)
        results.set(groupId, error)
      }
    })
    await Promise.all(asked)
    return results
  })
}

export interface GroupsContext {
  readonly cluster: Cluster
  readonly coordinators: Coordinators
}

export async function describeGroups(
  context: GroupsContext,
  groupIds: readonly string[],
  options: AdminOptions,
): Promise<AdminResult<{ groupId: string }, GroupDescription>[]> {
  const outcomes = await eachGroup<GroupDescription>(context, groupIds, options, async (nodeId, groupId, leftMs) => {
    const where = { lane: adminLane, timeoutMs: leftMs }
    const answer = await context.cluster.send(nodeId, describeGroupsApi, { groups: [groupId] }, where)
    const group = answer.groups.find(one => one.groupId === groupId)
    if (group === undefined) throw brokerError(ErrorCode.unknownServerError, `group ${groupId}`)
    if (group.errorCode !== ErrorCode.none) {
      throw brokerError(group.errorCode, `group ${groupId}`, group.errorMessage)
    }
    const { groupState: state, protocolType, protocolData: assignor } = group
    const members = group.members.map(member => memberOf(member, protocolType))
    return { state, protocolType, assignor, coordinator: nodeId, members }
  })
  return groupIds.map(groupId => resultOf({ groupId }, outcomes.get(groupId)))
}

function memberOf(member: DescribedGroupMember, protocolType: string): GroupMember {
  const { memberId, groupInstanceId, clientId, clientHost, memberMetadata, memberAssignment } = member
  const isConsumer = protocolType === 'consumer'
  const subscribedTopics = isConsumer ? readable(() => decodeSubscription(memberMetadata).topics) : undefined
  const assignment = isConsumer ? readable(() => partitionsOf(memberAssignment)) : undefined
  return { memberId, groupInstanceId, clientId, clientHost, subscribedTopics, assignment }
}

function partitionsOf(bytes: Buffer): TopicPartition[] {
  // A member that waits for its assignment has none yet.
  if (bytes.length === 0) return []
  return decodeAssignment(bytes).assignedPartitions.flatMap(({ topic, partitions }) =>
    partitions.map(partition => ({ topic, partition })),
  )
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw error
  }
}

export async function deleteGroups(
  context: GroupsContext,
  groupIds: readonly string[],
  options: AdminOptions,
): Promise<AdminResult<{ groupId: string }>[]> {
  const outcomes = await eachGroup<object>(context, groupIds, options, async (nodeId, groupId, leftMs) => {
    const where = { lane: adminLane, timeoutMs: leftMs }
    const answer = await context.cluster.send(nodeId, deleteGroupsApi, { groupsNames: [groupId] }, where)
    const one = answer.results.find(result => result.groupId === groupId)
    const errorCode = one?.errorCode ?? ErrorCode.unknownServerError
    if (errorCode !== ErrorCode.none) throw brokerError(errorCode, `group ${groupId}`, one?.errorMessage)
    return {}
  })
  return groupIds.map(groupId => resultOf({ groupId }, outcomes.get(groupId)))
}

/** A member of a group: a static one by its instance id, any other by its member id. */
export type MemberRef = { readonly groupInstanceId: string } | { readonly memberId: string }

export async function removeMembers(
  context: GroupsContext,
  groupId: string,
  members: readonly MemberRef[],
  options: AdminOptions & { readonly reason?: string },
): Promise<AdminResult<MemberRef>[]> {
  const { reason = 'removed by an administrator' } = options
  const identities = members.map(member => ({
    memberId: 'memberId' in member ? member.memberId : '',
    groupInstanceId: 'groupInstanceId' in member ? member.groupInstanceId : null,
    reason,
  }))
  type Answers = { errors: readonly (MillraceError | undefined)[] }
  const outcomes = await eachGroup<Answers>(context, [groupId], options, async (nodeId, _, leftMs) => {
    const where = { lane: adminLane, timeoutMs: leftMs }
    const answer = await context.cluster.send(
      nodeId,
      leaveGroupApi,
      version => {
        if (version < 3) throw new MillraceError('UNSUPPORTED_VERSION', 'the broker is too old to remove members')
        return { groupId, members: identities }
      },
      where,
    )
    if (answer.errorCode !== ErrorCode.none) throw brokerError(answer.errorCode, `group ${groupId}`)
    return {
      errors: identities.map(({ memberId, groupInstanceId }) => {
        const one = answer.members.find(member =>
          groupInstanceId === null ? member.memberId === memberId : member.groupInstanceId === groupInstanceId,
        )
        const code = one?.errorCode ?? ErrorCode.unknownServerError
        const subject = `member ${groupInstanceId ?? memberId} of group ${groupId}`
        return code === ErrorCode.none ? undefined : brokerError(code, subject)
      }),
    }
  })
  const outcome = outcomes.get(groupId)
  return members.map((member, i) => {
    if (outcome === undefined || outcome instanceof MillraceError) return resultOf(member, outcome)
    return resultOf(member, outcome.errors[i] ?? {})
  })
}
