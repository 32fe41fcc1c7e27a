import type { PlantedBug } from '../planted-bugs.ts'

/** Mistakes of compaction. */
export const bugs: readonly PlantedBug[] = [
  {
    name: 'tombstones-go-a-pass-too-early',
    file: 'records/compaction/filter-batches.ts',
    find: 'const horizonMs = this.#job.wallMs + this.#job.deleteRetentionMs',
    replace: 'const horizonMs = this.#job.wallMs',
    why: 'a reader that has a record is not told that it was deleted (I55)',
  },
  {
    name: 'compacted-segments-are-not-synced',
    file: 'storage/compaction/compacted-segment.ts',
    find: 'await this.#file.sync()',
    replace: '',
    why: 'a power cut takes what the old segments had, which are gone (I54, I1)',
  },
  {
    name: 'tail-ring-is-not-told-of-compaction',
    file: 'storage/log-reader.ts',
    find: 'this.tail?.forgetBelow(endOffset)',
    replace: '',
    why: 'reads begin where batches lay before (I40, I50)',
  },
  {
    name: 'last-batch-of-producer-is-compacted-away',
    file: 'storage/compaction/compaction-pass.ts',
    find: 'lastDataOffset: last?.lastOffset ?? -1',
    replace: 'lastDataOffset: -1',
    why: 'a replay knows less of a producer than the log did (I27)',
  },
  {
    name: 'compaction-forgets-tombstone-horizon',
    file: 'records/compaction/filter-batches.ts',
    find: 'const keepsTombstones = horizon === undefined || !this.#isOver(horizon)',
    replace: 'const keepsTombstones = horizon !== undefined && !this.#isOver(horizon)',
    why: 'the first pass takes a tombstone at once, and a reader that has the record is not told (I55)',
  },
  {
    name: 'compaction-swaps-are-not-synced',
    file: 'storage/compaction/segment-swap.ts',
    find: `made.renameToSwap()
    await disk.syncDirectory(this.#state.home.path)`,
    replace: 'made.renameToSwap()',
    why: 'a power cut brings back what readers had found gone, or takes old and new (I54, I1)',
  },
]
