import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import type { UpdateRaftVoterResponse } from '../../protocol/messages/update-raft-voter.ts'
import { voterOf } from './config.ts'
import { useOfAnswer } from './epochs.ts'
import type { Destination } from './events.ts'
import type { Replica } from './replica.ts'
import { addRaftVoterRequest, removeRaftVoterRequest, updateRaftVoterRequest } from './requests.ts'
import type { Follower } from './roles.ts'
import { needsUpdate } from './voters.ts'

/** Once in a while a follower looks whether its place in the voter set is right, and asks the leader to mend it. */
export function pollMembership(replica: Replica, role: Follower, leader: Destination, now: Now): void {
  if (now.monotonicMs < role.updateVoterDeadlineMs || role.snapshot !== undefined) return
  role.updateVoterDeadlineMs = now.monotonicMs + replica.config.fetchTimeoutMs
  if (replica.open.isWaitingFor('updateRaftVoter', 'addRaftVoter', 'removeRaftVoter')) return
  if (replica.isVoter) {
    if (isEntryStale(replica, role)) replica.send(leader, updateRaftVoterRequest(replica), now)
  } else if (mayJoin(replica)) {
    const entry = replica.history.voters.withId(replica.key.id)
    // The same node with another directory was a voter: its disk is gone, so that voter will not come back.
    const request = entry === undefined ? addRaftVoterRequest(replica) : removeRaftVoterRequest(replica, entry)
    replica.send(leader, request, now)
  }
}

function isEntryStale(replica: Replica, role: Follower): boolean {
  const { history, config } = replica
  if (history.kraftVersion === 0) return !role.hasUpdatedLeader
  const entry = history.voters.withId(config.nodeId)
  return entry !== undefined && needsUpdate(entry, voterOf(config))
}

/** A voter that was removed does not come back by itself: somebody took it out, and only they can say why. */
function mayJoin(replica: Replica): boolean {
  const { config, history, key } = replica
  if (!config.isController || !config.autoJoin || history.kraftVersion < 1) return false
  return !history.hasListed(key)
}

export function handleUpdateVoterResponse(replica: Replica, response: UpdateRaftVoterResponse, now: Now): boolean {
  const { leaderId, leaderEpoch, host, port } = response.currentLeader
  const endpoints = host === '' ? [] : [{ name: replica.config.listenerName, host, port }]
  const { errorCode } = response
  if (leaderEpoch < 0) return true
  useOfAnswer(replica, { leaderId, leaderEpoch, errorCode, endpoints }, now)
  if (replica.role.type === 'follower' && errorCode === ErrorCode.none) replica.role.hasUpdatedLeader = true
  return true
}
