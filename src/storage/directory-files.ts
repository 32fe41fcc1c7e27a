import { isUuid, type Uuid, zeroUuid } from '../base/uuid.ts'
import {
  decodeOffsetCheckpoint,
  encodeOffsetCheckpoint,
  type OffsetCheckpointEntry,
} from '../core/log/checkpoint-text.ts'
import { type Disk, replaceFile } from '../io/disk.ts'

export const lockFileName = '.lock'
export const cleanShutdownFileName = '.kafka_cleanshutdown'
export const metaPropertiesFileName = 'meta.properties'

const maxSmallFileBytes = 1024 * 1024
const maxCheckpointBytes = 64 * 1024 * 1024

export type OffsetCheckpointName =
  | 'recovery-point-offset-checkpoint'
  | 'log-start-offset-checkpoint'
  | 'replication-offset-checkpoint'
  | 'cleaner-offset-checkpoint'

/** Offsets by partition directory name, such as `topic-0`; undefined when the file is damaged, empty when it is absent. */
export function readOffsetCheckpoint(
  disk: Disk,
  directory: string,
  name: OffsetCheckpointName,
): Map<string, number> | undefined {
  const bytes = disk.readSmallFile(`${directory}/${name}`, maxCheckpointBytes)
  if (bytes === undefined) return new Map()
  const entries = decodeOffsetCheckpoint(bytes)
  return entries && new Map(entries.map(({ topic, partition, offset }) => [`${topic}-${partition}`, offset]))
}

export function writeOffsetCheckpoint(
  disk: Disk,
  directory: string,
  name: OffsetCheckpointName,
  entries: readonly OffsetCheckpointEntry[],
): Promise<void> {
  return replaceFile(disk, `${directory}/${name}`, encodeOffsetCheckpoint(entries))
}

/** What `meta.properties` says. Version 0 may lack the directory id. */
export interface MetaProperties {
  readonly version: 0 | 1
  readonly clusterId: string
  readonly nodeId: number
  readonly directoryId: Uuid | undefined
}

export type MetaPropertiesRead =
  | { readonly type: 'read'; readonly properties: MetaProperties }
  | { readonly type: 'absent' }
  | { readonly type: 'damaged'; readonly reason: string }

export function readMetaProperties(disk: Disk, directory: string): MetaPropertiesRead {
  const bytes = disk.readSmallFile(`${directory}/${metaPropertiesFileName}`, maxSmallFileBytes)
  return bytes === undefined ? { type: 'absent' } : decodeMetaProperties(bytes)
}

export function decodeMetaProperties(bytes: Buffer): MetaPropertiesRead {
  const values = new Map<string, string>()
  for (const line of bytes.toString('latin1').split(/\r?\n/)) {
    const match = /^\s*([^#!\s=:][^=:]*?)\s*[=:]\s*(.*?)\s*$/.exec(line)
    if (match !== null) values.set(match[1], match[2].replace(/\\(.)/g, '$1'))
  }
  const version = values.get('version') ?? '0'
  if (version !== '0' && version !== '1') return { type: 'damaged', reason: `version ${version} is unknown` }
  const clusterId = values.get('cluster.id')
  const nodeId = Number(values.get(version === '1' ? 'node.id' : 'broker.id') ?? 'missing')
  const directoryId = values.get('directory.id')
  if (clusterId === undefined || clusterId === '') return { type: 'damaged', reason: 'cluster.id is missing' }
  if (!Number.isInteger(nodeId) || nodeId < 0) return { type: 'damaged', reason: 'the node id is missing or no number' }
  if (directoryId !== undefined && !isUsableDirectoryId(directoryId)) {
    return { type: 'damaged', reason: `directory.id ${directoryId} is not usable` }
  }
  return { type: 'read', properties: { version: Number(version) as 0 | 1, clusterId, nodeId, directoryId } }
}

/** The first hundred ids have meanings of their own. */
function isUsableDirectoryId(id: string): boolean {
  return isUuid(id) && !(id.startsWith(zeroUuid.slice(0, 20)) && Buffer.from(id, 'base64url')[15] < 100)
}

/** Always in version 1. */
export function writeMetaProperties(
  disk: Disk,
  directory: string,
  properties: { clusterId: string; nodeId: number; directoryId: Uuid },
): Promise<void> {
  const { clusterId, nodeId, directoryId } = properties
  const text = `#\nversion=1\ncluster.id=${clusterId}\nnode.id=${nodeId}\ndirectory.id=${directoryId}\n`
  return replaceFile(disk, `${directory}/${metaPropertiesFileName}`, Buffer.from(text))
}

/** Undefined when the last shutdown was not clean. `brokerEpoch` is -1 where the file does not say. */
export function readCleanShutdown(disk: Disk, directory: string): { brokerEpoch: number } | undefined {
  const bytes = disk.readSmallFile(`${directory}/${cleanShutdownFileName}`, maxSmallFileBytes)
  if (bytes === undefined) return undefined
  const match = /"brokerEpoch"\s*:\s*(-?\d+)/.exec(bytes.toString('latin1'))
  return { brokerEpoch: match === null ? -1 : Number(match[1]) }
}

export function writeCleanShutdown(disk: Disk, directory: string, brokerEpoch: number): Promise<void> {
  const content = Buffer.from(JSON.stringify({ version: 0, brokerEpoch }))
  return replaceFile(disk, `${directory}/${cleanShutdownFileName}`, content)
}

/** Before anything is written: a crash from here on must find no marker. */
export async function removeCleanShutdown(disk: Disk, directory: string): Promise<void> {
  await disk.remove(`${directory}/${cleanShutdownFileName}`)
  await disk.syncDirectory(directory)
}
