import type { Checker } from './checker.ts'
import type { SimBroker } from './sim-broker.ts'
import type { SimBatch, SimLog, SimRecord } from './sim-log.ts'
import type { World } from './world.ts'

/**
 * What readers of a compacted topic must find on every replica, below its high watermark (I54): of each key the record that was
 * committed last, or, when that is a tombstone, no other. And tombstones stay as long as they have to (I55). A replica that did
 * not have a tombstone for as long as `delete.retention.ms` may miss it, as in Kafka, and show what it had before, or what was on its
 * way to it.
 */
export class ContentChecker {
  readonly #world: World
  readonly #checker: Checker
  /** Of each key, by what was committed. */
  readonly #last = new Map<number, SimRecord>()
  /** Offsets of records that may have come back. */
  readonly #strays = new Set<number>()
  /** Of each broker when it has first compacted what holds the tombstone at this offset. */
  readonly #firstSeen = new Map<SimBroker, Map<number, number>>()
  /** Those that are gone somewhere, each with the name of its batch. */
  readonly #removed: (readonly [SimRecord, string])[] = []
  #isOver = false

  constructor(world: World, checker: Checker) {
    this.#world = world
    this.#checker = checker
  }

  committed(batch: SimBatch): void {
    for (const record of batch.records) this.#last.set(record.key, record)
  }

  /** Committed records were lost: what replaced others may be among them. */
  lost(): void {
    this.#isOver = true
  }

  /** Times are those of the passes, by when they began. */
  horizonSet(broker: SimBroker, { records }: SimBatch, passMs: number): void {
    const seen = this.#firstSeen.get(broker) ?? new Map<number, number>()
    this.#firstSeen.set(broker, seen)
    for (const { offset, isTombstone } of records) if (isTombstone && !seen.has(offset)) seen.set(offset, passMs)
  }

  tombstoneRemoved(broker: SimBroker, tombstone: SimRecord, passMs: number): void {
    if (this.#isOver) return
    this.#checker.reached.tombstonesRemoved++
    const { offset, key } = tombstone
    const retentionMs = this.#world.compaction?.deleteRetentionMs ?? 0
    // Another may have set the horizon that came with the batch.
    const seen = [...this.#firstSeen.values()].map(times => times.get(offset) ?? Number.POSITIVE_INFINITY)
    if (!(passMs - Math.min(...seen) > retentionMs)) {
      this.#checker.fail(`${broker.id} removes the tombstone of key ${key} at ${offset} too early`)
    }
    const name = broker.log.at(offset)?.name ?? ''
    this.#removed.push([tombstone, name])
    for (const other of this.#world.brokers) if (!holds(other, offset, name)) this.#mayMiss(other, tombstone)
  }

  /** The log, cut short by a crash or a write that failed, may end before tombstones that are gone elsewhere. */
  endsLower(broker: SimBroker): void {
    for (const [tombstone, name] of this.#removed)
      if (!holds(broker, tombstone.offset, name)) this.#mayMiss(broker, tombstone)
  }

  /** What was never committed it gives up before it takes in what follows. Of what is on its way it may take a part. */
  #mayMiss({ log, fetches }: SimBroker, { key, offset }: SimRecord): void {
    const isCommitted = ({ baseOffset, name }: SimBatch) => this.#checker.ledger.at(baseOffset)?.name === name
    const last = lastRecords(log.batches.filter(isCommitted), offset).get(key)
    const coming = fetches.underWay.filter(isCommitted).flatMap(({ records }) => records)
    const before = coming.filter(record => record.key === key && record.offset < offset)
    if (last !== undefined) before.push(last)
    for (const record of before) {
      if (record.isTombstone) continue
      this.#checker.reached.tombstonesMissed++
      this.#strays.add(record.offset)
    }
  }

  passed(broker: SimBroker): void {
    this.#checker.reached.passes++
    this.check(broker)
  }

  /** Looks at all that the replica shows. */
  check({ id, log }: SimBroker): void {
    if (this.#isOver || this.#world.compaction === undefined || this.#showsLost(log)) return
    const shown = lastRecords(log.batches, log.highWatermark)
    for (const [key, last] of this.#last) {
      if (last.offset >= log.highWatermark || last.offset < log.logStartOffset) continue
      const found = shown.get(key)
      if (found?.offset === last.offset || (found !== undefined && this.#strays.has(found.offset))) continue
      if (last.isTombstone && (found?.isTombstone ?? true)) continue
      const instead =
        found === undefined ? 'nothing' : `${found.isTombstone ? 'a tombstone' : 'a value'} of ${found.offset}`
      const what = last.isTombstone ? 'deleted' : 'last written'
      this.#checker.fail(`broker ${id} has ${instead} for key ${key}, which was ${what} at ${last.offset}`)
    }
  }

  /** A leader that was replaced with a loss may have committed more before it heard of that, and then gives it up. */
  #showsLost({ batches, highWatermark }: SimLog): boolean {
    const { ledger, hasLoss } = this.#checker
    if (!hasLoss) return false
    return batches.some(
      ({ baseOffset, lastOffset, name }) => lastOffset < highWatermark && ledger.at(baseOffset)?.name !== name,
    )
  }
}

/** That batch, or what compaction has left of it; not one of another epoch in its place. */
function holds({ log }: SimBroker, offset: number, name: string): boolean {
  return log.at(offset)?.name === name
}

function lastRecords(batches: readonly SimBatch[], endOffset: number): Map<number, SimRecord> {
  const last = new Map<number, SimRecord>()
  for (const { records } of batches) {
    for (const record of records) if (record.offset < endOffset) last.set(record.key, record)
  }
  return last
}
