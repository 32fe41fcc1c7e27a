import { expectDiskError } from '../../io/disk.ts'
import { type KnownDirectory, readKnownDirectories, writeKnownDirectories } from '../../storage/known-directories.ts'
import type { BrokerParts } from './broker-parts.ts'

/** Directories that an earlier start had, and that this one has not, under any path. */
export function missingDirectories(parts: BrokerParts): readonly KnownDirectory[] {
  const present = new Set(parts.claims.map(({ directory }) => directory.id))
  const known = readKnownDirectories(parts.io.disk, parts.config.metadataLogDir)
  // One that has failed is missed for another reason, and says so itself.
  return known.filter(({ id, path }) => !present.has(id) && !parts.unclaimed.includes(path))
}

/**
 * For the next start. Those that are missing are forgotten once nothing is missed of them: their partitions have been moved, or
 * deleted. One directory alone, which has the metadata, cannot be missed.
 */
export async function noteDirectories(parts: BrokerParts): Promise<void> {
  const { disk } = parts.io
  const { metadataLogDir } = parts.config
  const before = readKnownDirectories(disk, metadataLogDir)
  const claimed = parts.claims.map(({ directory: { id, path } }) => ({ id, path }))
  const ids = new Set(claimed.map(({ id }) => id))
  const isMissed = parts.partitions!.unmadeCount > 0
  const kept = before.filter(({ id, path }) => !ids.has(id) && (isMissed || parts.unclaimed.includes(path)))
  const known = [...claimed, ...kept]
  const isSame = JSON.stringify(known) === JSON.stringify(before)
  if (isSame || (before.length === 0 && known.length === 1)) return
  try {
    await writeKnownDirectories(disk, metadataLogDir, known)
  } catch (error) {
    // A full disk, say: what was noted before still holds.
    expectDiskError(error)
  }
}
