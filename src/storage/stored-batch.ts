import {
  batchHeaderBytes,
  batchSizeAt,
  corrupt,
  isCrcValid,
  readBaseOffset,
  readBatchSize,
  readLastOffset,
  readLastOffsetDelta,
  readMagic,
  readMaxTimestamp,
  readPartitionLeaderEpoch,
} from '../records/batch.ts'
import { isLegacyCrcValid, readLegacyTimestamp } from '../records/legacy.ts'
import type { KnownEpochs } from './epoch-file.ts'

/**
 * What can be said of an entry of a segment, which is a batch of magic 2 or an entry from before an upgrade. The offset
 * of a legacy entry is that of the last record inside; where the first one is, only its content tells.
 */
export function isLegacy(bytes: Buffer, at: number): boolean {
  return readMagic(bytes, at) < 2
}

export function storedLastOffset(bytes: Buffer, at: number): number {
  return isLegacy(bytes, at) ? readBaseOffset(bytes, at) : readLastOffset(bytes, at)
}

export function storedMaxTimestamp(bytes: Buffer, at: number): bigint {
  return isLegacy(bytes, at) ? readLegacyTimestamp(bytes, at) : readMaxTimestamp(bytes, at)
}

/** -1 when the entry has none. */
export function storedLeaderEpoch(bytes: Buffer, at: number): number {
  return isLegacy(bytes, at) ? -1 : readPartitionLeaderEpoch(bytes, at)
}

export function isStoredCrcValid(bytes: Buffer, at: number, size: number): boolean {
  return isLegacy(bytes, at) ? isLegacyCrcValid(bytes, at, size) : isCrcValid(bytes, at, size)
}

/** What the place of a batch in a log says of its offsets and epoch, which its CRC does not cover. */
export interface BatchPlace {
  /** The batch does not begin below this. */
  readonly from: number
  /** The one before it is known, and ends there. Otherwise the batch is one that an index or the like has led to. */
  readonly isAfterKnown: boolean
  /** It does not reach this. */
  readonly to: number
  /**
   * No offset is left out before it. In any log but that of the metadata some may be: a follower has the gaps that compaction
   * has made in its leader's log, whatever the topic's policy is by now.
   */
  readonly isContiguous: boolean
  /** Its leader epoch is not below this. */
  readonly minLeaderEpoch: number
  /** Which epoch wrote which offset, as far as that is known without the batches. */
  readonly epochs: KnownEpochs | undefined
  /** No epoch is missing there: otherwise newer ones may follow the last. */
  readonly areEpochsComplete: boolean
}

export const anyPlace: BatchPlace = Object.freeze({
  from: 0,
  isAfterKnown: false,
  to: Number.POSITIVE_INFINITY,
  isContiguous: false,
  minLeaderEpoch: 0,
  epochs: undefined,
  areEpochsComplete: false,
})

/** Why the bytes are no batch for this place; undefined when they are one. The batch is whole: `size` bytes at `at`. */
export function findBatchProblem(bytes: Buffer, at: number, size: number, place: BatchPlace): string | undefined {
  if (!isStoredCrcValid(bytes, at, size)) return 'the CRC of the batch is wrong'
  const baseOffset = readBaseOffset(bytes, at)
  const lastOffset = storedLastOffset(bytes, at)
  if (!isLegacy(bytes, at)) {
    if (readLastOffsetDelta(bytes, at) < 0) return 'the batch ends before it begins'
    const leavesOut = place.isAfterKnown && baseOffset !== place.from
    if (leavesOut && place.isContiguous) return `the batch has offset ${baseOffset}, not ${place.from}`
  }
  if (!(baseOffset >= place.from)) return `the batch has offset ${baseOffset}, below ${place.from}`
  if (!(lastOffset < place.to)) return `the batch reaches offset ${lastOffset}, beyond ${place.to}`
  return findEpochProblem(storedLeaderEpoch(bytes, at), baseOffset, place)
}

function findEpochProblem(leaderEpoch: number, baseOffset: number, place: BatchPlace): string | undefined {
  if (leaderEpoch < 0) return undefined
  if (leaderEpoch < place.minLeaderEpoch)
    return `the batch has leader epoch ${leaderEpoch}, below ${place.minLeaderEpoch}`
  const known = place.epochs?.epochAt(baseOffset) ?? -1
  if (known < 0 || known === leaderEpoch) return undefined
  const isNewer = !place.areEpochsComplete && known === place.epochs?.latestEpoch && leaderEpoch > known
  return isNewer ? undefined : `the batch has leader epoch ${leaderEpoch}, but ${known} wrote offset ${baseOffset}`
}

/**
 * Whether the batch after the one at `at` shows that the offset of the latter is wrong. No CRC covers it, and offsets may be
 * left out before a batch, so one that has grown looks like a gap; but then the next batch goes back to an offset that lies
 * before its end. `restBytes` are in the file from `at` on. A number: so many of them are needed to tell.
 */
export function isOffsetContradicted(
  bytes: Buffer,
  at: number,
  { size, restBytes, place }: { size: number; restBytes: number; place: BatchPlace },
): boolean | number {
  const baseOffset = readBaseOffset(bytes, at)
  if (baseOffset === place.from || !place.isAfterKnown || isLegacy(bytes, at)) return false
  const next = at + size
  if (size + batchHeaderBytes > restBytes) return false
  if (next + batchHeaderBytes > bytes.length) return size + batchHeaderBytes
  const nextSize = readBatchSize(bytes, next)
  if (batchSizeAt(bytes, next) === corrupt || size + nextSize > restBytes) return false
  // The batch, where it was, has room between the one before it and the next.
  const isBack = readBaseOffset(bytes, next) <= readLastOffset(bytes, at)
  const hasRoom = readBaseOffset(bytes, next) > place.from + readLastOffsetDelta(bytes, at)
  if (!isBack || !hasRoom || isLegacy(bytes, next)) return false
  if (next + nextSize > bytes.length) return size + nextSize
  if (!isCrcValid(bytes, next, nextSize)) return false
  const isShrunk = hasNextShrunk(bytes, at, { next, nextSize, restBytes }, place)
  return typeof isShrunk === 'number' ? isShrunk : !isShrunk
}

/**
 * Whether it is the next batch whose offset is wrong: it has shrunk, into a gap before the one at `at`. It is when it fits exactly
 * between that and the one behind it, and the one at `at` would not fit exactly before it.
 */
function hasNextShrunk(
  bytes: Buffer,
  at: number,
  { next, nextSize, restBytes }: { next: number; nextSize: number; restBytes: number },
  { from }: BatchPlace,
): boolean | number {
  if (from + readLastOffsetDelta(bytes, at) + 1 === readBaseOffset(bytes, next)) return false
  const third = next + nextSize
  const needed = third - at + batchHeaderBytes
  if (needed > restBytes) return false
  if (third + batchHeaderBytes > bytes.length) return needed
  if (batchSizeAt(bytes, third) === corrupt || isLegacy(bytes, third)) return false
  return readBaseOffset(bytes, third) === readLastOffset(bytes, at) + readLastOffsetDelta(bytes, next) + 2
}

/** What is wrong with a batch whose offset is contradicted by the one at `next`. */
export function contradiction(bytes: Buffer, at: number, next: number): string {
  return `the batch has offset ${readBaseOffset(bytes, at)}, but ${readBaseOffset(bytes, next)} follows`
}

/**
 * Whether the batch after the one at `at` shows that the latter's epoch is wrong: epochs never fall, and it goes back to the
 * one before. Asked where an epoch begins that nothing else tells of.
 */
export function isEpochContradicted(bytes: Buffer, at: number, size: number, place: BatchPlace): boolean {
  const leaderEpoch = storedLeaderEpoch(bytes, at)
  if (place.areEpochsComplete || leaderEpoch <= place.minLeaderEpoch) return false
  const next = at + size
  const nextSize = batchSizeAt(bytes, next)
  if (nextSize <= 0 || isLegacy(bytes, next) || !isCrcValid(bytes, next, nextSize)) return false
  if (readBaseOffset(bytes, next) !== storedLastOffset(bytes, at) + 1) return false
  const nextEpoch = storedLeaderEpoch(bytes, next)
  return nextEpoch >= place.minLeaderEpoch && nextEpoch < leaderEpoch
}
