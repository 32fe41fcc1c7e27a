import type { Broker } from '../../broker/broker.ts'
import type { Partition } from '../../broker/partition.ts'
import type { Violations } from '../violations.ts'

/** What was last seen of a partition in one life of a broker. */
interface Seen {
  logStartOffset: number
  highWatermark: number
}

/** The god view: looks at a running broker after every event, for what must hold at every moment (I9, I48, I56). */
export class BrokerWatch {
  readonly #violations: Violations
  readonly #isAck: boolean
  #broker: Broker | undefined
  readonly #seen = new Map<object, Seen>()

  constructor(flush: 'async' | 'ack', violations: Violations) {
    this.#isAck = flush === 'ack'
    this.#violations = violations
  }

  begin(broker: Broker): void {
    this.#broker = broker
    this.#seen.clear()
  }

  look(): void {
    for (const partition of this.#broker?.partitions.all() ?? []) this.#lookAt(partition)
  }

  #lookAt({ log, topic, index }: Partition): void {
    const { logStartOffset, highWatermark, logEndOffset, flushedOffset, nextOffset } = log
    const isOrdered = logStartOffset <= highWatermark && highWatermark <= logEndOffset && logEndOffset <= nextOffset
    const isPromised = !this.#isAck || highWatermark <= flushedOffset
    const before = this.#seen.get(log)
    const hasGoneBack =
      before !== undefined && (logStartOffset < before.logStartOffset || highWatermark < before.highWatermark)
    if (isOrdered && isPromised && !hasGoneBack && log.lastStableOffset <= highWatermark) {
      if (before === undefined) this.#seen.set(log, { logStartOffset, highWatermark })
      else {
        before.logStartOffset = logStartOffset
        before.highWatermark = highWatermark
      }
      return
    }
    const invariant = hasGoneBack ? 'I9' : isPromised ? 'I56' : 'I48'
    const watermarks = `start ${logStartOffset}, high watermark ${highWatermark}, stable ${log.lastStableOffset}`
    const ends = `synced ${flushedOffset}, end ${logEndOffset}, next ${nextOffset}`
    this.#violations.add(
      invariant,
      `${topic}-${index} holds ${watermarks}, ${ends}${hasGoneBack ? ', less than before' : ''}`,
    )
  }
}
