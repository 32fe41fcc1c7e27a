import { leaderEpochFileName, parseSegmentFileName, partitionMetadataFileName } from '../../core/log/file-names.ts'

/** What a file of a log directory holds, by its name. */
export type LogFileKind =
  | 'segment'
  | 'offsetIndex'
  | 'timeIndex'
  | 'transactionIndex'
  | 'producerSnapshot'
  | 'metadataSnapshot'
  | 'leaderEpochs'
  | 'partitionMetadata'
  | 'quorumState'
  | 'offsetCheckpoint'
  | 'metaProperties'
  | 'text'

const bySegmentKind = {
  log: 'segment',
  index: 'offsetIndex',
  timeindex: 'timeIndex',
  txnindex: 'transactionIndex',
  snapshot: 'producerSnapshot',
} as const

const metadataSnapshotPattern = /^\d{20}-\d{10}\.checkpoint$/

/** Undefined for files that are none of ours, and for leftovers that the next start removes. */
export function logFileKind(name: string): LogFileKind | undefined {
  const segmentFile = parseSegmentFileName(name)
  if (segmentFile !== undefined) return segmentFile.suffix === undefined ? bySegmentKind[segmentFile.kind] : undefined
  if (metadataSnapshotPattern.test(name)) return 'metadataSnapshot'
  if (name.endsWith('-offset-checkpoint')) return 'offsetCheckpoint'
  switch (name) {
    case leaderEpochFileName:
      return 'leaderEpochs'
    case partitionMetadataFileName:
      return 'partitionMetadata'
    case 'quorum-state':
      return 'quorumState'
    case 'meta.properties':
      return 'metaProperties'
    case '.kafka_cleanshutdown':
    case 'bootstrap.checkpoint':
    case 'millrace-log-ends':
    case 'millrace-offsets':
    case 'millrace-durability':
      return name === 'bootstrap.checkpoint' ? 'metadataSnapshot' : 'text'
    default:
      return undefined
  }
}

export function directoryOf(path: string): string {
  const at = path.lastIndexOf('/')
  return at <= 0 ? '/' : path.slice(0, at)
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
