import { isControlBatch, isTransactional, readBaseOffset, readProducerId } from '../../records/batch.ts'
import type { SegmentedLog } from '../../storage/segmented-log.ts'
import { findWronglyCommitted } from '../check/committed-records.ts'
import type { SeededRandom } from '../io/seeded-random.ts'
import type { Violations } from '../violations.ts'
import { bytesOfRead, type ScannedLog } from './audit-log.ts'

/** Reads at places that are drawn, beside those from the start to the end. */
const drawnReads = 30

/** What is stable, and what the transaction index says is aborted, is what a scan finds (I52). */
export async function checkTransactions(
  log: SegmentedLog,
  { batches }: ScannedLog,
  random: SeededRandom,
  violations: Violations,
): Promise<void> {
  const name = `${log.topic}-${log.partition}`
  log.moveHighWatermark(log.logEndOffset)
  const { lastStableOffset, logStartOffset, logEndOffset } = log
  const expected = Math.min(logEndOffset, ...openIn(batches).values())
  // What began before the start of the log may be known by nothing that is left.
  const isFound = lastStableOffset === expected || (lastStableOffset === logStartOffset && expected >= logStartOffset)
  if (!isFound && expected !== logStartOffset)
    violations.add('I52', `${name} is stable up to ${lastStableOffset}, by a scan up to ${expected}`)
  const offsets = Array.from({ length: drawnReads }, () => random.between(logStartOffset, lastStableOffset))
  for (const offset of [...batches.map(batch => readBaseOffset(batch, 0)), ...offsets]) {
    if (offset < logStartOffset || offset >= lastStableOffset) continue
    const maxBytes = random.between(1, 3000)
    const answer = await log.read({ offset, maxBytes, minOneBatch: true, isolation: 'lastStableOffset' })
    if (answer.type === 'refused') {
      violations.add('I52', `${name} cannot be read at ${offset}, below its last stable offset`)
      continue
    }
    const bytes = await bytesOfRead(answer)
    const { abortedTransactions = [] } = answer
    const problem = findWronglyCommitted({ bytes, abortedTransactions, lastStableOffset })
    if (problem !== undefined) violations.add('I52', `${name}, read from ${offset} on in an audit: ${problem}`)
  }
}

/** Transactions without an end: their first offsets by producer. */
function openIn(batches: readonly Buffer[]): Map<number, number> {
  const open = new Map<number, number>()
  for (const batch of batches) {
    const producerId = readProducerId(batch, 0)
    if (isControlBatch(batch, 0)) open.delete(producerId)
    else if (isTransactional(batch, 0) && !open.has(producerId)) open.set(producerId, readBaseOffset(batch, 0))
  }
  return open
}
