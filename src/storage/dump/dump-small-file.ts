import { decodeOffsetCheckpoint } from '../../core/log/checkpoint-text.ts'
import { LeaderEpochs } from '../../core/log/leader-epochs.ts'
import { lastSequenceOf } from '../../core/log/producer-entry.ts'
import { decodeProducerSnapshot } from '../../core/log/producer-snapshot.ts'
import type { Disk } from '../../io/disk.ts'
import { maxSnapshotBytes } from '../producer-recovery.ts'
import type { DumpItem } from './dump-item.ts'
import type { LogFileKind } from './log-file-kind.ts'

/** Shows a file that is read whole: a producer snapshot, a checkpoint, or one that is text anyway. */
export function dumpSmallFile(disk: Disk, path: string, kind: LogFileKind, show: (item: DumpItem) => void): void {
  const bytes = disk.readSmallFile(path, maxSnapshotBytes) ?? Buffer.alloc(0)
  const items = itemsOf(bytes, kind)
  for (const item of items ?? [
    { type: 'damage', position: 0, end: bytes.length, reason: 'the file is damaged' } as const,
  ]) {
    show(item)
  }
}

/** Undefined when the file is damaged. */
function itemsOf(bytes: Buffer, kind: LogFileKind): readonly DumpItem[] | undefined {
  switch (kind) {
    case 'producerSnapshot':
      return decodeProducerSnapshot(bytes)?.map(([producerId, entry]) => {
        const { producerEpoch, lastTimestamp, coordinatorEpoch, currentTxnFirstOffset } = entry
        const last = entry.batches.at(-1)
        const [lastOffset, offsetDelta] = [last?.lastOffset ?? -1, last?.offsetDelta ?? 0]
        return {
          ...{ type: 'producer' as const, producerId, producerEpoch, lastSequence: lastSequenceOf(entry), lastOffset },
          ...{ offsetDelta, lastTimestamp, coordinatorEpoch, currentTxnFirstOffset },
        }
      })
    case 'leaderEpochs':
      return LeaderEpochs.decode(bytes)?.entries.map(entry => ({ type: 'leaderEpoch', ...entry }))
    case 'offsetCheckpoint':
      return decodeOffsetCheckpoint(bytes)?.map(entry => ({ type: 'checkpoint', ...entry }))
    default:
      return bytes
        .toString('utf8')
        .trimEnd()
        .split('\n')
        .map(text => ({ type: 'text', text }))
  }
}
