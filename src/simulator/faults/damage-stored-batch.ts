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

/** The bytes of one segment. */
interface StoredLog {
  readonly path: string
  readonly directory: string
  readonly bytes: Buffer
  readonly batches: readonly StoredBatch[]
}

type StoredFile = ReturnType<SimulatedBroker['node']['disk']['files']>[number]

interface Identity {
  readonly topic: string
  readonly topicId: Uuid
  readonly partition: number
}

interface Place {
  readonly log: StoredLog
  readonly identity: Identity
  readonly batch: StoredBatch
}

/** What a disk does to bytes that lie on it: a bit rots, or a write that was meant for another place lands here. */
const kinds = ['rot', 'rot', 'misdirectedBatch', 'misdirectedBatch', 'misdirectedSector'] as const
const sectorBytes = 512
/** Chance that a misdirected write was meant for a place nearby, one of so many in the same file: an address is mostly wrong by little. */
const nearRate = 0.5
const nearPlaces = 4

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
  const stored = new StoredBatches(files)
  const kind = random.pick(kinds)
  const mayBeDamaged = (place: Place) => {
    const { topicId, partition } = place.identity
    const isUnread =
      broker === undefined || broker.logs.get(topicId, partition)?.isUnread(place.log.path, place.batch) === true
    return isUnread && (kind !== 'misdirectedBatch' || stored.twinsOf(place).length > 0)
  }
  const place = random.shuffled(placesIn(stored.logs, identitiesIn(files))).find(mayBeDamaged)
  const damage = place && drawDamage(random, kind, place, stored)
  if (place === undefined || damage === undefined) return undefined
  const { log, identity } = place
  const { what, position, bytes } = damage
  if (!node.disk.damage(log.path, position, bytes)) return undefined
  ledger.damaged(identity.topicId, identity.partition)
  const { from, to } = stored.offsetsAround(place)
  return { path: log.path, what, ...identity, from, to: mayLoseRest ? Number.MAX_SAFE_INTEGER : to }
}

/** The last batch of a file is left alone: what follows nothing may be taken for a torn end. */
function placesIn(logs: readonly StoredLog[], identities: ReadonlyMap<string, Identity>): Place[] {
  return logs.flatMap(log => {
    const identity = identities.get(log.directory)
    return identity === undefined ? [] : log.batches.slice(0, -1).map(batch => ({ log, identity, batch }))
  })
}

class StoredBatches {
  readonly logs: readonly StoredLog[]
  readonly #bySize: ReadonlyMap<number, readonly { readonly log: StoredLog; readonly batch: StoredBatch }[]>

  constructor(files: readonly StoredFile[]) {
    this.logs = files
      .filter(({ path, bytes }) => path.endsWith('.log') && !path.includes('/__') && bytes.length > 0)
      .map(({ path, bytes }) => ({ path, directory: directoryOf(path), bytes, batches: batchesOf(bytes) }))
    const all = this.logs.flatMap(log => log.batches.map(batch => ({ log, batch })))
    this.#bySize = Map.groupBy(all, ({ batch }) => batch.size)
  }

  /**
   * The offsets between the batches beside a damaged one. Where records have been cleaned away, the damaged batch may have held any of
   * them: its header, which would tell, is part of what cannot be believed, and a reader that was sent on to the next batch would
   * miss what it held.
   */
  offsetsAround({ log, batch }: Pick<Place, 'log' | 'batch'>): { from: number; to: number } {
    let from = 0
    let to = Number.MAX_SAFE_INTEGER
    for (const { directory, batches } of this.logs) {
      if (directory !== log.directory) continue
      for (const { baseOffset, lastOffset } of batches) {
        if (lastOffset < batch.baseOffset) from = Math.max(from, lastOffset + 1)
        if (baseOffset > batch.lastOffset) to = Math.min(to, baseOffset)
      }
    }
    return { from, to }
  }

  /**
   * As large as this batch, and valid in themselves: where one of them lies in its place, nothing but its offset says that it
   * belongs elsewhere. Those of other logs whose offsets would fit are left out: nobody could tell.
   */
  twinsOf({ log, batch }: Pick<Place, 'log' | 'batch'>) {
    const others = (this.#bySize.get(batch.size) ?? []).filter(one => one.batch.baseOffset !== batch.baseOffset)
    if (others.length === 0) return others
    const { from, to } = this.offsetsAround({ log, batch })
    return others.filter(one => {
      const fits = one.batch.baseOffset >= from && one.batch.lastOffset < to
      return one.log.directory === log.directory || !fits
    })
  }
}

interface Damage {
  readonly what: string
  readonly position: number
  readonly bytes: Buffer
}

function drawDamage(
  random: SeededRandom,
  kind: (typeof kinds)[number],
  place: Place,
  stored: StoredBatches,
): Damage | undefined {
  const { log, batch } = place
  switch (kind) {
    case 'rot': {
      const position = batch.at + random.below(batch.size)
      const bytes = Buffer.from([log.bytes[position]! ^ (1 << random.below(8))])
      return { what: `a bit of byte ${position} has changed`, position, bytes }
    }
    case 'misdirectedBatch': {
      const all = stored.twinsOf(place)
      const distance = (one: { readonly batch: StoredBatch }) => Math.abs(one.batch.at - batch.at)
      const near = all.filter(one => one.log === log).sort((a, b) => distance(a) - distance(b))
      const isNear = near.length > 0 && random.chance(nearRate)
      const { bytes, baseOffset } = random.pick(isNear ? near.slice(0, nearPlaces) : all).batch
      return { what: `a batch of offset ${baseOffset} lies at byte ${batch.at}`, position: batch.at, bytes }
    }
    case 'misdirectedSector': {
      const position = batch.at - (batch.at % sectorBytes)
      const from = random.pick(stored.logs)
      const start = sectorBytes * random.below(Math.ceil(from.bytes.length / sectorBytes))
      const bytes = from.bytes.subarray(start, Math.min(start + sectorBytes, start + batch.at + batch.size - position))
      // Only what the batch holds: those before it are to be left alone.
      const skipped = batch.at - position
      const part = bytes.subarray(skipped)
      // A whole batch of another log, at offsets that may be missing here, is like one of this log: nobody could tell.
      const holds = ({ at, size }: StoredBatch) => at >= start + skipped && at + size <= start + bytes.length
      if (from !== log && from.batches.some(holds)) return undefined
      const isOther = part.length > 0 && !part.equals(log.bytes.subarray(batch.at, batch.at + part.length))
      return isOther
        ? { what: `a sector of ${from.path} lies at byte ${position}`, position: batch.at, bytes: part }
        : undefined
    }
  }
}

/** By directory: of which partition it is, unless that was deleted. */
function identitiesIn(files: readonly StoredFile[]): ReadonlyMap<string, Identity> {
  const identities = new Map<string, Identity>()
  for (const { path, bytes } of files) {
    if (!path.endsWith(`/${partitionMetadataFileName}`)) continue
    const directory = directoryOf(path)
    const name = parsePartitionDirectoryName(directory.slice(directory.lastIndexOf('/') + 1))
    const topicId = decodePartitionMetadata(bytes)
    if (name?.kind !== 'current' || topicId === undefined) continue
    identities.set(directory, { topic: name.topic, topicId, partition: name.partition })
  }
  return identities
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
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
