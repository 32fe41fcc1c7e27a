import type { AbortedTransactionEntry } from '../../core/log/transaction-index.ts'
import type { BatchHeader } from '../../records/batch-header.ts'
import type { Record } from '../../records/record.ts'
import type { LogFileKind } from './log-file-kind.ts'
import type { DecodedRecord } from './stored-record.ts'

/** What `dump` shows. What belongs to a file follows its `file` item. */
export type DumpItem =
  | { readonly type: 'file'; readonly path: string; readonly kind: LogFileKind }
  | { readonly type: 'batch'; readonly position: number; readonly batch: BatchHeader }
  /** From before magic 2. */
  | {
      readonly type: 'legacyEntry'
      readonly position: number
      readonly magic: number
      readonly lastOffset: number
      readonly sizeBytes: number
    }
  | { readonly type: 'record'; readonly record: Record; readonly decoded: DecodedRecord | undefined }
  /** Bytes from `position` to `end` (exclusive) that are not what they should be. */
  | { readonly type: 'damage'; readonly position: number; readonly end: number; readonly reason: string }
  | { readonly type: 'offsetIndexEntry'; readonly offset: number; readonly position: number }
  | { readonly type: 'timeIndexEntry'; readonly timestamp: bigint; readonly offset: number }
  | { readonly type: 'abortedTransaction'; readonly transaction: AbortedTransactionEntry }
  | {
      readonly type: 'producer'
      readonly producerId: number
      readonly producerEpoch: number
      readonly lastSequence: number
      readonly lastOffset: number
      readonly offsetDelta: number
      readonly lastTimestamp: bigint
      readonly coordinatorEpoch: number
      /** -1: no transaction is open. */
      readonly currentTxnFirstOffset: number
    }
  | { readonly type: 'leaderEpoch'; readonly leaderEpoch: number; readonly startOffset: number }
  | { readonly type: 'checkpoint'; readonly topic: string; readonly partition: number; readonly offset: number }
  | { readonly type: 'text'; readonly text: string }
