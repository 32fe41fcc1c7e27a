import { lastSequenceOf, type ProducerEntry } from '../../core/log/producer-entry.ts'

/**
 * What is wrong with an entry of the snapshot of `offset`, by what a replay of the log from `start` on knows of the producer.
 * A snapshot may lack producers, which expire; it may know more than the replay only of what was deleted from the log.
 */
export function snapshotProblem(
  entry: ProducerEntry,
  replayed: ProducerEntry | undefined,
  { offset, start }: { readonly offset: number; readonly start: number },
): string | undefined {
  const lastOffset = entry.batches.at(-1)?.lastOffset ?? -1
  if (lastOffset >= offset) return `its last offset ${lastOffset} is not below the snapshot's, ${offset}`
  const replayedLast = replayed?.batches.at(-1)?.lastOffset ?? -1
  if (replayed === undefined) {
    return lastOffset >= start ? `its batch at offset ${lastOffset} is not in the log` : undefined
  }
  if (replayed.producerEpoch !== entry.producerEpoch) {
    return `its epoch is ${entry.producerEpoch}, in the log it is ${replayed.producerEpoch}`
  }
  if (replayedLast < 0) return undefined
  if (replayedLast !== lastOffset) return `its last offset is ${lastOffset}, in the log it is ${replayedLast}`
  if (lastSequenceOf(replayed) !== lastSequenceOf(entry)) {
    return `its last sequence is ${lastSequenceOf(entry)}, in the log it is ${lastSequenceOf(replayed)}`
  }
  if (replayed.currentTxnFirstOffset !== entry.currentTxnFirstOffset) {
    const [said, found] = [entry.currentTxnFirstOffset, replayed.currentTxnFirstOffset]
    return `its open transaction begins at ${said}, in the log at ${found} (-1: none is open)`
  }
  return undefined
}
