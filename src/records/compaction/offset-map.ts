import { assert } from '../../base/assert.ts'

/** What an entry takes: 16 bytes of hash, 8 of offset. */
export const offsetMapEntryBytes = 24
/** Before the entries: what the map knows of itself. */
const headerBytes = 64
/** Positions in the header, in words of 32 bits. */
const slotsWord = 0
const entriesWord = 1
const maxEntriesWord = 2
const seedWord = 4

export interface OffsetMapSize {
  /** `log.cleaner.dedupe.buffer.size`, or the part of it that one pass may have. */
  readonly maxBytes: number
  /** `log.cleaner.io.buffer.load.factor`: the part of the entries that may be in use. */
  readonly loadFactor: number
  /** No more keys than this can come; the offsets in the dirty range are a bound. */
  readonly maxKeys: number
}

/** Four whole numbers of 32 bits, drawn at random, so that nobody can make keys that collide. */
export type OffsetMapSeed = readonly [number, number, number, number]

/** How many bytes a map of this size has. At least two entries, so that one key can be in it. */
export function offsetMapBytes({ maxBytes, loadFactor, maxKeys }: OffsetMapSize): number {
  assert(loadFactor > 0 && loadFactor <= 1, 'a load factor is a part of the whole')
  const most = Math.floor((maxBytes - headerBytes) / offsetMapEntryBytes)
  const wanted = Math.ceil(maxKeys / loadFactor) + 1
  return headerBytes + offsetMapEntryBytes * Math.max(2, Math.min(most, wanted))
}

/** An empty map of so many bytes (see `offsetMapBytes`). Its memory is touched only as keys come. */
export function createOffsetMap(options: {
  readonly bytes: number
  readonly loadFactor: number
  readonly seed: OffsetMapSeed
}): SharedArrayBuffer {
  const map = new SharedArrayBuffer(options.bytes)
  clearOffsetMap(map, options)
  return map
}

/** Makes a map empty again, with another seed. */
export function clearOffsetMap(
  map: SharedArrayBuffer,
  { loadFactor, seed }: { readonly loadFactor: number; readonly seed: OffsetMapSeed },
): void {
  const words = new Int32Array(map)
  words.fill(0)
  const slots = Math.floor((map.byteLength - headerBytes) / offsetMapEntryBytes)
  words[slotsWord] = slots
  // One entry stays free, so that a search for a key that is not there ends.
  words[maxEntriesWord] = Math.max(1, Math.min(slots - 1, Math.floor(slots * loadFactor)))
  words.set(seed, seedWord)
}

/** How full the map is, for metrics. */
export function offsetMapUsage(map: SharedArrayBuffer): { readonly entries: number; readonly maxEntries: number } {
  const words = new Int32Array(map, 0, headerBytes / 4)
  return { entries: words[entriesWord], maxEntries: words[maxEntriesWord] }
}
