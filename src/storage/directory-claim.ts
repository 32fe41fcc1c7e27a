import { randomUuid, type Uuid } from '../base/uuid.ts'
import { type Disk, DiskError, type DiskLock, expectDiskError } from '../io/disk.ts'
import {
  lockFileName,
  type MetaProperties,
  readCleanShutdown,
  readMetaProperties,
  writeMetaProperties,
} from './directory-files.ts'
import { LogDirectory } from './log-directory.ts'
import type { StorageContext } from './storage-context.ts'

/** A directory that this process alone may use until the lock is released. */
export interface ClaimedDirectory {
  readonly type: 'claimed'
  readonly directory: LogDirectory
  readonly properties: MetaProperties
  /** Undefined when the last shutdown was not clean. */
  readonly cleanShutdown: { readonly brokerEpoch: number } | undefined
  readonly lock: DiskLock
}

export type DirectoryClaim =
  | ClaimedDirectory
  /** There is no meta.properties: an empty directory, or an unmounted disk. */
  | { readonly type: 'unformatted'; readonly path: string }
  /** Another process, or another broker of this one, holds the lock. */
  | { readonly type: 'inUse'; readonly path: string }
  | { readonly type: 'damaged'; readonly path: string; readonly reason: string }
  | { readonly type: 'failed'; readonly path: string; readonly error: DiskError }

/** Removed at every start, should a crash leave it. */
const probeFileName = 'millrace-probe.tmp'

/** Locks a log directory, reads whose it is, and looks whether files can be made there. */
export async function claimDirectory(context: StorageContext, path: string): Promise<DirectoryClaim> {
  const { disk } = context
  let lock: DiskLock | undefined
  try {
    if (disk.status(path) === undefined) return { type: 'unformatted', path }
    lock = disk.lock(`${path}/${lockFileName}`)
    if (lock === undefined) return { type: 'inUse', path }
    const claim = await readDirectory(context, path, lock)
    if (claim.type !== 'claimed') lock.release()
    return claim
  } catch (error) {
    expectDiskError(error)
    lock?.release()
    return { type: 'failed', path, error }
  }
}

async function readDirectory(context: StorageContext, path: string, lock: DiskLock): Promise<DirectoryClaim> {
  const { disk } = context
  const meta = readMetaProperties(disk, path)
  if (meta.type === 'absent') return { type: 'unformatted', path }
  if (meta.type === 'damaged') return { type: 'damaged', path, reason: meta.reason }
  const { clusterId, nodeId } = meta.properties
  const directoryId = meta.properties.directoryId ?? randomUuid(context.random)
  const isComplete = meta.properties.version === 1 && meta.properties.directoryId !== undefined
  await probe(disk, path)
  if (!isComplete) await writeMetaProperties(disk, path, { clusterId, nodeId, directoryId })
  const directory = new LogDirectory(context, path, directoryId)
  const properties = { ...meta.properties, directoryId }
  return { type: 'claimed', directory, properties, cleanShutdown: readCleanShutdown(disk, path), lock }
}

/**
 * A directory that takes no new files fails at the first checkpoint, though the files in it can be written. Lack of room is another
 * matter: it is full, and may be emptied. Rejects with `DiskError`.
 */
async function probe(disk: Disk, directory: string): Promise<void> {
  const path = `${directory}/${probeFileName}`
  try {
    disk.writeSmallFile(path, Buffer.alloc(0))
    await disk.remove(path)
  } catch (error) {
    if (!(error instanceof DiskError) || error.code !== 'noSpace') throw error
  }
}

/** Makes an empty directory one of this cluster's and node's. Rejects with `DiskError`. */
export async function formatDirectory(
  context: StorageContext,
  path: string,
  properties: { clusterId: string; nodeId: number; directoryId: Uuid },
): Promise<void> {
  await makeDurableDirectory(context.disk, path)
  await writeMetaProperties(context.disk, path, properties)
}

/** Makes a directory and those above it. Their names are durable when this resolves: all that is in them hangs on that. */
export async function makeDurableDirectory(disk: Disk, path: string): Promise<void> {
  const parents = [parentOf(path)]
  for (let at = parents[0]; at !== '/' && at !== '.' && disk.status(at) === undefined; at = parents[0])
    parents.unshift(parentOf(at))
  disk.makeDirectory(path)
  for (const parent of parents) await syncIfPermitted(disk, parent)
}

/** The directories above may be another's. */
async function syncIfPermitted(disk: Disk, path: string): Promise<void> {
  try {
    await disk.syncDirectory(path)
  } catch (error) {
    if (!(error instanceof DiskError) || error.code !== 'notPermitted') throw error
  }
}

function parentOf(path: string): string {
  const at = path.replace(/\/+$/, '').lastIndexOf('/')
  return at < 0 ? '.' : path.slice(0, at) || '/'
}
