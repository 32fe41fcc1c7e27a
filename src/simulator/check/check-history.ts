import type { History } from '../history/history.ts'
import type { Plan } from '../plan.ts'
import type { Violations } from '../violations.ts'
import { checkAges } from './check-ages.ts'
import { checkCompaction } from './check-compaction.ts'
import { checkGroups } from './check-groups.ts'
import { checkIds } from './check-ids.ts'
import { checkLog } from './check-log.ts'
import { checkOffline } from './check-offline.ts'
import { checkOrder } from './check-order.ts'
import { checkReaders } from './check-readers.ts'
import { checkRetention } from './check-retention.ts'
import type { Truth } from './partition-truth.ts'

export interface CheckInput {
  readonly history: History
  /** What every partition holds in the end. */
  readonly truth: Truth
  readonly violations: Violations
  readonly plan: Pick<Plan, 'flush' | 'topics'> & Partial<Pick<Plan, 'faults' | 'clients'>>
}

/** Everything that a history alone can show. */
export function checkHistory(input: CheckInput): void {
  checkLog(input)
  checkOrder(input)
  checkIds(input)
  checkGroups(input)
  checkReaders(input)
  checkOffline(input)
  checkRetention(input)
  checkAges(input)
  checkCompaction(input)
}
