import { isUuid, type Uuid } from '../../base/uuid.ts'

/** Every file of a segment has its base offset as name: 20 digits. A snapshot's is the offset after what it covers. */
export type SegmentFileKind = 'log' | 'index' | 'timeindex' | 'txnindex' | 'snapshot'

/** What is appended to a name while an operation is under way; the next start completes or removes such files. */
export type UnfinishedSuffix = 'deleted' | 'cleaned' | 'swap'

export interface SegmentFileName {
  readonly offset: number
  readonly kind: SegmentFileKind
  readonly suffix: UnfinishedSuffix | undefined
}

export const leaderEpochFileName = 'leader-epoch-checkpoint'
export const partitionMetadataFileName = 'partition.metadata'

const segmentFilePattern = /^(\d{20})\.(log|index|timeindex|txnindex|snapshot)(?:\.(deleted|cleaned|swap))?$/

export function segmentFileName(offset: number, kind: SegmentFileKind): string {
  return `${offset.toString().padStart(20, '0')}.${kind}`
}

/** Undefined for names of other files. */
export function parseSegmentFileName(name: string): SegmentFileName | undefined {
  const match = segmentFilePattern.exec(name)
  if (match === null) return undefined
  const offset = Number(match[1])
  if (!Number.isSafeInteger(offset)) return undefined
  return { offset, kind: match[2] as SegmentFileKind, suffix: match[3] as UnfinishedSuffix | undefined }
}

/** What a partition's directory is kept for: in use, renamed for removal, unknown to the cluster, or a copy in the making. */
export type PartitionDirectoryKind = 'current' | 'delete' | 'stray' | 'future'

export interface PartitionDirectoryName {
  readonly topic: string
  readonly partition: number
  readonly kind: PartitionDirectoryKind
}

const maxNameBytes = 255
const topicPattern = /^[a-zA-Z0-9._-]{1,249}$/
const renamedPattern = /^(.+)-(\d+)\.[0-9a-f]{32}-(delete|stray|future)$/
const currentPattern = /^(.+)-(\d+)$/

export function partitionDirectoryName(topic: string, partition: number): string {
  return `${topic}-${partition}`
}

/** `id` makes the name unique: 32 hexadecimal digits. The topic's part is cut where the whole would be too long for a file system. */
export function renamedDirectoryName(
  { topic, partition }: { topic: string; partition: number },
  kind: 'delete' | 'stray' | 'future',
  id: string,
): string {
  const suffix = `-${partition}.${id}-${kind}`
  const kept = kind === 'future' ? topic : topic.slice(0, maxNameBytes - suffix.length)
  return kept + suffix
}

/** Undefined for directories that are no partition's. The topic of a renamed directory may be cut. */
export function parsePartitionDirectoryName(name: string): PartitionDirectoryName | undefined {
  const match = renamedPattern.exec(name) ?? currentPattern.exec(name)
  if (match === null || !topicPattern.test(match[1])) return undefined
  const partition = Number(match[2])
  if (partition > 0x7fff_ffff || String(partition) !== match[2]) return undefined
  return { topic: match[1], partition, kind: (match[3] as PartitionDirectoryKind | undefined) ?? 'current' }
}

/** The content of `partition.metadata`; Kafka writes no newline at its end. */
export function encodePartitionMetadata(topicId: Uuid): Buffer {
  return Buffer.from(`version: 0\ntopic_id: ${topicId}`)
}

/** Whether this may be what a power cut leaves of such a file that was never synced: its beginning, and zeros. */
export function isTornPartitionMetadata(bytes: Buffer): boolean {
  const text = bytes.toString('latin1').replace(/\0+$/, '')
  return 'version: 0\ntopic_id: '.startsWith(text) || /^version: 0\ntopic_id: \S{0,21}$/.test(text)
}

/** Undefined when the content is not that of such a file. */
export function decodePartitionMetadata(bytes: Buffer): Uuid | undefined {
  const match = /^version: 0\r?\ntopic_id: (\S{22})\s*$/.exec(bytes.toString('latin1'))
  return match !== null && isUuid(match[1]) ? match[1] : undefined
}
