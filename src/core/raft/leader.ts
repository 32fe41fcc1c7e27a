import { assert } from '../../base/assert.ts'
import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import { zeroUuid } from '../../base/uuid.ts'
import type { ControlRecord } from '../../protocol/control-record.ts'
import { advanceHighWatermark, appendControlRecords } from './commit.ts'
import { voterOf } from './config.ts'
import { expireWaitingFetches, wakeWaitingFetches } from './fetch-server.ts'
import type { Replica } from './replica.ts'
import { beginQuorumEpochRequest } from './requests.ts'
import { fetchResponse, fetchSnapshotResponse } from './responses.ts'
import type { Leader } from './roles.ts'
import { answerChange, pollVoterChange } from './voter-changes.ts'
import { isReplica, needsUpdate, type Voter } from './voters.ts'

/** A majority must have been heard from within 1.5 fetch timeouts: some of it is network and disk. */
const checkQuorumFactor = 1.5

export function pollLeader(replica: Replica, role: Leader, now: Now): void {
  if (!role.hasStarted && replica.outbox.isPersisted) startEpoch(replica, role)
  advanceHighWatermark(replica, role)
  wakeWaitingFetches(replica, role)
  pollVoterChange(replica, role, now)
  const isShuttingDown = replica.shutdownDeadlineMs !== undefined
  if (isShuttingDown || isRemoved(replica, role) || now.monotonicMs >= checkQuorumDeadlineMs(replica, role)) {
    resign(replica, role, now)
    return
  }
  expireWaitingFetches(replica, role, now)
  sendBegin(replica, role, now)
}

export function resign(replica: Replica, role: Leader, now: Now): void {
  replica.becomeResigned(role.progress.byLogEndOffset(replica.history.voters, replica.key), now)
}

/** The first batch of an epoch: without a record of its own a leader cannot know what has committed. */
function startEpoch(replica: Replica, role: Leader): void {
  assert(replica.log.logEndOffset === role.epochStartOffset, 'an epoch starts where the log ended')
  const { history, key } = replica
  // Version 0 of the record has no directory ids.
  const asEntry = ({ id }: Voter) => ({ voterId: id, voterDirectoryId: zeroUuid })
  const records: ControlRecord[] = [
    {
      type: 'leaderChange',
      value: {
        version: 0,
        leaderId: key.id,
        voters: history.voters.voters.map(asEntry),
        grantingVoters: role.grantingVoters.map(asEntry),
      },
    },
  ]
  const own = voterOf(replica.config)
  const entry = history.voters.withId(key.id)
  if (history.kraftVersion >= 1 && entry !== undefined && isReplica(entry, key)) {
    if (history.votersOffset === -1 || needsUpdate(entry, own)) {
      const voters = history.voters.updated(own)
      assert(voters !== undefined, 'a leader is elected as a voter')
      records.push({ type: 'kraftVersion', value: { version: 0, kraftVersion: history.kraftVersion } })
      records.push({ type: 'kraftVoters', value: voters.toRecord() })
    }
  }
  appendControlRecords(replica, records)
  role.hasStarted = true
}

/** The voter set without this leader has committed: its work is done. */
function isRemoved(replica: Replica, role: Leader): boolean {
  return !replica.isVoter && (role.highWatermark ?? -1) > replica.history.votersOffset
}

export function checkQuorumDeadlineMs(replica: Replica, role: Leader): number {
  const heardMs = role.progress.majorityHeardMs(replica.history.voters, replica.key, role.sinceMs)
  return heardMs + checkQuorumFactor * replica.config.fetchTimeoutMs
}

function sendBegin(replica: Replica, role: Leader, now: Now): void {
  for (const voter of replica.history.voters.voters) {
    if (isReplica(voter, replica.key)) continue
    const to = { type: 'node', id: voter.id, endpoints: voter.endpoints } as const
    if (
      now.monotonicMs < beginDueMs(replica, role, voter.id) ||
      !replica.open.isFree('beginQuorumEpoch', to, now.monotonicMs)
    ) {
      continue
    }
    role.lastBeginMs.set(voter.id, now.monotonicMs)
    replica.send(to, beginQuorumEpochRequest(replica, voter), now)
  }
}

/** At once and until it answers; afterwards when it has not fetched for half a fetch timeout. */
export function beginDueMs(replica: Replica, role: Leader, voterId: number): number {
  const lastMs = role.lastBeginMs.get(voterId)
  if (lastMs === undefined) return role.sinceMs
  if (!role.acknowledged.has(voterId)) return lastMs
  const voter = replica.history.voters.withId(voterId)
  const fetchedMs = voter === undefined ? undefined : role.progress.of(voter)?.lastFetchMs
  return Math.max(lastMs, fetchedMs ?? lastMs) + replica.config.fetchTimeoutMs / 2
}

/** A leadership that ended answers all that wait for it: somebody else will do it now. */
export function answerEndedLeadership(replica: Replica, ended: Leader): void {
  const errorCode = ErrorCode.notLeaderOrFollower
  for (const requestId of ended.waitingFetches.keys()) {
    replica.reply(requestId, fetchResponse(replica, { errorCode }))
  }
  for (const [requestId, read] of ended.openReads) {
    const answer = read.type === 'log' ? fetchResponse : fetchSnapshotResponse
    replica.reply(requestId, answer(replica, { errorCode }))
  }
  if (ended.voterChange !== undefined) answerChange(replica, ended.voterChange, errorCode, null)
}
