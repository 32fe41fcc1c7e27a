import type { AbortedTransaction } from '../../core/log/partition-log.ts'
import {
  batchSizeAt,
  isControlBatch,
  isTransactional,
  readBaseOffset,
  readLastOffset,
  readProducerId,
} from '../../records/batch.ts'
import { readTransactionMarker } from '../../records/control.ts'
import { openBatch } from '../../records/open-batch.ts'
import type { Record } from '../../records/record.ts'

const maxUnpackedBytes = 64 * 1024 * 1024

/** What a reader of committed records was given. */
export interface CommittedRead {
  readonly bytes: Buffer
  readonly abortedTransactions: readonly AbortedTransaction[]
  readonly lastStableOffset: number
}

/**
 * Leaves out what consumers leave out of such an answer, and compares it with what the records say themselves: those of aborted
 * transactions are left out, the others are not. Answers what is wrong.
 */
export function findWronglyCommitted({
  bytes,
  abortedTransactions,
  lastStableOffset,
}: CommittedRead): string | undefined {
  const aborted = [...abortedTransactions].sort((a, b) => a.firstOffset - b.firstOffset)
  const aborting = new Set<number>()
  for (let at = 0, size = batchSizeAt(bytes, 0); size > 0; at += size, size = batchSizeAt(bytes, at)) {
    const offset = readBaseOffset(bytes, at)
    const producerId = readProducerId(bytes, at)
    if (offset >= lastStableOffset) return `offset ${offset} is given out, ${lastStableOffset} is the last stable one`
    while (aborted[0] !== undefined && aborted[0].firstOffset <= readLastOffset(bytes, at))
      aborting.add(aborted.shift()!.producerId)
    const records = recordsAt(bytes, at)
    if (isControlBatch(bytes, at)) {
      if (isAbort(records)) aborting.delete(producerId)
      continue
    }
    const isLeftOut = isTransactional(bytes, at) && aborting.has(producerId)
    const wrong = records.find(record => record.value?.toString('latin1').startsWith('abort ') !== isLeftOut)
    if (wrong !== undefined)
      return `offset ${wrong.offset} of producer ${producerId} is ${isLeftOut ? 'left out' : 'seen'}: ${wrong.value}`
  }
  return undefined
}

function recordsAt(bytes: Buffer, at: number): Record[] {
  const reader = openBatch(bytes, at, maxUnpackedBytes)
  return 'type' in reader ? [] : [...reader]
}

function isAbort([record]: readonly Record[]): boolean {
  return record !== undefined && readTransactionMarker(record.key, record.value)?.isCommit === false
}
