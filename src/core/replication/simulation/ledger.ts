import type { TopicRules } from './cluster-controller.ts'
import type { SimBatch, SimLog } from './sim-log.ts'

interface Committed {
  readonly batch: SimBatch
  /** Of the leader that committed it. */
  readonly inEpoch: number
  /** Who had it when it was committed: all in-sync replicas. */
  readonly holders: readonly number[]
}

/**
 * What is committed, and what may be lost of it. A broker that ended without knowing that its disk has
 * everything may have lost whatever it held until it has joined the in-sync replicas again. What was on `n` replicas that were
 * in sync may be lost once `min(n, min.insync.replicas)` of them may have lost it, and not before.
 */
export class Ledger {
  readonly #rules: TopicRules
  readonly #committed: Committed[] = []
  /** With the epoch of the last life that it may have lost something of. */
  readonly #failed = new Map<number, number>()
  /** Of each broker how much was committed when it last came in sync: it had all that. */
  readonly #joinedAt = new Map<number, number>()

  constructor(rules: TopicRules) {
    this.#rules = rules
  }

  get endOffset(): number {
    return (this.#committed.at(-1)?.batch.lastOffset ?? -1) + 1
  }

  /** What is committed there, in this epoch or before. */
  at(offset: number, epoch = Number.POSITIVE_INFINITY): SimBatch | undefined {
    const entry = this.#committed[this.#indexOf(offset)]
    return entry !== undefined && entry.batch.baseOffset <= offset && entry.inEpoch <= epoch ? entry.batch : undefined
  }

  commit(batch: SimBatch, { inEpoch, holders }: { inEpoch: number; holders: readonly number[] }): void {
    this.#committed.push({ batch, inEpoch, holders })
  }

  failedLossily(brokerId: number, brokerEpoch: number): void {
    this.#failed.set(brokerId, brokerEpoch)
  }

  mayHaveLost(brokerId: number): boolean {
    return this.#failed.has(brokerId)
  }

  /** It has caught up and is in sync: what it holds counts. */
  joined(brokerId: number, brokerEpoch: number): void {
    // The life that caught up may have ended, with a loss, before it came in sync.
    if ((this.#failed.get(brokerId) ?? -1) < brokerEpoch) this.#failed.delete(brokerId)
    this.#joinedAt.set(brokerId, this.endOffset)
  }

  /** The first offset from the log start on that is committed, in this epoch or before, and that this log lacks. */
  firstMissing(log: SimLog, epoch = Number.POSITIVE_INFINITY): number | undefined {
    for (let i = this.#indexOf(log.copiedFrom); i < this.#committed.length; i++) {
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

  #isLosable({ batch, holders }: Committed): boolean {
    const { allowsUnclean, usesElr, minInsyncReplicas, replicas } = this.#rules
    if (allowsUnclean) return true
    const held = (id: number) => holders.includes(id) || batch.lastOffset < (this.#joinedAt.get(id) ?? -1)
    const lost = replicas.filter(id => this.#failed.has(id) && held(id))
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
