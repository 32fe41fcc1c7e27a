import { assert } from '../../base/assert.ts'
import { segmentFileName } from '../../core/log/file-names.ts'
import { expectDiskError } from '../../io/disk.ts'
import type { LogReader } from '../log-reader.ts'
import type { LogState } from '../log-state.ts'
import type { Segment } from '../segment.ts'
import type { LogPosition } from '../segment-list.ts'
import { closeTaken, renameSnapshotToDeleted, renameToDeleted, unlinkLater } from '../segment-removal.ts'
import { type CompactedSegment, renamedKinds } from './compacted-segment.ts'

const retryMs = 1000

/**
 * Puts a compacted segment in the place of those that it was made from. Each step is synced before the next begins, in
 * Kafka's order and with Kafka's names, so that what a crash leaves is completed by the rules of either:
 *
 * 1. The new files are `.cleaned`, whole and synced. A crash up to here leaves the old segments.
 * 2. They become `.swap`, the log file last: as long as one of them is `.cleaned`, all are dropped. From now on a crash leaves
 *    the new segment: it takes the place of those that begin before its last batch ends.
 * 3. Readers see the new segment, and the old files become `.deleted`.
 * 4. The new files get their names.
 * 5. Segments behind those, of which nothing was left, go one by one: they are not within what the name of the new one says,
 *    and a later one may hold the tombstone of a record in an earlier one. Readers see each until its removal is durable.
 */
export class SegmentSwap {
  readonly #state: LogState
  readonly #reader: LogReader

  constructor(state: LogState, reader: LogReader) {
    this.#state = state
    this.#reader = reader
  }

  /**
   * `replaced` and `emptied` follow one another in the log, which nobody else changes meanwhile. Resolves when all is done,
   * or when it is left to the next start, since the log was closed or its directory has failed. Rejects with `DiskError` when
   * nothing has changed but the names of the new files.
   */
  async run(made: CompactedSegment, replaced: readonly Segment[], emptied: readonly Segment[]): Promise<void> {
    const { disk } = this.#state.context
    made.renameToSwap()
    await disk.syncDirectory(this.#state.home.path)
    if (!this.#state.hasFiles) return
    this.#replace(replaced, made.segment)
    if (!(await this.#removeReplaced(made.segment, replaced))) return
    if (!(await this.#complete(made.segment))) return
    for (const segment of emptied) if (!(await this.#removeEmptied(made.segment, segment))) return
  }

  #replace(replaced: readonly Segment[], segment: Segment): void {
    const state = this.#state
    state.segments.replace(replaced, segment)
    closeTaken(state, replaced)
    state.context.indexCache.touch(segment)
    state.context.traffic.add(segment, segment.sizeBytes)
    const last = replaced[replaced.length - 1]
    state.written = movedTo(segment, last, state.written)
    state.logEnd = movedTo(segment, last, state.logEnd)
    this.#reader.moved(segment.nextOffset)
  }

  #removeReplaced(segment: Segment, replaced: readonly Segment[]): Promise<boolean> {
    const names = new Set<string>()
    return this.#insist(async () => {
      for (const one of replaced)
        renameToDeleted(this.#state, one, names, { withSnapshot: one.baseOffset !== segment.baseOffset })
      await this.#syncNames()
      unlinkLater(this.#state, names)
    })
  }

  #complete(segment: Segment): Promise<boolean> {
    return this.#insist(async () => {
      const { disk } = this.#state.context
      for (const kind of renamedKinds) {
        const name = `${this.#state.home.path}/${segmentFileName(segment.baseOffset, kind)}`
        if (disk.status(`${name}.swap`) !== undefined) disk.rename(`${name}.swap`, name)
      }
      segment.suffix = ''
      await this.#syncNames()
    })
  }

  async #removeEmptied(before: Segment, segment: Segment): Promise<boolean> {
    const state = this.#state
    assert(state.segments.after(before) === segment, 'emptied segments follow the one that was made')
    const names = new Set<string>()
    const isRemoved = await this.#insist(async () => {
      renameToDeleted(state, segment, names, { withSnapshot: false })
      segment.suffix = '.deleted'
      await this.#syncNames()
      if (!state.hasFiles) return
      this.#takeOut(before, segment)
    })
    if (!isRemoved) return false
    // As long as the segment may be there after a crash, its snapshot says that what lies before it is no damage.
    return await this.#insist(async () => {
      renameSnapshotToDeleted(state, segment, names)
      unlinkLater(state, names)
    })
  }

  #takeOut(before: Segment, segment: Segment): void {
    const state = this.#state
    state.segments.removeEmptied(segment)
    before.nextOffset = segment.nextOffset
    state.written = movedTo(before, segment, state.written)
    state.logEnd = movedTo(before, segment, state.logEnd)
    this.#reader.moved(segment.nextOffset)
  }

  #syncNames(): Promise<void> {
    return this.#state.context.disk.syncDirectory(this.#state.home.path)
  }

  /**
   * There is no way back any more: where the directory is full, it is tried again until there is room. Answers false when the
   * rest is left to the next start, which finds in the names of the files what is to be done.
   */
  async #insist(act: () => Promise<void>): Promise<boolean> {
    const state = this.#state
    for (;;) {
      if (!state.hasFiles) return false
      try {
        await act()
        return state.hasFiles
      } catch (error) {
        expectDiskError(error)
        state.failed(error)
        if (state.isClosed || state.isLeaving || !state.hasFiles) return false
      }
      await new Promise<void>(resolve => state.context.clock.after(retryMs, resolve))
      if (state.isClosed || state.isLeaving) return false
    }
  }
}

/** The end of the log, if it lies at the end of a segment whose place was taken. */
function movedTo(segment: Segment, last: Segment, end: LogPosition): LogPosition {
  return end.segment === last ? { offset: end.offset, segment, position: segment.sizeBytes } : end
}
