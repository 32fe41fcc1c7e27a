import type { Uuid } from '../../base/uuid.ts'
import {
  decodePartitionMetadata,
  parsePartitionDirectoryName,
  partitionMetadataFileName,
} from '../../core/log/file-names.ts'
import { batchSizeAt, readBaseOffset, readLastOffset } from '../../records/batch.ts'
import type { SimulatedBroker } from '../cluster/simulated-broker.ts'
import type { SeededRandom } from '../io/seeded-random.ts'

export interface DamagedBatch {
  readonly path: string
  readonly what: string
  readonly topic: string
  readonly topicId: Uuid
  readonly partition: number
  /** Offsets that may not be readable any more. */
  readonly from: number
  readonly to: number
}

interface StoredBatch {
  readonly at: number
  readonly size: number
  readonly baseOffset: number
  readonly lastOffset: number
  readonly bytes: Buffer
}

interface StoredLog {
  readonly path: string
  readonly bytes: Buffer
  readonly batches: readonly StoredBatch[]
}

/** What a disk does to bytes that lie on it: a bit rots, or a write that was meant for another place lands here. */
const kinds = ['rot', 'rot', 'misdirectedBatch', 'misdirectedBatch', 'misdirectedSector'] as const
const sectorBytes = 512

/**
 * Damages a stored batch that others follow. While no process runs it may be any; otherwise one that the process has not
 * read: what it has checked it need not check again. With `mayLoseRest` a power cut may follow: then damage cannot be told
 * from what was never synced, and everything behind it may go.
 */
export function damageStoredBatch(
  { node, ledger, broker }: Pick<SimulatedBroker, 'node' | 'ledger' | 'broker'>,
  random: SeededRandom,
  { mayLoseRest }: { readonly mayLoseRest: boolean },
): DamagedBatch | undefined {
  const files = node.disk.files()
  const isLog = (path: string) => path.endsWith('.log') && !path.includes('/__')
  const logs = files
    .filter(({ path, bytes }) => isLog(path) && bytes.length > 0)
    .map(({ path, bytes }) => ({ path, bytes, batches: batchesOf(bytes) }))
  if (logs.length === 0) return undefined
  const log = random.pick(logs)
  const { path, batches } = log
  const directory = path.slice(0, path.lastIndexOf('/'))
  const name = parsePartitionDirectoryName(directory.slice(directory.lastIndexOf('/') + 1))
  const metadata = files.find(file => file.path === `${directory}/${partitionMetadataFileName}`)
  const topicId = metadata && decodePartitionMetadata(metadata.bytes)
  if (name === undefined || name.kind !== 'current' || topicId === undefined) return undefined
  const kind = random.pick(kinds)
  // The last one is left alone: what follows nothing may be taken for a torn end.
  const places = batches.slice(0, -1).filter(one => kind !== 'misdirectedBatch' || twinsOf(one, logs).length > 0)
  if (places.length === 0) return undefined
  const place = random.pick(places)
  const running = broker?.logs.get(topicId, name.partition)
  if (broker !== undefined && running?.isUnread(path, place) !== true) return undefined
  const damage = drawDamage(random, kind, { log, place, logs })
  if (damage === undefined) return undefined
  const { what, position, bytes } = damage
  if (!node.disk.damage(path, position, bytes)) return undefined
  ledger.damaged(topicId, name.partition)
  const siblings = logs.filter(one => one.path.startsWith(`${directory}/`)).flatMap(one => one.batches)
  const { from, to } = offsetsAround(place, siblings)
  const end = mayLoseRest ? Number.MAX_SAFE_INTEGER : to
  return { path, what, topic: name.topic, topicId, partition: name.partition, from, to: end }
}

/**
 * The offsets between the batches beside a damaged one. Where records have been cleaned away, the damaged batch may have held any of
 * them: its header, which would tell, is part of what cannot be believed, and a reader that was sent on to the next batch would
 * miss what it held.
 */
function offsetsAround(place: StoredBatch, others: readonly StoredBatch[]): { from: number; to: number } {
  let from = 0
  let to = Number.MAX_SAFE_INTEGER
  for (const { baseOffset, lastOffset } of others) {
    if (lastOffset < place.baseOffset) from = Math.max(from, lastOffset + 1)
    if (baseOffset > place.lastOffset) to = Math.min(to, baseOffset)
  }
  return { from, to }
}

interface Damage {
  readonly what: string
  readonly position: number
  readonly bytes: Buffer
}

function drawDamage(
  random: SeededRandom,
  kind: (typeof kinds)[number],
  { log, place, logs }: { readonly log: StoredLog; readonly place: StoredBatch; readonly logs: readonly StoredLog[] },
): Damage | undefined {
  switch (kind) {
    case 'rot': {
      const position = place.at + random.below(place.size)
      const bytes = Buffer.from([log.bytes[position]! ^ (1 << random.below(8))])
      return { what: `a bit of byte ${position} has changed`, position, bytes }
    }
    case 'misdirectedBatch': {
      const { bytes, baseOffset } = random.pick(twinsOf(place, logs))
      return { what: `a batch of offset ${baseOffset} lies at byte ${place.at}`, position: place.at, bytes }
    }
    case 'misdirectedSector': {
      const position = place.at - (place.at % sectorBytes)
      const from = random.pick(logs)
      const start = sectorBytes * random.below(Math.ceil(from.bytes.length / sectorBytes))
      const bytes = from.bytes.subarray(start, Math.min(start + sectorBytes, start + place.at + place.size - position))
      // Only what the batch holds: those before it are to be left alone.
      const skipped = place.at - position
      const part = bytes.subarray(skipped)
      // A whole batch of another log, at offsets that may be missing here, is like one of this log: nobody could tell.
      const holds = ({ at, size }: StoredBatch) => at >= start + skipped && at + size <= start + bytes.length
      if (from !== log && from.batches.some(holds)) return undefined
      const isOther = part.length > 0 && !part.equals(log.bytes.subarray(place.at, place.at + part.length))
      return isOther
        ? { what: `a sector of ${from.path} lies at byte ${position}`, position: place.at, bytes: part }
        : undefined
    }
  }
}

/** Valid in itself, and as large: where one of them lies in its place, nothing but its offset says that it belongs elsewhere. */
function twinsOf(place: StoredBatch, logs: readonly StoredLog[]): StoredBatch[] {
  return logs
    .flatMap(one => one.batches)
    .filter(({ size, baseOffset }) => size === place.size && baseOffset !== place.baseOffset)
}

function batchesOf(bytes: Buffer): StoredBatch[] {
  const batches = []
  for (let at = 0; at < bytes.length; ) {
    const size = batchSizeAt(bytes, at)
    if (size <= 0) break
    const batch = bytes.subarray(at, at + size)
    batches.push({
      at,
      size,
      baseOffset: readBaseOffset(bytes, at),
      lastOffset: readLastOffset(bytes, at),
      bytes: batch,
    })
    at += size
  }
  return batches
}
