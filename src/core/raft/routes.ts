import { unreachable } from '../../base/assert.ts'
import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import type { QuorumEvent } from './events.ts'
import { handleFetch } from './fetch-server.ts'
import { handleFetchResponse } from './follower.ts'
import { handleUpdateVoterResponse } from './membership.ts'
import type { RaftResponse } from './messages.ts'
import type { OpenRequest } from './open-requests.ts'
import { handleBeginQuorumEpoch, handleEndQuorumEpoch, handleQuorumEpochResponse } from './quorum-epochs.ts'
import type { Replica } from './replica.ts'
import { refusal } from './responses.ts'
import { handleFetchSnapshotResponse } from './snapshot-fetch.ts'
import { handleFetchSnapshot } from './snapshot-server.ts'
import {
  handleAddRaftVoter,
  handleApiVersions,
  handleApiVersionsFailed,
  handleRemoveRaftVoter,
  handleUpdateRaftVoter,
} from './voter-changes.ts'
import { handleVoteRequest, handleVoteResponse, handleVoteUnsupported } from './votes.ts'

export function handleRequest(replica: Replica, event: QuorumEvent & { type: 'request' }, now: Now): void {
  replica.requested(event.requestId, event.apiVersion)
  const response = responseTo(replica, event, now)
  if (response !== undefined) replica.reply(event.requestId, response)
}

/** The answer, or undefined when it follows later. */
function responseTo(replica: Replica, event: QuorumEvent & { type: 'request' }, now: Now): RaftResponse | undefined {
  const { requestId } = event
  switch (event.api) {
    case 'vote':
      return handleVoteRequest(replica, event.request, now)
    case 'beginQuorumEpoch':
      return handleBeginQuorumEpoch(replica, event.request, now)
    case 'endQuorumEpoch':
      return handleEndQuorumEpoch(replica, event.request, now)
    case 'fetch':
      // Older versions carry neither epochs nor where logs diverge: not what replicas of this log can work with.
      if (event.apiVersion < 12) return refusal('fetch', ErrorCode.unsupportedVersion)
      return handleFetch(replica, requestId, event.request, now)
    case 'fetchSnapshot':
      return handleFetchSnapshot(replica, requestId, event.request, now)
    case 'addRaftVoter':
      return handleAddRaftVoter(replica, requestId, event.request, now)
    case 'removeRaftVoter':
      return handleRemoveRaftVoter(replica, requestId, event.request, now)
    case 'updateRaftVoter':
      return handleUpdateRaftVoter(replica, event.request)
    case 'apiVersions':
      return undefined
    default:
      return unreachable(event)
  }
}

export function handleResponse(replica: Replica, event: QuorumEvent & { type: 'response' }, now: Now): void {
  const answered = replica.open.close(event.correlationId)
  // Forgotten meanwhile, or answered by another API than was asked: nothing to go by.
  if (answered === undefined || answered.api !== event.api) return
  const isUsed = useResponse(replica, answered, event, now)
  if (isUsed) replica.open.succeeded(answered)
  else replica.open.failed(answered, now.monotonicMs)
}

/** False: there was nothing to use, and asking again at once would bring the same. */
function useResponse(
  replica: Replica,
  answered: OpenRequest,
  event: QuorumEvent & { type: 'response' },
  now: Now,
): boolean {
  switch (event.api) {
    case 'vote':
      return handleVoteResponse(replica, answered, event.response, now)
    case 'beginQuorumEpoch':
    case 'endQuorumEpoch':
      return handleQuorumEpochResponse(replica, answered, event.response, now)
    case 'fetch':
      return handleFetchResponse(replica, answered, event.response, event.batches ?? [], now)
    case 'fetchSnapshot':
      return handleFetchSnapshotResponse(replica, event.response, now)
    case 'updateRaftVoter':
      return handleUpdateVoterResponse(replica, event.response, now)
    case 'addRaftVoter':
    case 'removeRaftVoter':
      return true
    case 'apiVersions':
      return handleApiVersions(replica, event.response, now)
    default:
      return unreachable(event)
  }
}

export function handleRequestFailed(replica: Replica, event: QuorumEvent & { type: 'requestFailed' }, now: Now): void {
  const failed = replica.open.close(event.correlationId)
  if (failed === undefined) return
  replica.open.failed(failed, now.monotonicMs)
  if (failed.api === 'vote' && event.unsupportedVersion) handleVoteUnsupported(replica, now)
  if (failed.api === 'apiVersions') handleApiVersionsFailed(replica)
}
