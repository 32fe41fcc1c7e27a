import type { SimBroker } from './sim-broker.ts'
import { isLeftOut, type SimBatch, type SimRecord } from './sim-log.ts'

/** What is decided of a record: it stays, it goes, or it is a tombstone that waits for its horizon. */
type Fate = 'kept' | 'replaced' | 'waits' | 'passed'

/**
 * Compacts the log of one broker, at its own times, by the rules of the real one: the keys of the dirty part go into a map that
 * may be full before its end; then one group of batches after the other is written anew, durably. A crash or a cut of the log
 * may come between any two, and then the next pass begins where this one did.
 */
export class Compactor {
  readonly #broker: SimBroker

  constructor(broker: SimBroker) {
    this.#broker = broker
  }

  /** In this life of the broker. */
  begin(): void {
    const { world } = this.#broker
    if (world.compaction === undefined) return
    const delayMs = world.contentRandom.between(0, 2 * world.compaction.meanGapMs)
    this.#broker.later(delayMs, () => {
      this.#pass()
      this.begin()
    })
  }

  #pass(): void {
    const { log, world } = this.#broker
    const { contentRandom: random } = world
    const endOffset = this.#endOffset()
    if (endOffset <= log.cleanedOffset) return
    // Segments that end are synced before they are compacted.
    log.flushed(endOffset)
    const map = new Map<number, number>()
    const maxRecords = random.pick([5, 30, 1000])
    let mapEnd = log.cleanedOffset
    let count = 0
    for (const { records, lastOffset } of log.batches) {
      if (lastOffset < log.cleanedOffset) continue
      if (lastOffset >= endOffset || count >= maxRecords) break
      for (const { key, offset } of records) map.set(key, offset)
      count += records.length
      mapEnd = lastOffset + 1
    }
    this.#filter({ map, mapEnd, from: 0, cuts: log.cuts, nowMs: world.nowMs })
  }

  /** The base of the segment that is written to: what follows is not touched. All below is committed. */
  #endOffset(): number {
    const { log, world } = this.#broker
    const last = log.batches.findLast(batch => !isLeftOut(batch))
    const bound = Math.min(log.highWatermark, log.logEndOffset, last?.baseOffset ?? 0)
    const range = bound - log.cleanedOffset
    if (range <= 0) return log.cleanedOffset
    const wanted = log.cleanedOffset + 1 + world.contentRandom.below(range)
    return log.at(wanted)?.baseOffset ?? wanted
  }

  #filter(pass: Pass): void {
    const { log, world } = this.#broker
    const { contentRandom: random } = world
    if (log.cuts !== pass.cuts) return
    const groupEnd = Math.min(pass.mapEnd, pass.from + 1 + random.below(40))
    const first = log.batches.findIndex(({ lastOffset }) => lastOffset >= pass.from)
    for (let index = Math.max(first, 0); index < log.batches.length; index++) {
      const batch = log.batches[index]
      if (batch.lastOffset >= groupEnd) break
      const kept = this.#filterBatch(batch, pass)
      if (kept !== batch) log.compacted(index, kept)
    }
    if (groupEnd < pass.mapEnd) {
      this.#broker.later(random.between(0, 30), () => this.#filter({ ...pass, from: groupEnd }))
      return
    }
    log.cleanedOffset = pass.mapEnd
    world.checker.content.passed(this.#broker)
  }

  #filterBatch(batch: SimBatch, pass: Pass): SimBatch {
    const { world } = this.#broker
    const { content } = world.checker
    const fates = batch.records.map(record => fateOf(record, batch, pass))
    if (fates.every(fate => fate === 'kept')) return batch
    const hasWaiting = fates.includes('waits')
    if (hasWaiting && batch.horizonMs === undefined) content.horizonSet(this.#broker, batch, pass.nowMs)
    const records = batch.records.filter((record, index) => {
      const fate = fates[index]
      if (fate === 'passed') content.tombstoneRemoved(this.#broker, record, pass.nowMs)
      return fate === 'kept' || fate === 'waits'
    })
    const horizonMs = hasWaiting
      ? (batch.horizonMs ?? pass.nowMs + (world.compaction?.deleteRetentionMs ?? 0))
      : batch.horizonMs
    return { ...batch, records, horizonMs }
  }
}

interface Pass {
  /** The last offset of each key that was dirty. */
  readonly map: ReadonlyMap<number, number>
  readonly mapEnd: number
  /** What lies below is done. */
  readonly from: number
  readonly cuts: number
  readonly nowMs: number
}

function fateOf({ key, offset, isTombstone }: SimRecord, { horizonMs }: SimBatch, { map, nowMs }: Pass): Fate {
  if ((map.get(key) ?? -1) > offset) return 'replaced'
  if (!isTombstone) return 'kept'
  return horizonMs !== undefined && horizonMs < nowMs ? 'passed' : 'waits'
}
