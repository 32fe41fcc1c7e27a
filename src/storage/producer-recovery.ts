import { segmentFileName } from '../core/log/file-names.ts'
import { decodeProducerSnapshot } from '../core/log/producer-snapshot.ts'
import { ProducerStates } from '../core/log/producer-states.ts'
import type { Segment } from './segment.ts'
import type { SegmentList } from './segment-list.ts'
import { scanSegment } from './segment-scan.ts'
import type { StorageContext } from './storage-context.ts'

export const maxSnapshotBytes = 256 * 1024 * 1024

/**
 * Producer state at the beginning of a segment: the nearest snapshot that is whole, and a replay of what lies between. Of `since`,
 * an earlier segment, and those behind it all is replayed.
 */
export async function producerStatesBefore(
  context: StorageContext,
  segments: SegmentList,
  segment: Segment,
  since = segment,
): Promise<ProducerStates> {
  const states = new ProducerStates()
  const { all } = segments
  let first = segments.indexOf(since)
  while (first > 0 && !loadSnapshot(context, states, segment.home.path, all[first].baseOffset)) first--
  if (first === 0) loadSnapshot(context, states, segment.home.path, all[0].baseOffset)
  for (const earlier of all.slice(first, segments.indexOf(segment))) {
    await scanSegment(context, earlier, { position: 0, end: earlier.sizeBytes }, (bytes, at) => {
      states.append(bytes, at)
      states.complete(Number.POSITIVE_INFINITY)
    })
  }
  return states
}

/**
 * The same, with what holds back the last stable offset: transactions whose markers are not below the high watermark, of which
 * snapshots do not tell.
 */
export async function unstableStatesBefore(
  context: StorageContext,
  segments: SegmentList,
  segment: Segment,
  highWatermark: number,
): Promise<ProducerStates> {
  const states = await producerStatesBefore(context, segments, segment)
  if (highWatermark >= segment.baseOffset || !states.knowsMarkers) return states
  return producerStatesBefore(context, segments, segment, segments.floor(highWatermark))
}

/** Whether there is a whole snapshot of this offset; the states are then what it says. */
export function loadSnapshot(
  context: StorageContext,
  states: ProducerStates,
  logPath: string,
  offset: number,
): boolean {
  const bytes = context.disk.readSmallFile(`${logPath}/${segmentFileName(offset, 'snapshot')}`, maxSnapshotBytes)
  const entries = bytes && decodeProducerSnapshot(bytes)
  if (entries === undefined) return false
  states.reset(entries)
  return true
}
