import { isUuid, type Uuid } from '../base/uuid.ts'
import { type Disk, expectDiskError, replaceFile } from '../io/disk.ts'

/** A log directory that a broker has, or had at an earlier start. */
export interface KnownDirectory {
  readonly id: Uuid
  /** Where it was when it was last there. */
  readonly path: string
}

const fileName = 'millrace-log-dirs'
const maxBytes = 1024 * 1024

/** In the metadata directory; to be removed by whoever has given a directory up. */
export function knownDirectoriesPath(metadataDirectory: string): string {
  return `${metadataDirectory}/${fileName}`
}

/** None where nothing was noted, or the note cannot be read: then nobody knows of directories that are not there. */
export function readKnownDirectories(disk: Disk, metadataDirectory: string): readonly KnownDirectory[] {
  try {
    const bytes = disk.readSmallFile(knownDirectoriesPath(metadataDirectory), maxBytes)
    return bytes === undefined ? [] : decode(bytes)
  } catch (error) {
    expectDiskError(error)
    return []
  }
}

function decode(bytes: Buffer): readonly KnownDirectory[] {
  let noted: unknown
  try {
    noted = JSON.parse(bytes.toString())
  } catch {
    return []
  }
  const { version, directories } = (noted ?? {}) as { readonly version?: unknown; readonly directories?: unknown }
  if (version !== 1 || !Array.isArray(directories)) return []
  return directories.filter(one => isUuid(one?.id) && typeof one.path === 'string')
}

/** Rejects with `DiskError`. */
export function writeKnownDirectories(
  disk: Disk,
  metadataDirectory: string,
  directories: readonly KnownDirectory[],
): Promise<void> {
  const text = JSON.stringify({ version: 1, directories })
  return replaceFile(disk, knownDirectoriesPath(metadataDirectory), Buffer.from(text))
}
