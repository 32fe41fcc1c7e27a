import { assert } from '../../base/assert.ts'
import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import { zeroUuid } from '../../base/uuid.ts'
import type { AddRaftVoterRequest } from '../../protocol/messages/add-raft-voter.ts'
import type { ApiVersionsResponse } from '../../protocol/messages/api-versions.ts'
import type { RemoveRaftVoterRequest } from '../../protocol/messages/remove-raft-voter.ts'
import type { UpdateRaftVoterRequest } from '../../protocol/messages/update-raft-voter.ts'
import type { Endpoint } from '../../protocol/records/control.ts'
import { appendControlRecords } from './commit.ts'
import { errorOfLeaderRequest, isOurCluster } from './epochs.ts'
import type { RaftResponse, VersionRange } from './messages.ts'
import type { Replica } from './replica.ts'
import { updateVoterResponse, voterChangeResponse } from './responses.ts'
import type { Leader, VoterChange } from './roles.ts'
import type { Voter, VoterSet } from './voters.ts'

/*
 * Changes of the voter set, on the leader. One voter at a time, and the next only after the last has committed: then
 * any majority of the old set meets any majority of the new one. Not before a record of this epoch has committed: a
 * change that an earlier leader left uncommitted could otherwise come back beside ours.
 */

export interface Refusal {
  readonly errorCode: ErrorCode
  readonly message: string
}

/** The answer, or undefined when it follows later. */
export function handleAddRaftVoter(
  replica: Replica,
  requestId: number,
  request: AddRaftVoterRequest,
  now: Now,
): RaftResponse | undefined {
  const refusal = refusalOfAdd(replica, request)
  const { role } = replica
  if (refusal !== undefined || role.type !== 'leader') {
    const { errorCode, message } = refusal ?? notLeader
    return voterChangeResponse('addRaftVoter', errorCode, message)
  }
  const key = { id: request.voterId, directoryId: request.voterDirectoryId }
  const to = { type: 'node', id: key.id, endpoints: request.listeners } as const
  role.voterChange = {
    type: 'add',
    requestId,
    key,
    endpoints: request.listeners,
    deadlineMs: now.monotonicMs + replica.config.requestTimeoutMs,
    answersEarly: !request.ackWhenCommitted,
    correlationId: replica.send(to, { api: 'apiVersions' }, now),
    votersOffset: undefined,
  }
  return undefined
}

function refusalOfAdd(replica: Replica, request: AddRaftVoterRequest): Refusal | undefined {
  const refusal = refusalOfRequest(replica, request)
  if (refusal !== undefined) return refusal
  if (!hasListener(replica, request.listeners)) {
    return { errorCode: ErrorCode.invalidRequest, message: `no endpoint for ${replica.config.listenerName}` }
  }
  const change = refusalOfChange(replica)
  if (change !== undefined) return change
  if (replica.history.voters.withId(request.voterId) !== undefined) {
    return { errorCode: ErrorCode.duplicateVoter, message: `${request.voterId} is a voter already` }
  }
  return undefined
}

/** The new voter told what it supports: if that will do and it has caught up, it becomes a voter now. */
export function handleApiVersions(
  replica: Replica,
  response: Pick<ApiVersionsResponse, 'errorCode' | 'supportedFeatures'>,
  now: Now,
): boolean {
  const { role } = replica
  if (role.type !== 'leader' || role.voterChange === undefined) return true
  const change = role.voterChange
  if (response.errorCode !== ErrorCode.none) {
    finish(replica, role, ErrorCode.requestTimedOut, 'the new voter did not answer ApiVersions')
    return true
  }
  const feature = response.supportedFeatures.find(({ name }) => name === 'kraft.version')
  const range = { minSupportedVersion: feature?.minVersion ?? 0, maxSupportedVersion: feature?.maxVersion ?? 0 }
  if (!supports(range, replica.history.kraftVersion)) {
    finish(replica, role, ErrorCode.invalidRequest, 'the new voter does not support the kraft.version in force')
  } else if (!isCaughtUp(replica, role, change, now)) {
    finish(replica, role, ErrorCode.requestTimedOut, 'the new voter has not caught up')
  } else {
    const voters = replica.history.voters.with({
      ...change.key,
      endpoints: change.endpoints,
      kraftVersionFeature: range,
    })
    assert(voters !== undefined, 'the voter set did not change since the request was accepted')
    appendChange(replica, role, change, voters)
  }
  return true
}

export function handleApiVersionsFailed(replica: Replica): void {
  const { role } = replica
  if (role.type !== 'leader' || role.voterChange === undefined) return
  finish(replica, role, ErrorCode.requestTimedOut, 'the new voter cannot be reached')
}

export function handleRemoveRaftVoter(
  replica: Replica,
  requestId: number,
  request: RemoveRaftVoterRequest,
  now: Now,
): RaftResponse | undefined {
  const refusal = refusalOfRequest(replica, request) ?? refusalOfChange(replica)
  const { role } = replica
  if (refusal !== undefined || role.type !== 'leader') {
    const { errorCode, message } = refusal ?? notLeader
    return voterChangeResponse('removeRaftVoter', errorCode, message)
  }
  const key = { id: request.voterId, directoryId: request.voterDirectoryId }
  const voters = replica.history.voters.without(key)
  if (voters === undefined) {
    const message = `${key.id} with directory ${key.directoryId} is not a voter`
    return voterChangeResponse('removeRaftVoter', ErrorCode.voterNotFound, message)
  }
  if (voters.size === 0) {
    const message = 'the last voter cannot be removed'
    return voterChangeResponse('removeRaftVoter', ErrorCode.invalidRequest, message)
  }
  role.voterChange = {
    type: 'remove',
    requestId,
    key,
    endpoints: [],
    deadlineMs: now.monotonicMs + replica.config.requestTimeoutMs,
    answersEarly: false,
    correlationId: -1,
    votersOffset: undefined,
  }
  appendChange(replica, role, role.voterChange, voters)
  return undefined
}

/** A voter renews its own entry. That changes no majority, so it is answered once appended. */
export function handleUpdateRaftVoter(replica: Replica, request: UpdateRaftVoterRequest): RaftResponse {
  return updateVoterResponse(replica, updateVoter(replica, request))
}

function updateVoter(replica: Replica, request: UpdateRaftVoterRequest): ErrorCode {
  if (!isOurCluster(replica, request.clusterId)) return ErrorCode.inconsistentClusterId
  const errorCode = errorOfLeaderRequest(replica, request.currentLeaderEpoch)
  const { role, history } = replica
  if (errorCode !== ErrorCode.none || role.type !== 'leader') return errorCode
  const { kraftVersionFeature: range } = request
  const isValid = range.minSupportedVersion >= 0 && range.maxSupportedVersion >= range.minSupportedVersion
  if (request.voterId < 0 || request.voterDirectoryId === zeroUuid || !isValid) return ErrorCode.invalidRequest
  if (!hasListener(replica, request.listeners)) return ErrorCode.invalidRequest
  const voter: Voter = {
    id: request.voterId,
    directoryId: request.voterDirectoryId,
    endpoints: request.listeners,
    kraftVersionFeature: range,
  }
  if (!supports(range, history.kraftVersion)) return ErrorCode.invalidRequest
  const voters = history.voters.updated(voter)
  if (history.kraftVersion === 0) {
    if (voters !== undefined) role.updatedVoters.set(voter.id, voter)
    return voters === undefined ? ErrorCode.voterNotFound : ErrorCode.none
  }
  const refusal = refusalOfChange(replica)
  if (refusal !== undefined) return refusal.errorCode
  if (voters === undefined) return ErrorCode.voterNotFound
  appendControlRecords(replica, [{ type: 'kraftVoters', value: voters.toRecord() }])
  return ErrorCode.none
}

export function pollVoterChange(replica: Replica, role: Leader, now: Now): void {
  const change = role.voterChange
  if (change === undefined) return
  if (change.votersOffset !== undefined && (role.highWatermark ?? -1) > change.votersOffset) {
    finish(replica, role, ErrorCode.none)
  } else if (now.monotonicMs >= change.deadlineMs) {
    finish(replica, role, ErrorCode.requestTimedOut, 'the change did not finish in time; it may still')
  }
}

function appendChange(replica: Replica, role: Leader, change: VoterChange, voters: VoterSet): void {
  change.votersOffset = appendControlRecords(replica, [{ type: 'kraftVoters', value: voters.toRecord() }])
  if (change.answersEarly) finish(replica, role, ErrorCode.none)
}

function finish(replica: Replica, role: Leader, errorCode: ErrorCode, message: string | null = null): void {
  const change = role.voterChange
  assert(change !== undefined, 'a voter change is under way')
  role.voterChange = undefined
  answerChange(replica, change, errorCode, message)
}

export function answerChange(
  replica: Replica,
  { type, requestId }: VoterChange,
  errorCode: ErrorCode,
  message: string | null,
): void {
  if (type === 'upgrade') {
    replica.outbox.push({ type: 'kraftVersionUpgraded', upgradeId: requestId, errorCode, message })
    return
  }
  const api = type === 'add' ? 'addRaftVoter' : 'removeRaftVoter'
  replica.reply(requestId, voterChangeResponse(api, errorCode, message))
}

export const notLeader: Refusal = { errorCode: ErrorCode.notLeaderOrFollower, message: 'this node is not the leader' }

function refusalOfRequest(
  replica: Replica,
  request: { clusterId: string | null; voterId: number; voterDirectoryId: string },
): Refusal | undefined {
  if (!isOurCluster(replica, request.clusterId)) {
    return { errorCode: ErrorCode.inconsistentClusterId, message: `this is cluster ${replica.config.clusterId}` }
  }
  const errorCode = errorOfLeaderRequest(replica, replica.epoch)
  if (errorCode === ErrorCode.brokerNotAvailable) return { errorCode, message: 'the leader is shutting down' }
  if (errorCode !== ErrorCode.none) return notLeader
  if (request.voterId < 0 || request.voterDirectoryId === zeroUuid) {
    return { errorCode: ErrorCode.invalidRequest, message: 'a voter is named by its id and directory id' }
  }
  return undefined
}

/** Why the voter set cannot be changed now, whatever the change. */
function refusalOfChange(replica: Replica): Refusal | undefined {
  const { role, history } = replica
  if (role.type !== 'leader') return notLeader
  const open = openChangeRefusal(replica, role)
  if (open !== undefined || history.kraftVersion >= 1) return open
  return { errorCode: ErrorCode.unsupportedVersion, message: 'voters can change from kraft.version 1 on' }
}

/** One change at a time, each committed before the next, and none before this epoch has committed. */
export function openChangeRefusal({ history }: Replica, role: Leader): Refusal | undefined {
  if (role.voterChange !== undefined) {
    return { errorCode: ErrorCode.requestTimedOut, message: 'another voter change is under way' }
  }
  if (role.highWatermark === undefined) {
    return { errorCode: ErrorCode.requestTimedOut, message: 'the leader has not committed in its epoch yet' }
  }
  if (history.votersOffset >= role.highWatermark) {
    return { errorCode: ErrorCode.requestTimedOut, message: 'the last voter change has not committed' }
  }
  return undefined
}

/** A voter that lags behind would hold up every commit. */
function isCaughtUp(replica: Replica, role: Leader, { key }: VoterChange, now: Now): boolean {
  const progress = role.progress.of(key)
  if (progress === undefined || progress.lastCaughtUpMs < 0) return false
  return now.monotonicMs - progress.lastCaughtUpMs <= 2 * replica.config.fetchTimeoutMs
}

export function supports(range: VersionRange, version: number): boolean {
  return range.minSupportedVersion <= version && version <= range.maxSupportedVersion
}

function hasListener(replica: Replica, listeners: readonly Endpoint[]): boolean {
  return listeners.some(({ name }) => name === replica.config.listenerName)
}
