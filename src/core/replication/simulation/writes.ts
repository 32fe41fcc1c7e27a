import type { SimBroker } from './sim-broker.ts'
import type { SimBatch } from './sim-log.ts'

/** What producers write to one broker, and what they are told. */
export class Writes {
  readonly #broker: SimBroker
  /** With acks=all, in the order of offsets. */
  readonly #waiting: SimBatch[] = []

  constructor(broker: SimBroker) {
    this.#broker = broker
  }

  /** Every broker that believes it leads takes writes: also one that was deposed and does not know. */
  take(acks: 1 | -1, recordCount: number): void {
    const { world, log, replication, disk } = this.#broker
    if (replication?.isLeader !== true) return
    if (acks === -1 && !replication.hasEnoughReplicas) return
    const baseOffset = log.nextOffset
    const batch: SimBatch = {
      name: world.newName(),
      previous: log.batches.at(-1)?.name ?? world.checker.nameBefore(baseOffset),
      baseOffset,
      lastOffset: baseOffset + recordCount - 1,
      leaderEpoch: replication.leaderEpoch,
      records: world.newRecords(baseOffset, recordCount),
      horizonMs: undefined,
    }
    if (acks === -1) this.#waiting.push(batch)
    disk.append([batch])
  }

  highWatermarkMoved(): void {
    const { log, world } = this.#broker
    while (this.#waiting.length > 0 && this.#waiting[0].lastOffset < log.highWatermark) {
      world.checker.acknowledged(this.#broker, this.#waiting.shift()!)
    }
  }

  failed(): void {
    const { logEndOffset } = this.#broker.log
    while (this.#waiting.length > 0 && this.#waiting.at(-1)!.lastOffset >= logEndOffset) this.#waiting.pop()
  }

  /** They are told nothing: it may be there or not. */
  end(): void {
    this.#waiting.length = 0
  }
}
