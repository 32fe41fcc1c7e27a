import { parsePartitionDirectoryName, parseSegmentFileName } from '../../core/log/file-names.ts'
import type { Disk } from '../../io/disk.ts'
import { readBaseOffset, readMagic } from '../../records/batch.ts'
import { decodeBatchHeader } from '../../records/batch-header.ts'
import { openBatch } from '../../records/open-batch.ts'
import { scanFile } from '../segment-scan.ts'
import { anyPlace, isLegacy } from '../stored-batch.ts'
import type { DumpOptions } from './dump.ts'
import { directoryOf, nameOf } from './log-file-kind.ts'
import { decodeControl, type RecordDecoder, recordDecoder } from './stored-record.ts'

/** More than any broker lets a batch grow to. */
const maxUncompressedBytes = 1024 * 1024 * 1024

/** Shows the batches of a segment or of a snapshot of the metadata log, and what lies between them. */
export async function dumpBatches(
  disk: Disk,
  path: string,
  kind: 'segment' | 'metadataSnapshot',
  options: DumpOptions,
): Promise<void> {
  const topic = kind === 'metadataSnapshot' ? '__cluster_metadata' : topicOf(path)
  const decode = recordDecoder(topic)
  const from = kind === 'segment' ? (parseSegmentFileName(nameOf(path))?.offset ?? 0) : 0
  const place = { ...anyPlace, from }
  const file = disk.open(path, 'read')
  try {
    const range = { position: 0, end: file.sizeBytes, place }
    const damaged = await scanFile(file, range, (bytes, at, position, size) => {
      if (isLegacy(bytes, at)) {
        const lastOffset = readBaseOffset(bytes, at)
        options.show({ type: 'legacyEntry', position, magic: readMagic(bytes, at), lastOffset, sizeBytes: size })
        return
      }
      options.show({ type: 'batch', position, batch: decodeBatchHeader(bytes, at) })
      if (options.withRecords) dumpRecords(bytes, at, position, decode, options)
    })
    for (const { position, end, reason } of damaged) options.show({ type: 'damage', position, end, reason })
  } finally {
    file.release()
  }
}

function dumpRecords(
  bytes: Buffer,
  at: number,
  position: number,
  decode: RecordDecoder | undefined,
  { show }: DumpOptions,
): void {
  const { isControl, sizeBytes } = decodeBatchHeader(bytes, at)
  const damage = (reason: string) => show({ type: 'damage', position, end: position + sizeBytes, reason })
  const reader = openBatch(bytes, at, maxUncompressedBytes)
  if ('type' in reader) {
    damage(reader.type === 'tooLarge' ? 'the records are too large when they are unpacked' : reader.reason)
    return
  }
  const decodeRecord = isControl ? decodeControl : decode
  for (const record of reader) {
    show({ type: 'record', record, decoded: decodeRecord?.(record.key, record.value) })
  }
  if (reader.isCorrupt) damage('the records are not what the header of the batch says')
}

/** The topic of a segment file, by the directory it is in. */
export function topicOf(path: string): string | undefined {
  return parsePartitionDirectoryName(nameOf(directoryOf(path)))?.topic
}
