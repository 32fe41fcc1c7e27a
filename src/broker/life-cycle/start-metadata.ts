import { zeroUuid } from '../../base/uuid.ts'
import type { Listener } from '../../config/listeners.ts'
import { defaultLogConfig } from '../../core/log/default-log-config.ts'
import { supportedFeatures } from '../../core/metadata/features.ts'
import { VoterSet } from '../../core/raft/voters.ts'
import { DiskError } from '../../io/disk.ts'
import type { ClaimedDirectory } from '../../storage/directory-claim.ts'
import { type MetadataLog, openMetadataLog } from '../../storage/metadata-log.ts'
import { directoryProblem } from '../directory-problem.ts'
import { metadataDirectoryName } from '../format.ts'
import { partitionsWithoutMetadata } from '../metadata/lost-metadata.ts'
import { MetadataNode } from '../metadata/metadata-node.ts'
import { StartError } from '../start-error.ts'
import type { BrokerParts } from './broker-parts.ts'
import { publishMetadata } from './publish-metadata.ts'

const controllerAnswerTimeoutMs = 120_000
const tellWaitingMs = 10_000
/** The largest batch that Kafka's quorum takes. */
const maxMetadataBatchBytes = 8 * 1024 * 1024

/** Opens the metadata log and resolves when this node is the active controller and its image is up to date. */
export async function startMetadata(parts: BrokerParts): Promise<void> {
  const { clock, random, disk, log } = parts.io
  const config = parts.config
  const claim = metadataClaim(parts)
  const directory = `${config.metadataLogDir}/${metadataDirectoryName}`
  parts.metadataLog = await openOwnLog(parts, claim)
  refuseFullDisk(parts.metadataLog, config.metadataLogDir)
  const [listener] = config.controllerListeners
  const metadata = new MetadataNode({
    clock,
    random,
    disk,
    log,
    deadlines: parts.deadlines,
    quorum: {
      nodeId: config.nodeId,
      directoryId: claim.directory.id,
      clusterId: parts.clusterId,
      isController: config.isController,
      listenerName: listener.name,
      listeners: config.controllerListeners.map(({ name, host, port }) => ({ name, host, port })),
      bootstrapServers: config.controllerQuorumBootstrapServers,
      kraftVersionFeature: { minSupportedVersion: 0, maxSupportedVersion: 1 },
      fetchTimeoutMs: config.controllerQuorumFetchTimeoutMs,
      electionTimeoutMs: config.controllerQuorumElectionTimeoutMs,
      electionBackoffMaxMs: config.controllerQuorumElectionBackoffMaxMs,
      requestTimeoutMs: config.controllerQuorumRequestTimeoutMs,
      retryBackoffMs: config.controllerQuorumRetryBackoffMs,
      fetchMaxWaitMs: 500,
      fetchMaxBytes: config.controllerQuorumFetchMaxBytes,
      fetchSnapshotMaxBytes: config.controllerQuorumFetchSnapshotMaxBytes,
      autoJoin: false,
    },
    staticVoters: staticVoters(parts, listener),
    directory,
    metadataLog: parts.metadataLog.log,
    room: parts.metadataLog.room,
    // One node is the whole quorum: there is nobody to send to.
    transport: { send: () => {}, reply: () => {} },
    controller: {
      nodeId: config.nodeId,
      clusterId: parts.clusterId,
      config,
      texts: parts.texts,
      supportedFeatures,
      random,
    },
    snapshotEveryBytes: config.metadataLogMaxRecordBytesBetweenSnapshots,
    snapshotEveryMs: config.metadataLogMaxSnapshotIntervalMs,
    answerTimeoutMs: controllerAnswerTimeoutMs,
    prepare: delta => parts.partitions?.prepare(delta),
    publish: delta => publishMetadata(parts, delta),
    leaderChanged: leaderId => {
      parts.controllerId = leaderId
    },
    halted: reason => parts.fail(new Error(reason)),
  })
  parts.metadata = metadata
  await metadata.start()
  const tellsWaiting = tellWaiting(parts)
  await metadata.untilActive()
  tellsWaiting.cancel()
}

/** One line each ten seconds, while the quorum has no leader. */
function tellWaiting(parts: BrokerParts): { cancel(): void } {
  const { clock, log } = parts.io
  let timer = clock.after(tellWaitingMs, tell)
  function tell(): void {
    log.write(
      'warn',
      'no controller is elected yet: the start waits for a majority of the voters, and for the directory __cluster_metadata-0 of each',
    )
    timer = clock.after(tellWaitingMs, tell)
  }
  return { cancel: () => timer.cancel() }
}

function staticVoters(parts: BrokerParts, listener: Listener): VoterSet {
  const range = { minSupportedVersion: 0, maxSupportedVersion: 1 }
  return new VoterSet(
    parts.config.controllerQuorumVoters.map(({ id, host, port }) => ({
      id,
      directoryId: zeroUuid,
      endpoints: [{ name: listener.name, host, port }],
      kraftVersionFeature: range,
    })),
  )
}

async function openOwnLog(parts: BrokerParts, claim: ClaimedDirectory): Promise<MetadataLog> {
  const config = {
    ...defaultLogConfig,
    segmentBytes: parts.config.internalMetadataLogSegmentBytes ?? parts.config.metadataLogSegmentBytes,
    segmentMs: parts.config.metadataLogSegmentMs,
    maxMessageBytes: maxMetadataBatchBytes,
    retentionMs: -1,
    retentionBytes: -1,
  }
  const opened = await openMetadataLog(parts.storage, claim.directory, config)
  const [damage] = opened.damage
  if (damage === undefined) {
    refuseLostMetadata(parts, opened.log.logEndOffset)
    return opened
  }
  throw new StartError(
    `${damage.path} is damaged at byte ${damage.position}: ${damage.reason}. The metadata of the cluster cannot be trusted: restore the file from a copy`,
  )
}

/** A new epoch and this broker's registration are written at every start: without room for them it ends in the middle. */
function refuseFullDisk({ room }: MetadataLog, path: string): void {
  if (room.hasRoomToStart) return
  throw new StartError(directoryProblem(path, new DiskError('noSpace', 'append', path)))
}

function refuseLostMetadata(parts: BrokerParts, logEndOffset: number): void {
  const directory = `${parts.config.metadataLogDir}/${metadataDirectoryName}`
  const paths = parts.claims.map(claim => claim.directory.path)
  const found = partitionsWithoutMetadata(parts.io.disk, { directory, logEndOffset }, paths)
  if (found === undefined) return
  throw new StartError(
    `${directory} has no records, but partitions lie in ${found}: the metadata of the cluster is lost. Restore its files from a copy`,
  )
}

function metadataClaim(parts: BrokerParts): ClaimedDirectory {
  return parts.claims.find(claim => claim.directory.path === parts.config.metadataLogDir)!
}
