import { randomUuid } from '../base/uuid.ts'
import type { BrokerConfig } from '../config/broker-config.ts'
import { DiskError } from '../io/disk.ts'
import type { Io } from '../io/io.ts'
import { type ClaimedDirectory, claimDirectory, type DirectoryClaim } from '../storage/directory-claim.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { directoryProblem, diskStartError } from './directory-problem.ts'
import { format } from './format.ts'
import { StartError } from './start-error.ts'

export interface ClaimedDirectories {
  readonly clusterId: string
  /** Those that can be used; the metadata directory is among them. */
  readonly claims: readonly ClaimedDirectory[]
  /** Directories that failed: the broker starts without them. */
  readonly failed: readonly string[]
}

export interface OpenRequest {
  readonly config: BrokerConfig
  /** Empty and absent directories are formatted at once. Otherwise they are refused: a disk may not be mounted. */
  readonly formatsEmpty: boolean
  /** What else could end the start comes first. Rejects with `StartError`. */
  readonly beforeFormat: () => Promise<void>
}

/** Locks all log directories of a node and checks that they are this node's. Rejects with `StartError`. */
export async function openDirectories(
  io: Io,
  context: StorageContext,
  request: OpenRequest,
): Promise<ClaimedDirectories> {
  const { config } = request
  const paths = [...new Set([...config.logDirs, config.metadataLogDir])]
  const claims: DirectoryClaim[] = []
  const release = () => {
    for (const claim of claims) if (claim.type === 'claimed') claim.lock.release()
  }
  try {
    if (request.formatsEmpty) await formatEmpty(io, context, request, paths)
    for (const path of paths) claims.push(await claimDirectory(context, path))
    return check(io, config, claims)
  } catch (error) {
    release()
    if (!(error instanceof DiskError)) throw error
    throw diskStartError(paths, error)
  }
}

async function formatEmpty(
  io: Io,
  context: StorageContext,
  { config, beforeFormat }: OpenRequest,
  paths: readonly string[],
): Promise<void> {
  const isEmpty = (path: string) => io.disk.status(path) === undefined || io.disk.list(path).length === 0
  if (!paths.every(isEmpty)) return
  await beforeFormat()
  await format(io, context, { config, clusterId: randomUuid(io.random), directories: paths, isStandalone: true })
}

function check(io: Io, config: BrokerConfig, claims: readonly DirectoryClaim[]): ClaimedDirectories {
  const usable: ClaimedDirectory[] = []
  const failed: string[] = []
  for (const claim of claims) {
    if (claim.type === 'claimed') usable.push(claim)
    else if (claim.type === 'unformatted') throw new StartError(whyUnformatted(claim.path, config, claims))
    else if (!isLeftOut(claim, config)) throw new StartError(reasonOf(claim))
    else {
      failed.push(claim.path)
      io.log.write('error', `log directory ${claim.path} cannot be used: ${reasonOf(claim)}`, { path: claim.path })
    }
  }
  const [first] = usable
  for (const { directory, properties } of usable) {
    if (properties.clusterId !== first.properties.clusterId) {
      throw new StartError(
        `${directory.path} is of cluster ${properties.clusterId}, ${first.directory.path} of ${first.properties.clusterId}: log.dirs mixes two clusters`,
      )
    }
    if (properties.nodeId !== config.nodeId) {
      throw new StartError(
        `${directory.path} belongs to node ${properties.nodeId}, and node.id is ${config.nodeId}: set node.id=${properties.nodeId} or another log.dirs`,
      )
    }
  }
  return { clusterId: first.properties.clusterId, claims: usable, failed }
}

/** As in Kafka, one such directory ends the start, also where the others are formatted: its disk may not be mounted. */
function whyUnformatted(path: string, config: BrokerConfig, claims: readonly DirectoryClaim[]): string {
  if (!claims.some(claim => claim.type === 'claimed'))
    return `${path} is not formatted. If it is a mounted disk and new, run: millrace format --standalone, with the same configuration`
  if (path === config.metadataLogDir)
    return `${path} is not formatted, and others of log.dirs are: the metadata of their cluster is missing. Mount its disk, or restore it from a copy`
  return `${path} is not formatted, and others of log.dirs are. Mount its disk; if it is new, run: millrace format --standalone --ignore-formatted, with the same configuration`
}

/**
 * As in Kafka, a directory whose meta.properties cannot be read or understood is one that has failed, and the others go on.
 */
function isLeftOut(claim: UnusableDirectory, config: BrokerConfig): boolean {
  return (claim.type === 'failed' || claim.type === 'damaged') && claim.path !== config.metadataLogDir
}

type UnusableDirectory = Exclude<DirectoryClaim, { type: 'claimed' | 'unformatted' }>

function reasonOf(claim: UnusableDirectory): string {
  switch (claim.type) {
    case 'failed':
      return directoryProblem(claim.path, claim.error)
    case 'inUse':
      return `${claim.path} is in use by another broker, which holds ${claim.path}/.lock: stop it, or set another log.dirs`
    case 'damaged':
      return `${claim.path}/meta.properties cannot be used: ${claim.reason}. Restore the file from a copy`
  }
}
