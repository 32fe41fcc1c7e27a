import { assert } from '../../base/assert.ts'
import { GrowableBytes } from './growable-bytes.ts'
import type { SeededRandom } from './seeded-random.ts'
import { applyToPage, PAGE_BYTES, tearPage } from './torn-page.ts'

/** A change of a file that the page cache has and the platter may not. */
export type FileChange =
  | { readonly type: 'write'; readonly atUs: number; readonly position: number; readonly bytes: Buffer }
  | { readonly type: 'truncate'; readonly atUs: number; readonly sizeBytes: number }

/**
 * What becomes of one file in a power cut. `keep` and `drop`: all or nothing of what was not synced. `mixed`: the size is
 * that after some of the changes, and each page is as it was after some of them. `torn`: pages may also be mixed by sector,
 * with garbage where unsynced bytes were to be.
 */
export type PowerCutOutcome = 'keep' | 'drop' | 'mixed' | 'torn'

/**
 * The bytes of one file, twice: as the page cache has them, which is what processes see, and as they are on the platter,
 * with the changes that lie between. A process crash takes nothing. A power cut leaves the platter and a part of the
 * changes: of each page some version between the last sync and the end, sizes and truncations in their order.
 */
export class FileContent {
  readonly cached = new GrowableBytes()
  #durable = new GrowableBytes()
  #pending: FileChange[] = []
  /** Changes ever made, so that a sync can name those it covers while later ones are made. */
  #changes = 0
  /** A failed sync has left pages that the cache shows and the platter will never have. */
  #hasLostPages = false

  get sizeBytes(): number {
    return this.cached.length
  }

  /** A power cut would take nothing. */
  get isDurable(): boolean {
    return this.#pending.length === 0 && !this.#hasLostPages
  }

  /** A mark for `syncThrough`: all changes up to here. */
  get changes(): number {
    return this.#changes
  }

  write(atUs: number, position: number, bytes: Buffer): void {
    if (bytes.length === 0) return
    this.cached.write(position, bytes)
    this.#add({ type: 'write', atUs, position, bytes })
  }

  truncate(atUs: number, sizeBytes: number): void {
    this.cached.resize(sizeBytes)
    this.#add({ type: 'truncate', atUs, sizeBytes })
  }

  syncThrough(changes: number): void {
    this.#settle(this.#pendingThrough(changes))
  }

  /**
   * A failed sync as Linux has it: some pages reached the platter, the others count as clean and never will, although
   * the cache still shows them and the next sync succeeds.
   */
  failSyncThrough(changes: number, random: SeededRandom): void {
    this.#hasLostPages = true
    for (const change of this.#pending.splice(0, this.#pendingThrough(changes)))
      if (change.type === 'truncate' || random.chance(0.3)) applyWhole(this.#durable, change)
  }

  /** The kernel writes dirty pages back on its own after a while. */
  writeBackOlderThan(timeUs: number): void {
    let count = 0
    while (count < this.#pending.length && (this.#pending[count] as FileChange).atUs < timeUs) count++
    this.#settle(count)
  }

  powerCut(outcome: PowerCutOutcome, random: SeededRandom): void {
    if (outcome === 'keep') this.#settle(this.#pending.length)
    if (outcome === 'mixed' || outcome === 'torn') this.#durable = this.#afterCut(outcome === 'torn', random)
    this.#pending = []
    this.#hasLostPages = false
    this.cached.resize(0)
    this.cached.write(0, this.#durable.view(0, this.#durable.length))
    this.cached.resize(this.#durable.length)
  }

  /** Damage on the platter, which the cache has read. */
  flip(position: number, mask: number): void {
    for (const bytes of [this.cached, this.#durable]) {
      const at = bytes.view(position, 1)
      if (at.length === 1) at[0] = (at[0] as number) ^ mask
    }
  }

  /** The same with other bytes. What is not on the platter yet is written there as the cache had it. */
  damage(position: number, bytes: Buffer): void {
    for (const there of [this.cached, this.#durable]) bytes.copy(there.view(position, bytes.length))
  }

  /** The platter alone, as an image of the disk would have it. */
  durableBytes(): Buffer {
    return Buffer.from(this.#durable.view(0, this.#durable.length))
  }

  /** The same bytes in another file, where they are durable. */
  copy(): FileContent {
    const copy = new FileContent()
    copy.write(0, 0, Buffer.from(this.cached.view(0, this.cached.length)))
    copy.syncThrough(copy.changes)
    return copy
  }

  #add(change: FileChange): void {
    this.#pending.push(change)
    this.#changes++
  }

  #pendingThrough(changes: number): number {
    const settled = this.#changes - this.#pending.length
    return Math.max(0, changes - settled)
  }

  #settle(count: number): void {
    assert(count <= this.#pending.length, 'only what was changed can become durable')
    for (const change of this.#pending.splice(0, count)) applyWhole(this.#durable, change)
  }

  #afterCut(mayTear: boolean, random: SeededRandom): GrowableBytes {
    const changes = this.#pending
    // The journal commits sizes and truncations in order, so those that made it are a prefix.
    const committed = random.between(0, changes.length)
    const after = this.#durable.copy()
    const size = sizeAfter(this.#durable.length, changes.slice(0, committed))
    after.resize(size + partOfExtension(size, changes[committed], random))
    for (const page of touchedPages(changes, after.length)) {
      const versions = versionsOfPage(changes, committed, page)
      const version = random.between(versions.first, versions.last)
      const bytes = this.#pageAt(page, version)
      if (mayTear && random.chance(0.3)) {
        const older = this.#pageAt(page, random.between(versions.first, version))
        tearPage(bytes, older, page, changes.slice(versions.first, versions.last), random)
      }
      const length = Math.min(PAGE_BYTES, after.length - page * PAGE_BYTES)
      after.write(page * PAGE_BYTES, bytes.subarray(0, length))
    }
    return after
  }

  /** A page as it was after the first `version` pending changes. */
  #pageAt(page: number, version: number): Buffer {
    const bytes = Buffer.alloc(PAGE_BYTES)
    this.#durable.view(page * PAGE_BYTES, PAGE_BYTES).copy(bytes)
    for (let i = 0; i < version; i++) applyToPage(bytes, page, this.#pending[i] as FileChange)
    return bytes
  }
}

function applyWhole(bytes: GrowableBytes, change: FileChange): void {
  if (change.type === 'write') bytes.write(change.position, change.bytes)
  else bytes.resize(change.sizeBytes)
}

function sizeAfter(size: number, changes: readonly FileChange[]): number {
  for (const change of changes)
    size = change.type === 'truncate' ? change.sizeBytes : Math.max(size, change.position + change.bytes.length)
  return size
}

/** A size also moves page by page, while a long write is on its way to the platter. */
function partOfExtension(size: number, change: FileChange | undefined, random: SeededRandom): number {
  if (change?.type !== 'write') return 0
  const pages = Math.floor((change.position + change.bytes.length - size) / PAGE_BYTES)
  return pages > 0 ? PAGE_BYTES * random.between(0, pages) : 0
}

/** Pages below `sizeBytes` that any of the changes may have made different. */
function touchedPages(changes: readonly FileChange[], sizeBytes: number): number[] {
  const pages = new Set<number>()
  for (const change of changes) {
    const start = change.type === 'write' ? change.position : change.sizeBytes
    const end = change.type === 'write' ? Math.min(start + change.bytes.length, sizeBytes) : sizeBytes
    for (let page = Math.floor(start / PAGE_BYTES); page * PAGE_BYTES < end; page++) pages.add(page)
  }
  return [...pages]
}

/**
 * Which versions of a page may be found: not older than the last truncation that was committed, since that gave its
 * blocks back, and not newer than the first that was not, since what followed went to blocks the file does not have yet.
 */
function versionsOfPage(
  changes: readonly FileChange[],
  committed: number,
  page: number,
): { first: number; last: number } {
  let first = 0
  let last = changes.length
  for (let i = 0; i < changes.length; i++) {
    const change = changes[i] as FileChange
    if (change.type !== 'truncate' || change.sizeBytes >= (page + 1) * PAGE_BYTES) continue
    if (i < committed) first = i + 1
    else last = Math.min(last, i)
  }
  return { first, last }
}
