import type { Checker } from './checker.ts'
import type { ClusterState, TopicRules } from './cluster-controller.ts'
import type { World } from './world.ts'

/** What must hold of the metadata alone, whatever happens (I12, I19). */
export function checkShape(
  checker: Checker,
  { replicas, minInsyncReplicas, usesElr }: TopicRules,
  before: ClusterState | undefined,
  { partition: after, brokers }: ClusterState,
): void {
  const { isr, elr, leader } = after
  const fail = (what: string) => checker.fail(`${what}: leader ${leader}, in sync ${isr}, eligible ${elr}`)
  if (![...isr, ...elr].every(id => replicas.includes(id))) fail('who is no replica is in sync')
  if (new Set([...isr, ...elr]).size !== isr.length + elr.length) fail('one replica twice')
  if (isr.length >= Math.min(minInsyncReplicas, replicas.length) && elr.length > 0) fail('enough are in sync')
  if (leader >= 0 && !isr.includes(leader)) fail('a leader that is not in sync')
  const isServing = (id: number) => brokers.get(id)?.fenced === false
  if (usesElr && !isr.every(isServing)) fail('who is out of service is in sync')
  if (before === undefined) return
  const grows = after.partitionEpoch >= before.partition.partitionEpoch
  if (!grows || after.leaderEpoch < before.partition.leaderEpoch) fail('epochs fall')
}

/** Who has joined the in-sync replicas has caught up; who may have lost something comes in no other way (I14). */
export function checkJoined(checker: Checker, world: World, before: ClusterState, after: ClusterState): void {
  const was = before.partition
  const { isr, elr, leaderEpoch } = after.partition
  const isAlteration = leaderEpoch === was.leaderEpoch
  for (const id of isr) {
    if (isAlteration && !was.isr.includes(id)) checker.ledger.joined(id, after.brokers.get(id)!.epoch)
  }
  // The last leader known is elected again where nobody else is left, whatever happened to it.
  if (!world.rules.usesElr || after.partition.isRecovering) return
  for (const [id, { epoch }] of after.brokers) {
    const isNewLife = epoch !== before.brokers.get(id)?.epoch
    if (isNewLife && checker.ledger.mayHaveLost(id) && [...isr, ...elr].includes(id)) {
      checker.fail(`${id} may have lost what it had, and may be elected`)
    }
  }
}
