import { assert } from '../../base/assert.ts'
import { KeyHash } from './key-hash.ts'

/** What an entry takes: 16 bytes of hash, 8 of offset. */
export const offsetMapEntryBytes = 24
/** Before the entries: what the map knows of itself. */
const headerBytes = 64
const headerWords = headerBytes / 4
const entryWords = offsetMapEntryBytes / 4
const twoTo32 = 0x1_0000_0000
/** Positions in the header, in words of 32 bits. */
const slotsWord = 0
const entriesWord = 1
const maxEntriesWord = 2
const generationWord = 3
const seedWord = 4
const maxSlotsWord = 8
/** So many slots have been in use at most since the memory was made: all behind them is as it was then, free and untouched. */
const touchedSlotsWord = 9
/** A map begins with these, and gets more as they fill: it touches no memory that it does not need. */
const firstSlots = 1 << 16
/** A map of which more is in use gets more slots: the fuller it is, the longer is a search. */
const fullestPart = 0.75
/** By small steps, so that a map is not much larger than its keys need; each costs a walk over all of it. */
const growthFactor = 1.25
/** An offset needs 21 bits of its high word; in the others an entry says of which filling of the map it is. */
const generationShift = 21
const highOffsetMask = (1 << generationShift) - 1
const maxGeneration = 0x7ff

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
export function createOffsetMap(options: MapOptions & { readonly bytes: number }): SharedArrayBuffer {
  const map = new SharedArrayBuffer(options.bytes)
  clearOffsetMap(map, options)
  return map
}

/**
 * Makes a map empty again, with another seed, and perhaps only the first `bytes` of its memory. That takes no time: what is in
 * it counts no longer, and is overwritten as keys come.
 */
export function clearOffsetMap(
  map: SharedArrayBuffer,
  { loadFactor, seed, bytes = map.byteLength }: MapOptions & { readonly bytes?: number },
): void {
  assert(bytes <= map.byteLength, 'a map is within its memory')
  const words = new Int32Array(map, 0, headerWords)
  const maxSlots = Math.floor((bytes - headerBytes) / offsetMapEntryBytes)
  words[maxSlotsWord] = maxSlots
  words[slotsWord] = Math.min(maxSlots, firstSlots)
  words[entriesWord] = 0
  // One entry stays free, so that a search for a key that is not there ends.
  words[maxEntriesWord] = Math.max(1, Math.min(maxSlots - 1, Math.floor(maxSlots * loadFactor)))
  freeAll(new Int32Array(map))
  words[touchedSlotsWord] = Math.max(words[touchedSlotsWord], words[slotsWord])
  words.set(seed, seedWord)
}

/** Whatever is in the map counts no longer. */
function freeAll(words: Int32Array): void {
  if (words[generationWord] === maxGeneration) {
    words.fill(0, headerWords, headerWords + words[touchedSlotsWord] * entryWords)
    words[generationWord] = 0
  }
  words[generationWord]++
}

interface MapOptions {
  readonly loadFactor: number
  readonly seed: OffsetMapSeed
}

/** How full the map is, for metrics. */
export function offsetMapUsage(map: SharedArrayBuffer): { readonly entries: number; readonly maxEntries: number } {
  const words = new Int32Array(map, 0, headerWords)
  return { entries: words[entriesWord], maxEntries: words[maxEntriesWord] }
}

/**
 * The view of a map that a job works with: open addressing, an entry found from the first word of the hash on. An entry is
 * the four words of the hash and the offset, low word first, with the generation of the map; one of another is free.
 *
 * It takes and gives offsets by the hundred, so that many of the reads, most of which miss the processor's caches, are under
 * way at a time.
 */
export class OffsetMap {
  readonly keyHash: KeyHash
  /** What was read ahead: without a use of it the reads would be left out. */
  touched = 0
  readonly #words: Int32Array
  #slots: number
  #generation: number

  constructor(map: SharedArrayBuffer) {
    this.#words = new Int32Array(map)
    this.#slots = this.#words[slotsWord]
    assert(this.#slots >= 2, 'a map has been made with room')
    this.#generation = this.#words[generationWord]
    const seed = this.#words.subarray(seedWord, seedWord + 4)
    this.keyHash = new KeyHash([seed[0], seed[1], seed[2], seed[3]])
  }

  /**
   * Notes `baseOffset` + `deltas[i]` for the hash at `hashes[4 * i]`, in order, so that a later one of a key takes the place of
   * one before. The answer is how many were noted before the map was full. As in Kafka, then a key that is in it is not noted
   * either.
   */
  put(hashes: Int32Array, baseOffset: number, deltas: Int32Array, count: number): number {
    this.#growFor(count)
    this.#touch(hashes, count)
    const words = this.#words
    const slots = this.#slots
    const generation = this.#generation
    const maxEntries = words[maxEntriesWord]
    let entries = words[entriesWord]
    let index = 0
    for (; index < count && entries < maxEntries; index++) {
      const h0 = hashes[index * 4]
      const h1 = hashes[index * 4 + 1]
      const h2 = hashes[index * 4 + 2]
      const h3 = hashes[index * 4 + 3]
      let slot = Math.floor(((h0 >>> 0) * slots) / twoTo32)
      let at = headerWords + slot * entryWords
      let isFree = words[at + 5] >>> generationShift !== generation
      while (!isFree) {
        if (words[at] === h0 && words[at + 1] === h1 && words[at + 2] === h2 && words[at + 3] === h3) break
        slot = slot + 1 === slots ? 0 : slot + 1
        at = headerWords + slot * entryWords
        isFree = words[at + 5] >>> generationShift !== generation
      }
      if (isFree) {
        words[at] = h0
        words[at + 1] = h1
        words[at + 2] = h2
        words[at + 3] = h3
        entries++
      }
      const offset = baseOffset + deltas[index]
      const high = Math.floor(offset / twoTo32)
      words[at + 4] = (offset - high * twoTo32) | 0
      words[at + 5] = (generation << generationShift) | high
    }
    words[entriesWord] = entries
    return index
  }

  /** So many keys may come. */
  #growFor(count: number): void {
    const maxSlots = this.#words[maxSlotsWord]
    const needed = this.#words[entriesWord] + count
    let slots = this.#slots
    while (slots < maxSlots && needed > slots * fullestPart) slots = Math.min(maxSlots, Math.ceil(slots * growthFactor))
    if (slots > this.#slots) this.#spread(slots)
  }

  /**
   * Moves all entries to where they belong among so many slots, within the same memory. Where a search begins grows with the
   * hash and with the number of slots. So no entry of a run of slots in use belongs below that run, now or then, and the runs
   * are moved from the last to the first: what is above one has been moved already, and leaves room for it. What went on from the
   * last slot to the first comes last.
   */
  #spread(slots: number): void {
    let end = this.#slots
    this.#slots = slots
    this.#words[slotsWord] = slots
    this.#words[touchedSlotsWord] = Math.max(this.#words[touchedSlotsWord], slots)
    const run = new EntryList()
    while (end > 0) {
      let start = end
      while (start > 0 && this.#isUsed(start - 1)) start--
      run.take(this.#words, start, end)
      for (let index = 0; index < run.count; index++) this.#place(run.words, index * entryWords)
      end = start - 1
    }
  }

  /** Puts an entry of a list into the first free slot from where a search for it begins. */
  #place(list: Int32Array, from: number): void {
    let slot = Math.floor(((list[from] >>> 0) * this.#slots) / twoTo32)
    while (this.#isUsed(slot)) slot = slot + 1 === this.#slots ? 0 : slot + 1
    const at = headerWords + slot * entryWords
    for (let word = 0; word < entryWords; word++) this.#words[at + word] = list[from + word]
  }

  #isUsed(slot: number): boolean {
    return this.#words[headerWords + slot * entryWords + 5] >>> generationShift === this.#generation
  }

  /** For each hash the offset that was noted last, or -1, to `found`. */
  find(hashes: Int32Array, count: number, found: Float64Array): void {
    this.#touch(hashes, count)
    const words = this.#words
    const slots = this.#slots
    const generation = this.#generation
    for (let index = 0; index < count; index++) {
      const h0 = hashes[index * 4]
      const h1 = hashes[index * 4 + 1]
      const h2 = hashes[index * 4 + 2]
      const h3 = hashes[index * 4 + 3]
      let slot = Math.floor(((h0 >>> 0) * slots) / twoTo32)
      let at = headerWords + slot * entryWords
      let offset = -1
      while (words[at + 5] >>> generationShift === generation) {
        if (words[at] === h0 && words[at + 1] === h1 && words[at + 2] === h2 && words[at + 3] === h3) {
          offset = (words[at + 5] & highOffsetMask) * twoTo32 + (words[at + 4] >>> 0)
          break
        }
        slot = slot + 1 === slots ? 0 : slot + 1
        at = headerWords + slot * entryWords
      }
      found[index] = offset
    }
  }

  /**
   * Reads where each search will begin, so that it is in the caches by then. In a loop without branches the reads do not wait
   * for one another, as those of a search do: putting and finding take two thirds of the time.
   */
  #touch(hashes: Int32Array, count: number): void {
    const words = this.#words
    const slots = this.#slots
    let touched = 0
    for (let index = 0; index < count; index++) {
      const slot = Math.floor(((hashes[index * 4] >>> 0) * slots) / twoTo32)
      const at = headerWords + slot * entryWords
      touched ^= words[at] ^ words[at + 5]
    }
    this.touched = touched
  }
}

/** Entries that were taken out of a map. */
class EntryList {
  words = new Int32Array(64 * entryWords)
  count = 0

  /** Those in slots of a map, from `start` to `end`: they are free afterwards. */
  take(map: Int32Array, start: number, end: number): void {
    this.count = end - start
    if (this.words.length < this.count * entryWords) this.words = new Int32Array(2 * this.count * entryWords)
    const at = headerWords + start * entryWords
    this.words.set(map.subarray(at, headerWords + end * entryWords))
    for (let slot = 0; slot < this.count; slot++) map[at + slot * entryWords + entryWords - 1] = 0
  }
}
