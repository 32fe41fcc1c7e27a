import { ErrorCode } from '../../base/error-code.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Outcomes } from '../cluster/leader-requests.ts'
import { MillraceError, toMillraceError } from '../millrace-error.ts'

/** What became of one resource: what names it, and either an error or what was asked for. */
export type AdminResult<Name, Value = unknown> = Name &
  (
    | ({ readonly error: undefined } & Value)
    | ({ readonly error: MillraceError } & Partial<Record<keyof Value, undefined>>)
  )

/** All results, of which none is an error; rejects otherwise, with the first error. */
export function allSucceeded<R extends { readonly error: MillraceError | undefined }>(
  results: readonly R[],
): (R & { readonly error: undefined })[] {
  for (const { error } of results) if (error !== undefined) throw error
  return results as (R & { readonly error: undefined })[]
}

/** Errors of brokers that another try may cure. That there is no such topic or group is an answer. */
const worthRetrying = new Set<ErrorCode>([
  ErrorCode.notController,
  ErrorCode.notCoordinator,
  ErrorCode.coordinatorNotAvailable,
  ErrorCode.coordinatorLoadInProgress,
  ErrorCode.notLeaderOrFollower,
  ErrorCode.leaderNotAvailable,
  ErrorCode.fencedLeaderEpoch,
  ErrorCode.unknownLeaderEpoch,
  ErrorCode.offsetNotAvailable,
  ErrorCode.brokerNotAvailable,
  ErrorCode.replicaNotAvailable,
  ErrorCode.kafkaStorageError,
  ErrorCode.throttlingQuotaExceeded,
  ErrorCode.unstableOffsetCommit,
])

export function isWorthRetrying(error: MillraceError): boolean {
  return error.errorCode === undefined ? error.retriable : worthRetrying.has(error.errorCode)
}

export interface AdminOptions {
  /** How long to go on trying. `apiTimeoutMs` of the client unless given. */
  readonly timeoutMs?: number
}

/**
 * Tries until each resource has its result, or time is over: those that failed in a way that may pass are asked about
 * again. `attempt` may leave out what it could not ask about, or reject for all.
 */
export async function eachResource<T, R>(
  cluster: Cluster,
  resources: readonly T[],
  { timeoutMs = cluster.config.apiTimeoutMs }: AdminOptions,
  attempt: (pending: readonly T[], leftMs: number) => Promise<Outcomes<T, R>>,
): Promise<Outcomes<T, R>> {
  const outcomes: Outcomes<T, R> = new Map()
  let pending = resources
  /** The answer to an earlier attempt got lost: it may have been carried out. */
  let isUncertain = false
  try {
    await cluster.retry('the call', timeoutMs, async leftMs => {
      const answered = await attempt(pending, leftMs).catch(thrown => {
        const error = toMillraceError(thrown)
        isUncertain ||= error.outcomeUnknown
        throw error
      })
      for (const [resource, outcome] of answered) {
        outcomes.set(resource, isUncertain && outcome instanceof MillraceError ? uncertain(outcome) : outcome)
      }
      pending = resources.filter(resource => mayPass(outcomes.get(resource)))
      const [first] = pending
      // Thrown so that it is tried again; what there is stays in the results.
      if (first !== undefined) throw retriable(outcomes.get(first))
    })
  } catch (thrown) {
    const error = toMillraceError(thrown)
    // Each keeps its own error, if it has one, for it says more.
    for (const resource of pending) if (!outcomes.has(resource)) outcomes.set(resource, error)
  }
  return outcomes
}

/** That a topic exists, say, may be because this very call has created it. */
function uncertain(error: MillraceError): MillraceError {
  return new MillraceError(error.code, error.message, { ...error, cause: error, outcomeUnknown: true })
}

function mayPass(outcome: unknown): boolean {
  return outcome === undefined || (outcome instanceof MillraceError && isWorthRetrying(outcome))
}

function retriable(outcome: unknown): MillraceError {
  const error = outcome instanceof MillraceError ? outcome : new MillraceError('UNKNOWN', 'the broker did not answer')
  return new MillraceError(error.code, error.message, { ...error, retriable: true, cause: error })
}

/** Makes a result of a resource's name and outcome. */
export function resultOf<N extends object, V extends object>(
  name: N,
  outcome: V | MillraceError | undefined,
): AdminResult<N, V> {
  const missing = new MillraceError('PROTOCOL_BROKEN', 'the broker left this out of its answer')
  if (outcome === undefined) return { ...name, error: missing } as AdminResult<N, V>
  if (outcome instanceof MillraceError) return { ...name, error: outcome } as AdminResult<N, V>
  return { ...name, ...outcome, error: undefined } as AdminResult<N, V>
}
