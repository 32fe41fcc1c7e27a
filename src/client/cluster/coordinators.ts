import { ErrorCode } from '../../base/error-code.ts'
import { brokerError, type MillraceError } from '../millrace-error.ts'
import { findCoordinatorApi } from './api-messages.ts'
import type { Cluster } from './cluster.ts'

/** Which broker coordinates which group. */
export class Coordinators {
  readonly #cluster: Cluster
  readonly #nodeOf = new Map<string, number>()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** The coordinator's node id, asked for when it is not known. Tried once. */
  async find(groupId: string, timeoutMs: number): Promise<number> {
    const known = this.#nodeOf.get(groupId)
    if (known !== undefined && this.#cluster.metadata.broker(known) !== undefined) return known
    const answer = await this.#cluster.sendToAny(
      findCoordinatorApi,
      version => (version >= 4 ? { keyType: 0, coordinatorKeys: [groupId] } : { key: groupId }),
      { timeoutMs },
    )
    // Until version 3 the one coordinator is in the answer itself.
    const found = answer.coordinators.find(({ key }) => key === groupId) ?? answer
    if (found.errorCode !== ErrorCode.none) throw brokerError(found.errorCode, `group ${groupId}`, found.errorMessage)
    const { nodeId, host, port } = found
    const rack = this.#cluster.metadata.broker(nodeId)?.rack ?? null
    this.#cluster.metadata.learnBroker({ nodeId, host, port, rack })
    this.#nodeOf.set(groupId, nodeId)
    return nodeId
  }

  forget(groupId: string): void {
    this.#nodeOf.delete(groupId)
  }

  /** Forgets the coordinator if the error says, or hints, that it is another one. */
  note(groupId: string, error: MillraceError): void {
    if (isAboutCoordinator(error.errorCode) || error.code === 'CONNECTION_FAILED' || error.code === 'TIMED_OUT') {
      this.forget(groupId)
    }
  }
}

export function isAboutCoordinator(code: ErrorCode | undefined): boolean {
  return code === ErrorCode.notCoordinator || code === ErrorCode.coordinatorNotAvailable
}
