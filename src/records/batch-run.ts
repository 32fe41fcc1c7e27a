import { ErrorCode } from '../base/error-code.ts'
import * as batch from './batch.ts'
import { isLegacyCrcValid, readLegacyTimestamp } from './legacy.ts'

/** Batches that a leader sent, as far as they are whole, sound and of an epoch that this replica knows. */
export interface BatchRun {
  readonly type: 'run'
  /** Where the last of them ends; a truncated tail, or a batch that ends the run, follows. */
  readonly sizeBytes: number
  readonly batchCount: number
  /** -1 in an empty run, like the next three. */
  readonly baseOffset: number
  readonly lastOffset: number
  readonly firstLeaderEpoch: number
  readonly lastLeaderEpoch: number
  readonly maxTimestamp: bigint
}

export interface BrokenRun {
  readonly type: 'broken'
  readonly errorCode: ErrorCode
  readonly reason: string
  /** Where the batch begins that is at fault. */
  readonly position: number
}

/**
 * Checks what a follower checks of fetched bytes before it appends them as they are: every CRC, and that offsets grow
 * from `nextOffset` on. One bad batch makes the whole run bad. A batch whose leader epoch is above `maxLeaderEpoch` ends
 * the run before it: its sender has been elected, and this replica has not heard of it. So does one of a newer epoch that
 * does not follow the batch before it at once: where its epoch began is to be asked for first. Legacy entries pass.
 */
export function checkBatchRun(
  bytes: Buffer,
  { nextOffset, maxLeaderEpoch }: { nextOffset: number; maxLeaderEpoch: number },
): BatchRun | BrokenRun {
  let at = 0
  let batchCount = 0
  let baseOffset = -1
  let lastOffset = nextOffset - 1
  let firstLeaderEpoch = -1
  let lastLeaderEpoch = -1
  let maxTimestamp = -1n
  for (; ; batchCount++) {
    const size = batch.batchSizeAt(bytes, at)
    if (size === batch.corrupt) return broken(ErrorCode.corruptMessage, 'the bytes are no record batch', at)
    if (size === batch.truncated) break
    if (!isSound(bytes, at, size)) return broken(ErrorCode.corruptMessage, 'the CRC of the batch is wrong', at)
    const isLegacy = batch.readMagic(bytes, at) < 2
    const leaderEpoch = isLegacy ? -1 : batch.readPartitionLeaderEpoch(bytes, at)
    if (leaderEpoch > maxLeaderEpoch) break
    const first = batch.readBaseOffset(bytes, at)
    const last = isLegacy ? first : batch.readLastOffset(bytes, at)
    if (!(first > lastOffset && last >= first && last < Number.POSITIVE_INFINITY)) {
      return broken(ErrorCode.invalidRecord, 'the offsets do not follow those before', at)
    }
    if (batchCount === 0) {
      baseOffset = first
      firstLeaderEpoch = leaderEpoch
    } else if (leaderEpoch > lastLeaderEpoch && first > lastOffset + 1) break
    lastOffset = last
    lastLeaderEpoch = leaderEpoch
    const timestamp = isLegacy ? readLegacyTimestamp(bytes, at) : batch.readMaxTimestamp(bytes, at)
    if (timestamp > maxTimestamp) maxTimestamp = timestamp
    at += size
  }
  if (batchCount === 0) lastOffset = -1
  const leaderEpochs = { firstLeaderEpoch, lastLeaderEpoch }
  return { type: 'run', sizeBytes: at, batchCount, baseOffset, lastOffset, ...leaderEpochs, maxTimestamp }
}

function isSound(bytes: Buffer, at: number, size: number): boolean {
  return batch.readMagic(bytes, at) < 2 ? isLegacyCrcValid(bytes, at, size) : batch.isCrcValid(bytes, at, size)
}

function broken(errorCode: ErrorCode, reason: string, position: number): BrokenRun {
  return { type: 'broken', errorCode, reason, position }
}
