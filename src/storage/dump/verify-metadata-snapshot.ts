import type { Disk } from '../../io/disk.ts'
import { batchHeaderBytes, isControlBatch, readBatchSize } from '../../records/batch.ts'
import { RecordReader } from '../../records/record.ts'
import { scanFile } from '../segment-scan.ts'
import { anyPlace } from '../stored-batch.ts'
import { decodeControl, recordDecoder } from './stored-record.ts'
import type { Problem } from './verify.ts'

/** A snapshot of the metadata log is whole: it ends with its footer, and every record in it can be decoded. */
export async function verifyMetadataSnapshot(
  disk: Disk,
  path: string,
  report: (problem: Problem) => void,
): Promise<void> {
  const decodeMetadata = recordDecoder('__cluster_metadata')
  const place = { ...anyPlace, isContiguous: true }
  const file = disk.open(path, 'read')
  try {
    let last = ''
    const damaged = await scanFile(file, { position: 0, end: file.sizeBytes, place }, (bytes, at, position) => {
      const reader = new RecordReader(bytes, at, readBatchSize(bytes, at))
      const decode = isControlBatch(bytes, at) ? decodeControl : decodeMetadata
      for (const record of reader) {
        const decoded = decode?.(record.key, record.value)
        last = decoded?.type ?? ''
        if (last === 'undecodable') {
          report({ path, position, problem: `the record at offset ${record.offset} is damaged: ${decoded?.value}` })
        }
      }
      if (reader.isCorrupt) report({ path, position: position + batchHeaderBytes, problem: 'the records are damaged' })
    })
    for (const { position, reason } of damaged) report({ path, position, problem: reason })
    if (damaged.length === 0 && last !== 'snapshotFooter') {
      report({ path, position: file.sizeBytes, problem: 'the footer is missing: the snapshot is not whole' })
    }
  } finally {
    file.release()
  }
}
