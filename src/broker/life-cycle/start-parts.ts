import { unimplementedFeatures } from '../../core/metadata/features.ts'
import { DiskError } from '../../io/disk.ts'
import { BrokerRegistration } from '../broker-registration.ts'
import { diskStartError } from '../directory-problem.ts'
import { allHandlers } from '../handlers/all-handlers.ts'
import { openDirectories } from '../open-directories.ts'
import { StartError } from '../start-error.ts'
import { type BrokerParts, brokerState } from './broker-parts.ts'
import { brokerServices } from './broker-services.ts'
import { noteDirectories } from './known-directories.ts'
import { openLogs } from './open-logs.ts'
import { startListening } from './start-listening.ts'
import { startMetadata } from './start-metadata.ts'

/** Starts one part after the other. Rejects with `StartError`; what was started until then is for `stopParts`. */
export async function startParts(parts: BrokerParts): Promise<void> {
  try {
    await start(parts)
  } catch (error) {
    if (!(error instanceof DiskError)) throw error
    throw diskStartError([...parts.config.logDirs, parts.config.metadataLogDir], error)
  }
}

async function start(parts: BrokerParts): Promise<void> {
  parts.state = brokerState.starting
  refuseUnsupportedListeners(parts)
  const opened = await openDirectories(parts.io, parts.storage, {
    config: parts.config,
    formatsEmpty: parts.options.formatsEmptyDirectories,
    beforeFormat: () => takePorts(parts),
  })
  parts.claims = opened.claims
  parts.unclaimed = opened.failed
  parts.clusterId = opened.clusterId
  await parts.options.openAdmin?.()
  await startMetadata(parts)
  // Without the metadata of the cluster every partition would look like one that is not ours.
  refuseToGoOn(parts)
  parts.state = brokerState.recovery
  await openLogs(parts)
  await noteDirectories(parts)
  refuseToGoOn(parts)
  // Only now, unless all was new: an open port says that the broker is ready, and clients that come earlier would wait.
  await startListening(parts)
  await register(parts)
  refuseToGoOn(parts)
  // What a new cluster begins with is committed by now, too.
  tellUnimplemented(parts)
  parts.server!.serve(allHandlers(brokerServices(parts)))
  parts.compactor!.start()
  parts.state = brokerState.running
}

/** An empty directory is not formatted by a start that comes to nothing. Whoever connects meanwhile waits, for a moment. */
async function takePorts(parts: BrokerParts): Promise<void> {
  await startListening(parts)
  await parts.options.openAdmin?.()
}

function refuseToGoOn(parts: BrokerParts): void {
  if (parts.failure !== undefined) throw new StartError(parts.failure.message)
}

function refuseUnsupportedListeners(parts: BrokerParts): void {
  const { isBroker, isController, brokerListeners, controllerListeners } = parts.config
  if (!isBroker || !isController) {
    throw new StartError('process.roles: only broker,controller is offered yet: one node that is both')
  }
  for (const { name, securityProtocol } of [...brokerListeners, ...controllerListeners]) {
    if (securityProtocol === 'PLAINTEXT') continue
    throw new StartError(`listeners: ${name} is ${securityProtocol}, and only PLAINTEXT is offered yet`)
  }
}

/** Of a directory that Kafka has written, with features at levels that are not in Millrace. */
function tellUnimplemented({ io, metadata }: BrokerParts): void {
  const features = unimplementedFeatures(metadata!.image.features()).map(({ name, level }) => `${name} ${level}`)
  if (features.length === 0) return
  const what = features.sort().join(', ')
  io.log.write(
    'warn',
    `the cluster has features that Millrace does not do so far: ${what}. What they govern is refused`,
    {
      features,
    },
  )
}

async function register(parts: BrokerParts): Promise<void> {
  const { clock, random, log } = parts.io
  const config = parts.config
  parts.registration = new BrokerRegistration({
    clock,
    random,
    log,
    metadata: parts.metadata!,
    nodeId: config.nodeId,
    clusterId: parts.clusterId,
    rack: config.brokerRack ?? null,
    listeners: parts.listeners.map(({ name, advertisedHost, advertisedPort }) => ({
      ...{ name, host: advertisedHost, port: advertisedPort, securityProtocol: 0 },
    })),
    directoryIds: parts.claims.map(claim => claim.directory.id),
    previousBrokerEpoch: Math.min(...parts.claims.map(claim => claim.cleanShutdown?.brokerEpoch ?? -1)),
    offlineDirectoryIds: () => parts.claims.filter(claim => claim.directory.isOffline).map(claim => claim.directory.id),
    heartbeatMs: config.brokerHeartbeatIntervalMs,
    timeoutMs: config.initialBrokerRegistrationTimeoutMs,
  })
  await parts.registration.start()
}
