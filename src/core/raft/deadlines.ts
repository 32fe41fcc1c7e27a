import { beginDueMs, checkQuorumDeadlineMs } from './leader.ts'
import type { Replica } from './replica.ts'
import type { Leader } from './roles.ts'

/**
 * The next time (monotonic ms, after `nowMs`) at which something is due. What was due by `nowMs` has been looked at: if
 * it did not happen it waits for something else than time.
 */
export function nextDeadlineAfter(replica: Replica, nowMs: number): number | undefined {
  let next = replica.open.nextDeadlineMs(nowMs)
  for (const deadlineMs of deadlinesOfRole(replica)) if (deadlineMs > nowMs) next = Math.min(next, deadlineMs)
  const { shutdownDeadlineMs } = replica
  if (shutdownDeadlineMs !== undefined && shutdownDeadlineMs > nowMs) next = Math.min(next, shutdownDeadlineMs)
  return Number.isFinite(next) ? next : undefined
}

function deadlinesOfRole(replica: Replica): number[] {
  const { role } = replica
  switch (role.type) {
    case 'unattached':
    case 'prospective':
    case 'candidate':
    case 'resigned':
      return [role.electionDeadlineMs]
    case 'follower':
      return [role.fetchDeadlineMs, role.updateVoterDeadlineMs]
    case 'leader':
      return deadlinesOfLeader(replica, role)
  }
}

function deadlinesOfLeader(replica: Replica, role: Leader): number[] {
  const deadlines = [checkQuorumDeadlineMs(replica, role)]
  for (const { id } of replica.history.voters.voters) {
    if (id !== replica.key.id) deadlines.push(beginDueMs(replica, role, id))
  }
  for (const fetch of role.waitingFetches.values()) deadlines.push(fetch.deadlineMs)
  if (role.voterChange !== undefined) deadlines.push(role.voterChange.deadlineMs)
  return deadlines
}
