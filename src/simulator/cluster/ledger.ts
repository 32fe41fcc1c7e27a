import type { Uuid } from '../../base/uuid.ts'
import type { Broker } from '../../broker/broker.ts'
import type { History } from '../history/history.ts'
import type { Violations } from '../violations.ts'

/** What a partition had when it was last seen alive. */
interface Holding {
  readonly topic: string
  readonly topicId: Uuid
  readonly partition: number
  /** Appends below it had completed: they are in the page cache, and only the power takes them. */
  logEndOffset: number
  /** Below it everything was synced: nothing takes it. */
  flushedOffset: number
  /** It moves when it is saved: nothing sets it back. */
  logStartOffset: number
  /** The power was cut, and the partition has not been seen since. */
  wasPowerCut: boolean
}

/**
 * The damage ledger: it decides what the end of a process may have taken of each partition, and compares that with what is
 * there when the next one runs. A kill takes nothing that was appended; a power cut takes a suffix that was not synced; in
 * the mode `ack` nothing that a client was promised.
 */
export class Ledger {
  readonly #history: History
  readonly #violations: Violations
  readonly #holdings = new Map<string, Holding>()
  readonly #damaged = new Set<string>()

  constructor(history: History, violations: Violations) {
    this.#history = history
    this.#violations = violations
  }

  /** Looked at while the broker runs, last at the moment when its process ends. */
  observe(broker: Broker): void {
    // A broker that stops itself serves no partition any more, and its logs are there still.
    for (const log of broker.logs.logs) {
      const { topic, topicId, partition, logEndOffset, flushedOffset, logStartOffset } = log
      this.#holdings.set(keyOf(topicId, partition), {
        ...{ topic, topicId, partition, logEndOffset, flushedOffset, logStartOffset, wasPowerCut: false },
      })
    }
  }

  /** The power is gone: what was only in the page cache may be, too. */
  powerCut(): void {
    for (const holding of this.#holdings.values()) {
      holding.wasPowerCut = true
      holding.logEndOffset = Math.min(holding.logEndOffset, holding.flushedOffset)
    }
  }

  /** Bytes of the partition were damaged on purpose: how long it is now says nothing. */
  damaged(topicId: Uuid, partition: number): void {
    this.#damaged.add(keyOf(topicId, partition))
  }

  isDamaged(topicId: Uuid, partition: number): boolean {
    return this.#damaged.has(keyOf(topicId, partition))
  }

  get hasDamage(): boolean {
    return this.#damaged.size > 0
  }

  /** A new process runs: everything that had to survive is there. */
  started(broker: Broker): void {
    const { image } = broker.metadata
    const { unread, directories } = broker.logs
    const hasOffline = unread.length > 0 || directories.some(directory => directory.isOffline)
    for (const [key, holding] of this.#holdings) {
      const { topic, topicId, partition, wasPowerCut } = holding
      if (image.topicById(topicId) === undefined) {
        this.#holdings.delete(key)
        const wasDeleted = this.#history.callsOf('deleteTopic').some(call => call.request.topicId === topicId)
        if (!wasDeleted) this.#violations.add('I51', `topic ${topic} (${topicId}) is gone, and nobody has deleted it`)
        continue
      }
      const log = broker.partitions.byId(topicId, partition)?.log
      if (log === undefined) {
        // It may lie in a directory that has failed: what became of it is seen after the next start.
        if (!this.#damaged.has(key) && !hasOffline)
          this.#violations.add('I51', `${topic}-${partition} is not there after a restart`)
        continue
      }
      if (log.logEndOffset < holding.logEndOffset && !this.#damaged.has(key)) {
        const what = wasPowerCut ? 'a power cut, although it was synced' : 'a kill'
        const text = `${topic}-${partition} ended at ${holding.logEndOffset} and ends at ${log.logEndOffset} after ${what}`
        this.#violations.add('I51', text)
      }
      if (log.logStartOffset < holding.logStartOffset && !this.#damaged.has(key)) {
        const text = `${topic}-${partition} began at ${holding.logStartOffset} and begins at ${log.logStartOffset} after a restart`
        this.#violations.add('I9', text)
      }
      if (wasPowerCut) this.#history.mark('cut', { topic, topicId, partition, from: log.logEndOffset })
    }
    this.observe(broker)
  }
}

function keyOf(topicId: Uuid, partition: number): string {
  return `${topicId} ${partition}`
}
