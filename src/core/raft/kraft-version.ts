import { assert } from '../../base/assert.ts'
import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import { zeroUuid } from '../../base/uuid.ts'
import { appendControlRecords } from './commit.ts'
import { voterOf } from './config.ts'
import type { QuorumEvent } from './events.ts'
import type { Replica } from './replica.ts'
import type { Leader } from './roles.ts'
import { notLeader, openChangeRefusal, type Refusal, supports } from './voter-changes.ts'
import { type Voter, VoterSet } from './voters.ts'

/*
 * From kraft.version 0, where the voters are what each node's configuration says, to 1, where they are in the log, with their
 * directories. The new set is the old one: the same nodes, each as it has told this leader of itself (UpdateRaftVoter).
 */

type Upgrade = QuorumEvent & { readonly type: 'upgradeKraftVersion' }

/** Answered by `kraftVersionUpgraded`: at once, or once the records are committed. */
export function handleUpgradeKraftVersion(replica: Replica, event: Upgrade, now: Now): void {
  const { upgradeId, kraftVersion, validateOnly } = event
  const { role, history } = replica
  const voters = upgradedVoters(replica, event)
  const isDone = kraftVersion === history.kraftVersion || validateOnly
  if (!(voters instanceof VoterSet) || isDone) {
    const refusal = voters instanceof VoterSet ? { errorCode: ErrorCode.none, message: null } : voters
    replica.outbox.push({ type: 'kraftVersionUpgraded', upgradeId, ...refusal })
    return
  }
  assert(role.type === 'leader', 'only a leader appends')
  const baseOffset = appendControlRecords(replica, [
    { type: 'kraftVersion', value: { version: 0, kraftVersion } },
    { type: 'kraftVoters', value: voters.toRecord() },
  ])
  role.voterChange = {
    type: 'upgrade',
    requestId: upgradeId,
    key: replica.key,
    endpoints: [],
    deadlineMs: now.monotonicMs + replica.config.requestTimeoutMs,
    answersEarly: false,
    correlationId: -1,
    votersOffset: baseOffset + 1,
  }
}

/** The voters as the new version has them, or why it cannot be. */
function upgradedVoters(replica: Replica, { leaderEpoch, kraftVersion }: Upgrade): VoterSet | Refusal {
  const { role, history, config, key } = replica
  if (role.type !== 'leader' || leaderEpoch !== replica.epoch || replica.shutdownDeadlineMs !== undefined)
    return notLeader
  const open = openChangeRefusal(replica, role)
  if (open !== undefined) return open
  const current = history.kraftVersion
  const invalid = (why: string): Refusal => {
    return { errorCode: ErrorCode.invalidUpdateVersion, message: `kraft.version ${current} to ${kraftVersion}: ${why}` }
  }
  if (kraftVersion === current) return history.voters
  if (kraftVersion < current) return invalid('it cannot be lowered')
  const voters = history.voters.voters.map(({ id }) => (id === key.id ? voterOf(config) : toldBy(role, id)))
  const known = voters.filter(voter => voter !== undefined)
  if (known.length < voters.length) return invalid('not all voters have told this leader who they are')
  const lacking = known.find(({ kraftVersionFeature }) => !supports(kraftVersionFeature, kraftVersion))
  if (lacking !== undefined) return invalid(`voter ${lacking.id} does not support it`)
  return new VoterSet(known)
}

/** As that voter has told of itself, if it is the one that fetches: another directory of that node would be none of the voters. */
function toldBy(role: Leader, id: number): Voter | undefined {
  const voter = role.updatedVoters.get(id)
  const fetching = role.progress.of({ id, directoryId: zeroUuid })
  return voter !== undefined && fetching?.key.directoryId === voter.directoryId ? voter : undefined
}
