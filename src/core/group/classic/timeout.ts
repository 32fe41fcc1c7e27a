import type { GroupConfig } from '../config.ts'
import type { Draft } from '../draft.ts'
import type { GroupStore } from '../group-store.ts'
import { decideExpiry } from '../offsets/expire.ts'
import type { ClassicGroup } from './group.ts'
import { completeJoin, dropMember, joinPhaseTimedOut, rebalance, syncPhaseTimedOut } from './rebalance.ts'

/** What falls due first. Every decision moves or clears that deadline. */
export function decideTimeout(store: GroupStore, draft: Draft, config: GroupConfig): Draft {
  const earliest = store.earliestDue()
  if (earliest === undefined || earliest.atMs > draft.now.monotonicMs) return draft
  const { due } = earliest
  if (due.type === 'expiryRound') return decideExpiry(store, draft, config)
  const live = store.group(due.groupId)!
  switch (due.type) {
    case 'session':
      sessionTimedOut(live, due.memberId, draft, config)
      break
    case 'join':
      joinPhaseTimedOut(draft.edit(live), draft, config.initialRebalanceDelayMs)
      break
    case 'sync':
      syncPhaseTimedOut(draft.edit(live), draft, config.initialRebalanceDelayMs)
      break
  }
  return draft
}

function sessionTimedOut(live: ClassicGroup, memberId: string, draft: Draft, config: GroupConfig): void {
  const { groupId } = live
  draft.endSession(groupId, memberId)
  if (live.pendingJoins.has(memberId)) {
    const group = draft.edit(live)
    group.remove(memberId)
    if (group.state === 'PreparingRebalance' && group.hasAllMembersJoined) completeJoin(group, draft)
    return
  }
  const member = live.members.get(memberId)
  if (member === undefined) return
  // Whoever waits for an answer is here, except for a newcomer, whose request has waited too long.
  if (!member.isNew && (member.awaitingJoin !== undefined || member.awaitingSync !== undefined)) return
  const group = draft.edit(live)
  dropMember(group, draft, member)
  draft.effects.push({ type: 'memberFailed', groupId, memberId, reason: 'session timed out' })
  if (group.state === 'PreparingRebalance') {
    if (group.hasAllMembersJoined) completeJoin(group, draft)
  } else {
    rebalance(group, draft, config.initialRebalanceDelayMs, `member ${memberId} was not heard of`)
  }
}
