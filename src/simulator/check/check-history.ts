import type { History } from '../history/history.ts'
import type { Plan } from '../plan.ts'
import type { Violations } from '../violations.ts'
import { checkLog } from './check-log.ts'
import type { Truth } from './partition-truth.ts'

export interface CheckInput {
  readonly history: History
  /** What every partition holds in the end. */
  readonly truth: Truth
  readonly violations: Violations
  readonly plan: Pick<Plan, 'flush' | 'topics'>
}

/** Everything that a history alone can show. */
export function checkHistory(input: CheckInput): void {
  checkLog(input)
}
