import type { SimBroker } from './sim-broker.ts'
import type { SimBatch } from './sim-log.ts'

/** When what a broker asks of its disk is done, and whether it is. Operations are done in order. */
export class SimDisk {
  slowUntilMs = 0
  readonly #broker: SimBroker
  #freeMs = 0
  /** A write that failed took the later ones with it. */
  #failures = 0

  constructor(broker: SimBroker) {
    this.#broker = broker
  }

  begin(): void {
    this.#freeMs = this.#broker.world.nowMs
    this.#failures = 0
  }

  append(batches: readonly SimBatch[]): void {
    const { log, world } = this.#broker
    world.checker.appends(this.#broker, batches)
    log.append(batches)
    const endOffset = log.nextOffset
    const failures = this.#failures
    this.#later(() => {
      if (this.#failures !== failures) return
      if (world.random.chance(world.writeFailureProbability)) this.#fail()
      else this.#written(endOffset)
    })
  }

  #written(endOffset: number): void {
    const broker = this.#broker
    broker.log.written(endOffset)
    broker.world.checker.written(broker)
    broker.fetches.wake()
    const isSyncedFirst = broker.flushBeforeAck && broker.replication?.isLeader === true
    if (isSyncedFirst) this.flush()
    else broker.ownEndMoved()
  }

  #fail(): void {
    const broker = this.#broker
    this.#failures++
    broker.log.writesFailed(broker.replication?.isLeader === true)
    broker.world.checker.content.endsLower(broker)
    broker.writes.failed()
    broker.handle({ type: 'appendFailed' })
  }

  flush(): void {
    const { log } = this.#broker
    const endOffset = log.logEndOffset
    this.#later(() => {
      log.flushed(endOffset)
      this.#broker.ownEndMoved()
    })
  }

  /** The log may be changed before it is said to be, or only then. */
  change(change: () => void): void {
    const isAtOnce = this.#broker.world.random.chance(0.5)
    if (isAtOnce) change()
    this.#later(() => {
      if (!isAtOnce) change()
      this.#broker.handle({ type: 'logChanged' })
    })
  }

  #later(run: () => void): void {
    const { world } = this.#broker
    const isSlow = this.slowUntilMs > world.nowMs
    this.#freeMs = Math.max(this.#freeMs, world.nowMs + world.random.between(0.05, isSlow ? 400 : 2))
    this.#broker.later(this.#freeMs - world.nowMs, run)
  }
}
