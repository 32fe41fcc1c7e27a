import { recordVersion } from '../features.ts'
import { LeaderRecoveryState, noLeader, type PartitionImage } from '../partition-image.ts'
import type { RecordOf } from '../records.ts'
import type { ElectionRules } from './controller-state.ts'

type PartitionChange = RecordOf<'partitionChange'>

export interface WantedChange {
  readonly isr: readonly number[]
  /** Whether a broker is, or will be after this decision, fit to lead. */
  readonly mayLead: (brokerId: number) => boolean
  readonly rules: ElectionRules
  readonly metadataVersion: number
  /** A broker that came back without what it had not synced: it may not be eligible any more. */
  readonly uncleanBroker?: number
  /** What the leader says of its recovery. */
  readonly leaderRecoveryState?: number
}

/** A change that changes nothing but its partition's epoch. */
export function partitionChange(partition: PartitionImage, metadataVersion: number): PartitionChange {
  return {
    type: 'partitionChange',
    version: recordVersion('partitionChange', metadataVersion),
    partitionId: partition.partition,
    topicId: partition.topicId,
    isr: null,
    leader: -2,
    replicas: null,
    removingReplicas: null,
    addingReplicas: null,
    leaderRecoveryState: -1,
    directories: null,
    eligibleLeaderReplicas: null,
    lastKnownElr: null,
  }
}

interface Election {
  readonly leader: number
  readonly isUnclean: boolean
}

/**
 * The record that gives a partition the wanted in-sync replicas and a leader among them, if it is different from now.
 *
 * Without eligible leader replicas (ELR) the last in-sync replica stays in the ISR when it goes: it may lead again when it
 * is back. With them the ISR may become empty, and those that leave it while it is below its minimum are eligible.
 */
export function decidePartitionChange(partition: PartitionImage, wanted: WantedChange): PartitionChange | undefined {
  const { rules, metadataVersion } = wanted
  let elr = rules.usesElr ? eligibleReplicas(partition, wanted) : []
  const election = elect(partition, elr, wanted)
  let isr: readonly number[] = wanted.isr
  if (election.isUnclean) {
    isr = [election.leader]
    elr = []
  } else if (elr.includes(election.leader)) {
    isr = [election.leader]
    elr = elr.filter(id => id !== election.leader)
  } else if (isr.length === 0 && !rules.usesElr) {
    isr = partition.isr
  }

  const isNewLeader = election.leader !== partition.leader
  const change: PartitionChange = {
    ...partitionChange(partition, metadataVersion),
    isr: isSame(isr, partition.isr) ? null : isr,
    leader: isNewLeader ? election.leader : -2,
    leaderRecoveryState: recoveryState(partition, election, wanted),
    eligibleLeaderReplicas: isSame(elr, partition.elr) ? null : elr,
    lastKnownElr: lastKnownLeader(partition, election, rules),
  }
  return isNothing(change) ? undefined : change
}

/** Those that were in sync or eligible and are not in sync now, while too few are; none that may have lost what it had. */
function eligibleReplicas(partition: PartitionImage, { isr, rules, uncleanBroker }: WantedChange): readonly number[] {
  if (isr.length >= Math.min(rules.minInsyncReplicas, partition.replicas.length)) return []
  const candidates = new Set([...partition.elr, ...partition.isr])
  return [...candidates].filter(id => !isr.includes(id) && id !== uncleanBroker)
}

/** The leader stays if it can; else the first replica that has everything; else, where losing data is allowed, any. */
function elect(partition: PartitionImage, elr: readonly number[], { isr, mayLead, rules }: WantedChange): Election {
  const isSafe = (id: number) => (isr.includes(id) || elr.includes(id)) && mayLead(id)
  if (isSafe(partition.leader)) return { leader: partition.leader, isUnclean: false }
  const safe = partition.replicas.find(isSafe)
  if (safe !== undefined) return { leader: safe, isUnclean: false }
  const lastKnown = lastLeader(partition, isr, elr, rules)
  if (lastKnown !== undefined && mayLead(lastKnown)) return { leader: lastKnown, isUnclean: true }
  const any = rules.allowsUnclean ? partition.replicas.find(mayLead) : undefined
  return any === undefined ? { leader: noLeader, isUnclean: false } : { leader: any, isUnclean: true }
}

/** Where nobody is in sync or eligible any more, the last leader is the best there is. */
function lastLeader(
  { lastKnownElr }: PartitionImage,
  isr: readonly number[],
  elr: readonly number[],
  { usesElr }: ElectionRules,
): number | undefined {
  return usesElr && isr.length === 0 && elr.length === 0 && lastKnownElr.length === 1 ? lastKnownElr[0] : undefined
}

/** -1: as before. */
function recoveryState(partition: PartitionImage, { leader, isUnclean }: Election, wanted: WantedChange): number {
  const before = partition.leaderRecoveryState
  const isUncleanlyElected = isUnclean && leader !== partition.leader
  const after = isUncleanlyElected ? LeaderRecoveryState.recovering : (wanted.leaderRecoveryState ?? before)
  return after === before ? -1 : after
}

/** Remembered when a partition loses its leader, forgotten when it has one; null: as before. */
function lastKnownLeader(partition: PartitionImage, { leader }: Election, { usesElr }: ElectionRules) {
  if (!usesElr) return partition.lastKnownElr.length > 0 ? [] : null
  if (leader === noLeader && partition.leader !== noLeader) {
    return partition.lastKnownElr.length === 0 ? [partition.leader] : null
  }
  return leader !== noLeader && partition.lastKnownElr.length > 0 ? [] : null
}

function isSame(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((id, index) => id === other[index])
}

function isNothing(change: PartitionChange): boolean {
  return (
    change.isr === null &&
    change.leader === -2 &&
    change.leaderRecoveryState === -1 &&
    change.eligibleLeaderReplicas === null &&
    change.lastKnownElr === null
  )
}
