import { ErrorCode, errorName } from '../../base/error-code.ts'
import type { Call } from '../history/history.ts'
import {
  findCoordinatorApi,
  heartbeatApi,
  joinGroupApi,
  leaveGroupApi,
  offsetCommitApi,
  offsetFetchApi,
  syncGroupApi,
} from '../wire/requests.ts'
import type { PartitionTarget, Workplace } from './workplace.ts'

/** Who somebody is in a group. */
export interface Membership {
  readonly group: string
  readonly member: string
  /** Of a static member. */
  readonly instance: string | undefined
  readonly generation: number
}

export interface Joined extends Membership {
  readonly protocol: string
  readonly isLeader: boolean
  readonly members: readonly string[]
}

export type Refused = { readonly type: 'refused'; readonly errorCode: ErrorCode } | { readonly type: 'lost' }
export type Done<T> = { readonly type: 'done'; readonly value: T } | Refused

const answerTimeoutMs = 6000
/** What a static member says of itself came with these versions. */
const instanceVersions = { join: 5, sync: 3, heartbeat: 3, leave: 3, commit: 7 }

/** Makes the topic of the groups, if it is not there yet. */
export async function findCoordinator(at: Workplace, group: string): Promise<void> {
  const body = (version: number) => (version >= 4 ? { coordinatorKeys: [group] } : { key: group })
  await at.client.call(findCoordinatorApi, body, { timeoutMs: answerTimeoutMs })
}

export interface JoinOptions {
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
}

export async function join(
  at: Workplace,
  { group, member, instance }: Omit<Membership, 'generation'>,
  options: JoinOptions,
): Promise<Done<Joined>> {
  const line = await at.client.line(joinGroupApi, instance === undefined ? 0 : instanceVersions.join)
  if (line === undefined) return { type: 'lost' }
  const call = at.history.begin(at.process, 'join', { group, member, instance })
  const body = {
    ...{ groupId: group, memberId: member, groupInstanceId: instance ?? null, ...options },
    ...{ protocolType: 'consumer', protocols: [{ name: 'simulated', metadata: Buffer.from(at.process) }] },
  }
  // In the first version the session timeout stands for both.
  const waitMs = Math.max(options.rebalanceTimeoutMs, options.sessionTimeoutMs)
  const result = await line.send(body, { timeoutMs: waitMs + answerTimeoutMs })
  if (result.type === 'lost') return lost(at, call, result.reason)
  const { errorCode, generationId, memberId, leader, members, protocolName } = result.answer
  if (errorCode === ErrorCode.memberIdRequired) {
    at.history.fail(call, errorName(errorCode))
    return join(at, { group, member: memberId, instance }, options)
  }
  if (errorCode !== ErrorCode.none) return refused(at, call, errorCode)
  const isLeader = leader === memberId
  at.history.ok(call, { member: memberId, generation: generationId, isLeader })
  const ids = members.map(one => one.memberId)
  const protocol = protocolName ?? ''
  return {
    type: 'done',
    value: { group, member: memberId, instance, generation: generationId, protocol, isLeader, members: ids },
  }
}

/** `shares` by member, from the leader. Answers what the caller owns. */
export async function sync(
  at: Workplace,
  joined: Joined,
  shares: Readonly<Record<string, readonly string[]>> | null,
): Promise<Done<readonly string[]>> {
  const { group, member, instance, generation, protocol } = joined
  const line = await at.client.line(syncGroupApi, instance === undefined ? 0 : instanceVersions.sync)
  if (line === undefined) return { type: 'lost' }
  const call = at.history.begin(at.process, 'sync', { group, member, generation, shares })
  const assignments = Object.entries(shares ?? {}).map(([memberId, share]) => {
    return { memberId, assignment: Buffer.from(JSON.stringify(share)) }
  })
  const body = {
    ...{ groupId: group, generationId: generation, memberId: member, groupInstanceId: instance ?? null, assignments },
    ...{ protocolType: 'consumer', protocolName: protocol },
  }
  const result = await line.send(body, { timeoutMs: 20_000 })
  if (result.type === 'lost') return lost(at, call, result.reason)
  const { errorCode, assignment } = result.answer
  if (errorCode !== ErrorCode.none) return refused(at, call, errorCode)
  const share: readonly string[] = assignment.length === 0 ? [] : JSON.parse(assignment.toString())
  at.history.ok(call, { share })
  return { type: 'done', value: share }
}

export async function heartbeat(at: Workplace, membership: Membership): Promise<Done<undefined>> {
  const { group, member, instance, generation } = membership
  const line = await at.client.line(heartbeatApi, instance === undefined ? 0 : instanceVersions.heartbeat)
  if (line === undefined) return { type: 'lost' }
  const call = at.history.begin(at.process, 'heartbeat', { group, member, generation })
  const body = { groupId: group, generationId: generation, memberId: member, groupInstanceId: instance ?? null }
  const result = await line.send(body, { timeoutMs: answerTimeoutMs })
  if (result.type === 'lost') return lost(at, call, result.reason)
  if (result.answer.errorCode !== ErrorCode.none) return refused(at, call, result.answer.errorCode)
  at.history.ok(call, {})
  return { type: 'done', value: undefined }
}

export async function leave(at: Workplace, { group, member, instance }: Membership): Promise<Done<undefined>> {
  const line = await at.client.line(leaveGroupApi, instance === undefined ? 0 : instanceVersions.leave)
  if (line === undefined) return { type: 'lost' }
  const call = at.history.begin(at.process, 'leave', { group, member })
  const members = [{ memberId: member, groupInstanceId: instance ?? null }]
  const body = line.version >= 3 ? { groupId: group, members } : { groupId: group, memberId: member }
  const result = await line.send(body, { timeoutMs: answerTimeoutMs })
  if (result.type === 'lost') return lost(at, call, result.reason)
  const errorCode = result.answer.errorCode || (result.answer.members[0]?.errorCode ?? ErrorCode.none)
  if (errorCode !== ErrorCode.none) return refused(at, call, errorCode)
  at.history.ok(call, {})
  return { type: 'done', value: undefined }
}

export async function commit(
  at: Workplace,
  membership: Membership,
  { topic, partition }: PartitionTarget,
  { offset, token }: { offset: number; token: string },
): Promise<Done<undefined>> {
  const { group, member, instance, generation } = membership
  const line = await at.client.line(offsetCommitApi, instance === undefined ? 0 : instanceVersions.commit)
  if (line === undefined) return { type: 'lost' }
  const topicId = line.version >= 10 ? topic.topicId : undefined
  const target = { topic: topic.name, topicId, partition }
  const call = at.history.begin(at.process, 'commit', { group, member, generation, ...target, offset, token })
  const partitions = [{ partitionIndex: partition, committedOffset: offset, committedMetadata: token }]
  const result = await line.send(
    {
      ...{ groupId: group, generationIdOrMemberEpoch: generation, memberId: member, groupInstanceId: instance ?? null },
      topics: [{ name: topic.name, topicId: topic.topicId, partitions }],
    },
    { timeoutMs: answerTimeoutMs + 5000 },
  )
  if (result.type === 'lost') return lost(at, call, result.reason)
  const { errorCode } = result.answer.topics[0]!.partitions[0]!
  if (errorCode !== ErrorCode.none) return refused(at, call, errorCode)
  at.history.ok(call, {})
  return { type: 'done', value: undefined }
}

/** What the group has committed; -1: nothing. */
export async function fetchCommitted(
  at: Workplace,
  group: string,
  { topic, partition }: PartitionTarget,
): Promise<Done<number>> {
  const line = await at.client.line(offsetFetchApi)
  if (line === undefined) return { type: 'lost' }
  const topicId = line.version >= 10 ? topic.topicId : undefined
  const target = { topic: topic.name, topicId, partition }
  const call = at.history.begin(at.process, 'fetchCommitted', { group, ...target })
  const topics = [{ name: topic.name, topicId: topic.topicId, partitionIndexes: [partition] }]
  const body = line.version >= 8 ? { groups: [{ groupId: group, topics }] } : { groupId: group, topics }
  const result = await line.send(body, { timeoutMs: answerTimeoutMs })
  if (result.type === 'lost') return lost(at, call, result.reason)
  const { answer } = result
  const found = line.version >= 8 ? answer.groups[0]! : answer
  if (found.errorCode !== ErrorCode.none) return refused(at, call, found.errorCode)
  const one = found.topics[0]?.partitions[0]
  if (one === undefined || one.errorCode !== ErrorCode.none) return refused(at, call, one?.errorCode ?? -1)
  at.history.ok(call, { ...target, offset: one.committedOffset, token: one.metadata ?? '' })
  return { type: 'done', value: one.committedOffset }
}

/** Errors after which a change may have been made, or may be yet. */
const unsure: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.unknownServerError,
  ErrorCode.requestTimedOut,
  ErrorCode.coordinatorNotAvailable,
  ErrorCode.notCoordinator,
  ErrorCode.kafkaStorageError,
])

function lost(at: Workplace, call: Call, reason: string): Refused {
  at.history.info(call, reason)
  return { type: 'lost' }
}

function refused(at: Workplace, call: Call, errorCode: ErrorCode): Refused {
  if (unsure.has(errorCode)) at.history.info(call, errorName(errorCode))
  else at.history.fail(call, errorName(errorCode))
  return { type: 'refused', errorCode }
}
