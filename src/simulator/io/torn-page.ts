import type { FileChange } from './file-content.ts'
import type { SeededRandom } from './seeded-random.ts'

export const PAGE_BYTES = 4096
const SECTOR_BYTES = 512

/** Makes the part of a change that lies in this page. */
export function applyToPage(bytes: Buffer, page: number, change: FileChange): void {
  const start = page * PAGE_BYTES
  if (change.type === 'truncate') {
    if (change.sizeBytes < start + PAGE_BYTES) bytes.fill(0, Math.max(0, change.sizeBytes - start))
    return
  }
  const from = Math.max(change.position, start)
  const to = Math.min(change.position + change.bytes.length, start + PAGE_BYTES)
  if (from < to) change.bytes.copy(bytes, from - start, from - change.position, to - change.position)
}

/**
 * Mixes a page by sector: a quarter as it should be, a quarter as it was before, half with garbage, in the places that
 * the given changes wrote. Bytes that were synced keep their value: a sector is written whole or not at all.
 */
export function tearPage(
  bytes: Buffer,
  older: Buffer,
  page: number,
  changes: readonly FileChange[],
  random: SeededRandom,
): void {
  const written = Buffer.alloc(PAGE_BYTES)
  for (const change of changes)
    if (change.type === 'write') applyToPage(written, page, { ...change, bytes: Buffer.alloc(change.bytes.length, 1) })
  for (let sector = 0; sector < PAGE_BYTES; sector += SECTOR_BYTES) {
    const draw = random.below(4)
    if (draw === 0) older.copy(bytes, sector, sector, sector + SECTOR_BYTES)
    if (draw < 2) continue
    for (let at = sector; at < sector + SECTOR_BYTES; at++) if (written[at] === 1) bytes[at] = random.below(256)
  }
}
