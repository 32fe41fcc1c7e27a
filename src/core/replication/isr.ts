import { assert } from '../../base/assert.ts'
import type { ReplicaAndEpoch } from './events.ts'
import type { PartitionMetadata } from './views.ts'

/**
 * `open`: an answer is due. `retry`: it may or may not have been carried out and is asked again. `awaitingMetadata`: the
 * controller has a newer state of the partition, which will be told; until then nothing is asked.
 */
export type ProposalState = 'open' | 'retry' | 'awaitingMetadata'

/** In-sync replicas that the leader asked for, and that may be in force by now. */
export interface Proposal {
  readonly isr: readonly ReplicaAndEpoch[]
  /** Of the last attempt. */
  attemptId: number
  state: ProposalState
  /** `retry`: when. Monotonic ms. */
  retryMs: number
}

/**
 * The in-sync replicas as their leader knows them: those the controller has confirmed, and those asked for. The leader cannot
 * tell which are in force while an answer is due, so what it claims of the in-sync replicas must hold for both.
 */
export class Isr {
  #committed: readonly number[]
  #partitionEpoch: number
  #proposal: Proposal | undefined

  constructor({ isr, partitionEpoch }: PartitionMetadata) {
    this.#committed = isr
    this.#partitionEpoch = partitionEpoch
  }

  get committed(): readonly number[] {
    return this.#committed
  }
  get partitionEpoch(): number {
    return this.#partitionEpoch
  }
  get proposal(): Proposal | undefined {
    return this.#proposal
  }

  /** In sync by what is confirmed or by what is asked for. */
  maximalHas(replicaId: number): boolean {
    if (this.#committed.includes(replicaId)) return true
    return this.#proposal?.isr.some(({ brokerId }) => brokerId === replicaId) ?? false
  }

  propose(isr: readonly ReplicaAndEpoch[], attemptId: number): void {
    assert(this.#proposal === undefined, 'one change of the in-sync replicas is under way at a time')
    assert(isr.length > 0, 'a leader is in sync with itself')
    this.#proposal = { isr, attemptId, state: 'open', retryMs: 0 }
  }

  /**
   * What the controller said, in an answer or in the metadata. It replaces what was asked for: an attempt that named an
   * older partition epoch cannot be carried out any more.
   */
  adopt({ isr, partitionEpoch }: Pick<PartitionMetadata, 'isr' | 'partitionEpoch'>): void {
    assert(partitionEpoch >= this.#partitionEpoch, 'partition epochs never fall')
    this.#committed = isr
    this.#partitionEpoch = partitionEpoch
    this.#proposal = undefined
  }

  /** The controller has refused: nothing was changed, nor will be. */
  withdraw(): void {
    assert(this.#proposal?.state === 'open', 'what was asked for was answered')
    this.#proposal = undefined
  }
}
