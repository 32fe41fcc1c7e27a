import type { Command } from 'commander'
import { isUuid, randomUuid } from '../../base/uuid.ts'
import { directoryProblem } from '../../broker/directory-problem.ts'
import { format } from '../../broker/format.ts'
import { DiskError } from '../../io/disk.ts'
import { consoleLogSink } from '../../io/node/console-log-sink.ts'
import { nodeIo } from '../../io/node/node-io.ts'
import { claimDirectory } from '../../storage/directory-claim.ts'
import { createStorage } from '../../storage/storage.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { addConfigFlags, type ConfigFlags, load } from '../load.ts'
import { Needed, type Parse, quoted, valued } from '../option-values.ts'
import { CommandFailure, ExitCode, print } from '../output.ts'

interface FormatFlags extends ConfigFlags {
  readonly clusterId?: string
  readonly standalone?: true
  readonly ignoreFormatted?: true
  readonly json?: true
}

const example = `
Examples:
  millrace format --config server.properties --standalone
  millrace format --config server.properties --standalone --cluster-id MkU3OEVBNTcwNTJENDM2Qg`

export function addFormat(program: Command): void {
  const command = program.command('format').description('Make log directories those of a new cluster.')
  addConfigFlags(command)
    .addOption(
      valued(
        '--cluster-id <id>',
        'the cluster to belong to; without it $CLUSTER_ID, that of the directories that are formatted, or a new one',
        uuid,
      ),
    )
    .option('--standalone', 'this node is the only voter of its metadata quorum')
    .option('--ignore-formatted', 'leave directories alone that are formatted already')
    .option('--json', 'print JSON')
    .addHelpText('after', example)
    .action((flags: FormatFlags) => run(flags))
}

const uuid: Parse<string> = text => (isUuid(text) ? text : new Needed('an id of 22 characters of base64url'))

interface WantedCluster {
  readonly clusterId: string
  /** Where it was said. */
  readonly origin: '--cluster-id' | 'CLUSTER_ID'
}

/** As with the image of Apache Kafka, the environment may name the cluster. */
function wantedCluster({ clusterId }: FormatFlags): WantedCluster | undefined {
  if (clusterId !== undefined) return { clusterId, origin: '--cluster-id' }
  const named = process.env.CLUSTER_ID ?? ''
  if (named === '') return undefined
  if (isUuid(named)) return { clusterId: named, origin: 'CLUSTER_ID' }
  throw new CommandFailure(
    `CLUSTER_ID in the environment: given ${quoted(named)}, allowed: an id of 22 characters of base64url`,
    ExitCode.usage,
  )
}

async function run(flags: FormatFlags): Promise<void> {
  const wanted = wantedCluster(flags)
  const log = consoleLogSink()
  const { config } = load(flags, line => log.write('warn', line))
  const io = nodeIo({ log })
  const ignore = () => {}
  const faults = {
    damaged: ignore,
    readFailed: ignore,
    directoryFull: ignore,
    directoryWritable: ignore,
    directoryFailed: ignore,
  }
  const context = createStorage({ io, faults })
  if (config.controllerQuorumVoters.length === 0 && !flags.standalone) {
    throw new CommandFailure(
      'say --standalone, or set controller.quorum.voters: a new cluster needs to know its voters',
      ExitCode.usage,
    )
  }
  const paths = [...new Set([...config.logDirs, config.metadataLogDir])]
  const { directories, formatted } = await look(context, paths)
  const clusterId = clusterOf(formatted, flags, wanted) ?? randomUuid(io.random)
  try {
    await format(io, context, { config, clusterId, directories, isStandalone: flags.standalone ?? false })
  } catch (error) {
    if (!(error instanceof DiskError)) throw error
    const path = directories.find(one => error.path === one || error.path.startsWith(`${one}/`)) ?? error.path
    throw new CommandFailure(directoryProblem(path, error))
  }
  const result = { clusterId, formatted: directories, alreadyFormatted: formatted.map(({ path }) => path) }
  print(result, flags.json, () =>
    [
      ...directories.map(path => `${path}: formatted for cluster ${clusterId}`),
      ...formatted.map(({ path }) => `${path}: formatted already for cluster ${clusterId}, left alone`),
    ].join('\n'),
  )
}

interface Formatted {
  readonly path: string
  readonly clusterId: string
}

/** Which directories are to be formatted, and which are already. Rejects where one can be neither. */
async function look(
  context: StorageContext,
  paths: readonly string[],
): Promise<{ directories: string[]; formatted: Formatted[] }> {
  const directories: string[] = []
  const formatted: Formatted[] = []
  for (const path of paths) {
    const claim = await claimDirectory(context, path)
    if (claim.type === 'unformatted') directories.push(path)
    else if (claim.type === 'claimed') {
      claim.lock.release()
      formatted.push({ path, clusterId: claim.properties.clusterId })
    } else if (claim.type === 'inUse') throw new CommandFailure(`${path} is in use by a broker: stop it first`)
    else if (claim.type === 'damaged')
      throw new CommandFailure(`${path}/meta.properties cannot be used: ${claim.reason}`)
    else throw new CommandFailure(directoryProblem(path, claim.error))
  }
  return { directories, formatted }
}

/** The directories of a node are of one cluster: a new one joins those that are formatted. Undefined where none is. */
function clusterOf(
  formatted: readonly Formatted[],
  flags: FormatFlags,
  wanted: WantedCluster | undefined,
): string | undefined {
  const [first] = formatted
  if (first === undefined) return wanted?.clusterId
  if (!flags.ignoreFormatted) {
    throw new CommandFailure(
      `${first.path} is formatted already, for cluster ${first.clusterId}: say --ignore-formatted to leave it as it is`,
    )
  }
  const other = formatted.find(one => one.clusterId !== first.clusterId)
  if (other !== undefined) {
    throw new CommandFailure(
      `${other.path} is of cluster ${other.clusterId}, ${first.path} of ${first.clusterId}: log.dirs mixes two clusters`,
    )
  }
  if (wanted !== undefined && wanted.clusterId !== first.clusterId) {
    throw new CommandFailure(
      `${wanted.origin} ${wanted.clusterId} is not that of ${first.path}, which is formatted for cluster ${first.clusterId}: leave it out`,
    )
  }
  return first.clusterId
}
