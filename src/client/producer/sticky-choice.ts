import type { Random } from '../../base/random.ts'

/**
 * The partition for records without a key: the same one until about a batch's worth of bytes has gone there, so that
 * batches fill; then another, of two drawn the one with less to send.
 */
export class StickyChoice {
  readonly #random: Random
  readonly #switchBytes: number
  #partition = -1
  #bytes = 0

  constructor(random: Random, switchBytes: number) {
    this.#random = random
    this.#switchBytes = switchBytes
  }

  /** The partition in use; -1 when it is time to `choose` one. */
  get partition(): number {
    return this.#bytes < this.#switchBytes ? this.#partition : -1
  }

  /** `usable` are partitions that have a leader, or all when none has. `waitingBytes` tells what a partition has to send. */
  choose(usable: readonly number[], waitingBytes: (partition: number) => number): number {
    const first = usable[this.#random.below(usable.length)]
    const second = usable[this.#random.below(usable.length)]
    this.#partition = waitingBytes(second) < waitingBytes(first) ? second : first
    this.#bytes = 0
    return this.#partition
  }

  used(bytes: number): void {
    this.#bytes += bytes
  }

  /** Leaders have changed: choose anew. */
  forget(): void {
    this.#partition = -1
  }
}
