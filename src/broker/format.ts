import type { Uuid } from '../base/uuid.ts'
import { metadataTopicId, randomUuid } from '../base/uuid.ts'
import type { BrokerConfig } from '../config/broker-config.ts'
import { metadataRecords } from '../core/metadata/records.ts'
import { bootstrapRecords } from '../core/metadata/snapshot.ts'
import type { Io } from '../io/io.ts'
import type { ControlRecord } from '../protocol/control-record.ts'
import { formatDirectory, makeDurableDirectory } from '../storage/directory-claim.ts'
import { createLogFiles } from '../storage/log-loader.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { encodeSnapshot } from './metadata/snapshot-codec.ts'
import { SnapshotFiles } from './metadata/snapshot-files.ts'

export const metadataDirectoryName = '__cluster_metadata-0'

export interface FormatRequest {
  readonly config: BrokerConfig
  readonly clusterId: string
  /** Directories to format; those that are already are left out. */
  readonly directories: readonly string[]
  /** This node is the only voter of a quorum of one (kraft.version 1). Otherwise the voters are the configuration's. */
  readonly isStandalone: boolean
}

/**
 * Makes directories this node's: meta.properties in each, and in the metadata directory the snapshot with which the
 * metadata log begins. Rejects with `DiskError`.
 */
export async function format(io: Io, context: StorageContext, request: FormatRequest): Promise<void> {
  const { config, clusterId, directories, isStandalone } = request
  const others = directories.filter(path => path !== config.metadataLogDir)
  for (const path of others) {
    await formatDirectory(context, path, { clusterId, nodeId: config.nodeId, directoryId: randomUuid(io.random) })
  }
  if (others.length === directories.length) return
  const directoryId = randomUuid(io.random)
  await makeDurableDirectory(io.disk, config.metadataLogDir)
  await writeBootstrap(io, context, config, isStandalone ? voterRecords(config, directoryId) : [])
  // Last: a directory with this file is formatted, one without it is not.
  await formatDirectory(context, config.metadataLogDir, { clusterId, nodeId: config.nodeId, directoryId })
}

async function writeBootstrap(
  io: Io,
  context: StorageContext,
  config: BrokerConfig,
  controlRecords: readonly ControlRecord[],
): Promise<void> {
  const directory = `${config.metadataLogDir}/${metadataDirectoryName}`
  createLogFiles(context, directory, metadataTopicId, { startOffset: 0, hasNamesake: false })
  const snapshots = new SnapshotFiles(io.disk, directory)
  const id = { endOffset: 0, epoch: 0 }
  const values = bootstrapRecords().map(record => metadataRecords.encode(record).value!)
  const content = { lastContainedLogTimestampMs: 0, controlRecords, values }
  let position = 0
  for (const batch of encodeSnapshot(content, { epoch: 0, timestampMs: io.clock.now().wallMs })) {
    await snapshots.write(id, position, batch)
    position += batch.length
  }
  await snapshots.complete(id)
  await io.disk.syncDirectory(config.metadataLogDir)
}

function voterRecords(config: BrokerConfig, directoryId: Uuid): ControlRecord[] {
  return [
    { type: 'kraftVersion', value: { version: 0, kraftVersion: 1 } },
    {
      type: 'kraftVoters',
      value: {
        version: 0,
        voters: [
          {
            voterId: config.nodeId,
            voterDirectoryId: directoryId,
            endpoints: config.controllerListeners.map(({ name, host, port }) => ({ name, host, port })),
            kraftVersionFeature: { minSupportedVersion: 0, maxSupportedVersion: 1 },
          },
        ],
      },
    },
  ]
}
