import type { Uuid } from '../../base/uuid.ts'
import type { SeededRandom } from '../io/seeded-random.ts'

export type Fate = 'commit' | 'abort'

export interface OpenTransaction {
  readonly topic: string
  readonly topicId: Uuid
  readonly partition: number
  readonly producerId: number
  /** Of its first record. */
  readonly firstOffset: number
}

export interface TransactionFatesOptions {
  readonly random: SeededRandom
  /** Bytes of the partition were damaged on purpose. */
  readonly isDamaged: (topicId: Uuid, partition: number) => boolean
  readonly complain: (text: string) => void
}

/** What is to become of the transactions that were begun, by the place of their first record. */
export class TransactionFates {
  readonly #options: TransactionFatesOptions
  readonly #fates = new Map<string, Fate>()

  constructor(options: TransactionFatesOptions) {
    this.#options = options
  }

  /** When a write fails or the power takes it, another may begin there. */
  begun(transaction: OpenTransaction, fate: Fate): void {
    this.#fates.set(keyOf(transaction), fate)
  }

  /**
   * Of a transaction that the log says is open. Where its first batch was damaged, a log that is recovered has it begin with the
   * next one: it goes on, with a fate that is drawn, since nobody judges what is read of a damaged partition. Otherwise nobody
   * began it, which is told once.
   */
  of(transaction: OpenTransaction): Fate {
    const known = this.#fates.get(keyOf(transaction))
    if (known !== undefined) return known
    const { random, isDamaged, complain } = this.#options
    const { topic, topicId, partition, firstOffset } = transaction
    if (!isDamaged(topicId, partition))
      complain(`${topic}-${partition} has a transaction from ${firstOffset} on that nobody began`)
    const fate = random.pick(['commit', 'abort'] as const)
    this.begun(transaction, fate)
    return fate
  }
}

function keyOf({ topicId, partition, producerId, firstOffset }: OpenTransaction): string {
  return `${topicId} ${partition} ${producerId} ${firstOffset}`
}
