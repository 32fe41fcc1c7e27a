import type { SegmentedLog } from '../../storage/segmented-log.ts'
import type { Truth } from '../check/partition-truth.ts'
import { partitionKey } from '../check/partition-truth.ts'
import type { SimulatedBroker } from '../cluster/simulated-broker.ts'
import type { World } from '../io/world.ts'
import { type Plan, plannedTopics } from '../plan.ts'
import type { Violations } from '../violations.ts'
import { checkLookups, checkProducers, type KnownProducers, scanLog } from './audit-log.ts'
import { auditMetadata } from './audit-metadata.ts'
import { checkTransactions } from './audit-transactions.ts'
import { openCopy } from './opened-copy.ts'

export interface AuditParts {
  readonly world: World
  readonly plan: Plan
  readonly broker: SimulatedBroker
  readonly truth: Truth
  readonly violations: Violations
  /** The metadata as the broker held it when it closed. */
  readonly liveImage: readonly string[] | undefined
  /** By partition: what the broker knew of producers when nobody wrote any more. */
  readonly liveProducers: ReadonlyMap<string, KnownProducers>
}

/**
 * The cold audit: the disk of a broker that was shut down is opened by storage alone, once as it was left and once with the
 * batches only. Both are the same, hold what readers were given, and agree with a scan in all they know.
 */
export async function auditDisk(parts: AuditParts): Promise<void> {
  const { world, plan, broker, violations, truth, liveImage, liveProducers } = parts
  const snapshot = broker.node.disk.snapshot()
  auditMetadata(broker.node.disk.files(), liveImage, violations)
  const compacted = new Set(plannedTopics(plan).flatMap(topic => (topic.isCompacted === true ? [topic.name] : [])))
  const isCompacted = (topic: string) => compacted.has(topic) || topic.startsWith('__')
  const { logDirs, transactions } = plan
  const random = world.random('audit')
  const asLeft = await openCopy(world, snapshot, { logDirs, kind: 'asLeft', isCompacted })
  const fromBatches = await openCopy(world, snapshot, { logDirs, kind: 'fromBatches', isCompacted })
  const unopened = asLeft.logs.unopened
  for (const { directory, name, reason } of unopened)
    violations.add('I51', `${directory}/${name} cannot be opened: ${reason}`)
  for (const log of asLeft.logs.logs) {
    if (broker.ledger.isDamaged(log.topicId, log.partition)) continue
    const other = fromBatches.logs.get(log.topicId, log.partition)
    const scanned = await scanLog(log, violations)
    if (scanned === undefined) continue
    await checkLookups(log, scanned, violations)
    checkProducers(log, scanned, violations)
    const isTransactional = log.topic === transactions?.topic.name
    if (isTransactional) await checkTransactions(log, scanned, random, violations)
    const live = liveProducers.get(partitionKey(log.topicId, log.partition))
    if (live !== undefined) checkProducers(log, scanned, violations, live)
    checkTruth(log, truth, violations)
    if (other === undefined) violations.add('I51', `${log.topic}-${log.partition} is lost when it is recovered`)
    else {
      compareLogs(log, other, violations)
      const again = await scanLog(other, violations)
      if (again === undefined) continue
      await checkLookups(other, again, violations)
      checkProducers(other, again, violations)
      if (isTransactional) await checkTransactions(other, again, random, violations)
    }
  }
  for (const { path, position, reason } of [...asLeft.damage, ...fromBatches.damage])
    if (!broker.ledger.hasDamage) violations.add('I51', `${path} is damaged at ${position}: ${reason}`)
}

/** What readers were given last is what there is. */
function checkTruth(log: SegmentedLog, truth: Truth, violations: Violations): void {
  const read = truth.get(partitionKey(log.topicId, log.partition))
  if (read === undefined) return
  const name = `${log.topic}-${log.partition}`
  if (log.logEndOffset < read.logEndOffset)
    violations.add(
      'I51',
      `${name} ended at ${read.logEndOffset} for readers, and ends at ${log.logEndOffset} once it is closed`,
    )
  if (log.logStartOffset < read.logStartOffset)
    violations.add(
      'I56',
      `${name} began at ${read.logStartOffset} for readers, and begins at ${log.logStartOffset} once it is closed`,
    )
}

function compareLogs(log: SegmentedLog, other: SegmentedLog, violations: Violations): void {
  const name = `${log.topic}-${log.partition}`
  if (log.logEndOffset !== other.logEndOffset || log.logStartOffset !== other.logStartOffset) {
    const text = `${name} is ${log.logStartOffset}..${log.logEndOffset} as it was left and ${other.logStartOffset}..${other.logEndOffset} recovered`
    violations.add('I51', text)
  }
  const segments = (one: SegmentedLog) =>
    one.inspect().segments.map(({ baseOffset, sizeBytes }) => `${baseOffset}:${sizeBytes}`)
  const [left, recovered] = [segments(log).join(), segments(other).join()]
  if (left !== recovered)
    violations.add('I51', `${name} has segments ${left} as it was left and ${recovered} recovered`)
}
