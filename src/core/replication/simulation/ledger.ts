import type { TopicRules } from './cluster-controller.ts'
import type { SimBatch, SimLog } from './sim-log.ts'

interface Committed {
  readonly batch: SimBatch
  /** Of the leader that committed it. */
  readonly inEpoch: number
  /** Who had it when it was committed: all in-sync replicas. */
  readonly holders: readonly number[]
  /** When, in the order of what the ledger was told. */
  readonly sequence: number
}

interface LossyFailure {
  readonly sequence: number
}

/**
 * What is committed, and what may be lost of it. A broker that ended without knowing that its disk has
 * everything may have lost whatever it held until it has joined the in-sync replicas again. What was on `n` replicas that were
 * in sync may be lost once `min(n, min.insync.replicas)` of them may have lost it, and not before.
 */
export class Ledger {
  readonly #rules: TopicRules
  readonly #committed: Committed[] = []
  /** Of each broker the last failure that is not repaired. */
  readonly #failures = new Map<number, LossyFailure>()
  #sequence = 0

  constructor(rules: TopicRules) {
    this.#rules = rules
  }

  get endOffset(): number {
    return (this.#committed.at(-1)?.batch.lastOffset ?? -1) + 1
  }

  at(offset: number): SimBatch | undefined {
    const batch = this.#committed[this.#indexOf(offset)]?.batch
    return batch !== undefined && batch.baseOffset <= offset ? batch : undefined
  }

  commit(batch: SimBatch, { inEpoch, holders }: { inEpoch: number; holders: readonly number[] }): void {
    this.#committed.push({ batch, inEpoch, holders, sequence: ++this.#sequence })
  }

  failedLossily(brokerId: number): void {
    this.#failures.set(brokerId, { sequence: ++this.#sequence })
  }

  mayHaveLost(brokerId: number): boolean {
    return this.#failures.has(brokerId)
  }

  /** It has caught up and is in sync again: what it holds counts. */
  repaired(brokerId: number): void {
    this.#failures.delete(brokerId)
  }

  /** The first offset from the log start on that is committed, in this epoch or before, and that this log lacks. */
  firstMissing(log: SimLog, epoch = Number.POSITIVE_INFINITY): number | undefined {
    for (let i = this.#indexOf(log.logStartOffset); i < this.#committed.length; i++) {
      const { batch, inEpoch } = this.#committed[i]
      const { baseOffset, lastOffset, name } = batch
      if (inEpoch > epoch) continue
      if (lastOffset >= log.logEndOffset || log.at(lastOffset)?.name !== name) return baseOffset
    }
    return undefined
  }

  /** Whether everything that is committed from here on may be lost. */
  mayLose(from: number): boolean {
    return this.#committed.slice(this.#indexOf(from)).every(entry => this.#isLosable(entry))
  }

  /** Forgets what is lost. */
  lose(from: number): void {
    this.#committed.length = Math.min(this.#committed.length, this.#indexOf(from))
  }

  #isLosable({ holders, sequence }: Committed): boolean {
    const { allowsUnclean, usesElr, minInsyncReplicas, replicas } = this.#rules
    if (allowsUnclean) return true
    const lost = holders.filter(id => (this.#failures.get(id)?.sequence ?? -1) > sequence)
    // Without eligible leader replicas the last one in sync leads again whatever happened to it.
    return lost.length >= (usesElr ? Math.min(minInsyncReplicas, replicas.length) : 1)
  }

  /** Of the entry with this offset, or where it would be. */
  #indexOf(offset: number): number {
    let low = 0
    let high = this.#committed.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#committed[middle].batch.lastOffset < offset) low = middle + 1
      else high = middle
    }
    return low
  }
}
