import type { Uuid } from '../../base/uuid.ts'
import {
  decodePartitionMetadata,
  parsePartitionDirectoryName,
  partitionMetadataFileName,
} from '../../core/log/file-names.ts'
import { batchSizeAt, readBaseOffset, readLastOffset } from '../../records/batch.ts'
import type { SimulatedBroker } from '../cluster/simulated-broker.ts'
import type { SeededRandom } from '../io/seeded-random.ts'

export interface FlippedByte {
  readonly path: string
  readonly position: number
  readonly topic: string
  readonly topicId: Uuid
  readonly partition: number
  /** Offsets that may not be readable any more. */
  readonly from: number
  readonly to: number
}

/**
 * Damages one byte of a stored batch that others follow, while no process runs. With `mayLoseRest` a power cut may follow:
 * then damage cannot be told from what was never synced, and everything behind it may go.
 */
export function flipStoredByte(
  { node, ledger }: SimulatedBroker,
  random: SeededRandom,
  { mayLoseRest }: { readonly mayLoseRest: boolean },
): FlippedByte | undefined {
  const files = node.disk.files()
  const logs = files.filter(({ path, bytes }) => path.endsWith('.log') && bytes.length > 0 && !path.includes('/__'))
  if (logs.length === 0) return undefined
  const { path, bytes } = random.pick(logs)
  const directory = path.slice(0, path.lastIndexOf('/'))
  const name = parsePartitionDirectoryName(directory.slice(directory.lastIndexOf('/') + 1))
  const metadata = files.find(file => file.path === `${directory}/${partitionMetadataFileName}`)
  const topicId = metadata && decodePartitionMetadata(metadata.bytes)
  if (name === undefined || name.kind !== 'current' || topicId === undefined) return undefined
  const batches = batchesOf(bytes)
  // The last one is left alone: what follows nothing may be taken for a torn end.
  const place = batches[random.below(Math.max(1, batches.length - 1))]
  if (batches.length < 2 || place === undefined) return undefined
  const position = place.at + random.below(place.size)
  node.disk.flip(path, position, 1 << random.below(8))
  ledger.damaged(topicId, name.partition)
  const to = mayLoseRest ? Number.MAX_SAFE_INTEGER : batches.at(-1)!.lastOffset + 1
  return { path, position, topic: name.topic, topicId, partition: name.partition, from: place.baseOffset, to }
}

function batchesOf(bytes: Buffer): { at: number; size: number; baseOffset: number; lastOffset: number }[] {
  const batches = []
  for (let at = 0; at < bytes.length; ) {
    const size = batchSizeAt(bytes, at)
    if (size <= 0) break
    batches.push({ at, size, baseOffset: readBaseOffset(bytes, at), lastOffset: readLastOffset(bytes, at) })
    at += size
  }
  return batches
}
