import { type SegmentFileKind, segmentFileName } from '../core/log/file-names.ts'
import { expectDiskError } from '../io/disk.ts'
import type { LogState } from './log-state.ts'
import type { Segment } from './segment.ts'

const segmentFileKinds: readonly SegmentFileKind[] = ['log', 'index', 'timeindex', 'txnindex']

/** They are no part of the log any more: whatever becomes of their files, nobody else would close them. */
export function closeTaken({ context }: LogState, segments: readonly Segment[]): readonly Segment[] {
  for (const segment of segments) {
    context.openFiles.close(segment)
    context.indexCache.forget(segment)
  }
  return segments
}

/**
 * The files of a segment that is no part of the log any more get the suffix `.deleted`, and their names are added to `names`.
 * The caller syncs the directory, and then has them unlinked. Throws `DiskError`.
 */
export function renameToDeleted(
  state: LogState,
  segment: Segment,
  names: Set<string>,
  { withSnapshot = true } = {},
): void {
  closeTaken(state, [segment])
  for (const kind of segmentFileKinds) rename(state, segment, kind, names)
  if (withSnapshot) renameSnapshotToDeleted(state, segment, names)
}

/** For a snapshot that is to outlive its segment for a while. Throws `DiskError`. */
export function renameSnapshotToDeleted(state: LogState, segment: Segment, names: Set<string>): void {
  rename(state, segment, 'snapshot', names)
}

function rename({ context, home }: LogState, { baseOffset }: Segment, kind: SegmentFileKind, names: Set<string>): void {
  const name = segmentFileName(baseOffset, kind)
  if (context.disk.status(`${home.path}/${name}`) === undefined) return
  context.disk.rename(`${home.path}/${name}`, `${home.path}/${name}.deleted`)
  names.add(`${name}.deleted`)
}

/** Such files go when nobody can be reading them any more. */
export function unlinkLater(state: LogState, names: ReadonlySet<string>): void {
  if (names.size > 0) state.directory.after(state.config.fileDeleteDelayMs, () => unlink(state, names))
}

async function unlink(state: LogState, names: ReadonlySet<string>): Promise<void> {
  const { context, home, directory } = state
  try {
    for (const name of names) if (state.hasFiles) await context.disk.remove(`${home.path}/${name}`)
  } catch (error) {
    expectDiskError(error)
    directory.writeFailed(error)
  }
}
