import { ErrorCode } from '../../../base/error-code.ts'
import { zeroUuid } from '../../../base/uuid.ts'
import type { BrokerRegistrationRequest } from '../../../protocol/messages/broker-registration.ts'
import type { ControllerRegistrationRequest } from '../../../protocol/messages/controller-registration.ts'
import type { BrokerImage } from '../broker-image.ts'
import { metadataVersionFeature, recordVersion } from '../features.ts'
import type { ControllerCommand } from './commands.ts'
import { type ControllerState, isElrEnabled, metadataVersionOf } from './controller-state.ts'
import type { Draft } from './draft.ts'
import { moveLeaderships } from './leadership.ts'
import { type ApiError, apiError, failureReply } from './replies.ts'

/**
 * A broker begins a life: it gets an epoch that no broker had before, fenced until its heartbeats say that it has caught up.
 * Nobody takes the place of a broker whose session is alive. What the broker had of leadership and in-sync replicas in its
 * former life ends here, and if that did not end cleanly, what it was eligible for.
 */
export function decideRegisterBroker(
  command: ControllerCommand & { readonly type: 'registerBroker' },
  state: ControllerState,
  draft: Draft,
): Draft {
  const { request } = command
  const { brokerId, incarnationId } = request
  const before = state.metadata.broker(brokerId)
  const errorCode = registrationError(request, before, state, draft.now.monotonicMs)
  if (errorCode !== ErrorCode.none) return draft.reply(command, failureReply(command, errorCode))

  const isSameLife = before?.incarnationId === incarnationId
  const brokerEpoch = isSameLife ? before.epoch : state.endOffset
  if (before && !isSameLife) {
    const isUnclean = isElrEnabled(state) && request.previousBrokerEpoch !== before.epoch
    moveLeaderships(state, draft, { leaving: brokerId, isUnclean })
  }
  draft.add({
    type: 'registerBroker',
    version: recordVersion('registerBroker', metadataVersionOf(state)),
    brokerId,
    isMigratingZkBroker: false,
    incarnationId,
    brokerEpoch,
    endPoints: request.listeners,
    features: request.features,
    rack: request.rack,
    fenced: isSameLife ? before.fenced : true,
    inControlledShutdown: isSameLife && before.inControlledShutdown,
    logDirs: request.logDirs,
    cordonedLogDirs: null,
  })
  if (!isSameLife) draft.soft({ type: 'fresh', brokerId })
  const response = { throttleTimeMs: 0, errorCode: ErrorCode.none, brokerEpoch }
  return draft.reply(command, { type: command.type, response })
}

function registrationError(
  request: BrokerRegistrationRequest,
  before: BrokerImage | undefined,
  state: ControllerState,
  nowMs: number,
): ErrorCode {
  if (request.clusterId !== state.options.clusterId) return ErrorCode.inconsistentClusterId
  if (isHeld(request, before, state, nowMs)) return ErrorCode.duplicateBrokerRegistration
  if (request.isMigratingZkBroker || request.listeners.length === 0 || !hasDirectoriesOfItsOwn(request, state)) {
    return ErrorCode.invalidRegistration
  }
  return supportsFinalizedFeatures(request, state) ? ErrorCode.none : ErrorCode.unsupportedVersion
}

/** By another process that is alive and not on its way out. */
function isHeld(
  { brokerId, incarnationId }: BrokerRegistrationRequest,
  before: BrokerImage | undefined,
  { sessions, options }: ControllerState,
  nowMs: number,
): boolean {
  // This node's own broker runs in this process. Until it is heard of, its registration is of a process that is gone.
  if (brokerId === options.nodeId && !sessions.isHeardOf(brokerId)) return false
  if (!before || before.incarnationId === incarnationId || before.fenced || before.inControlledShutdown) return false
  return sessions.isValid(brokerId, nowMs)
}

/** A directory that two brokers claim was copied. */
function hasDirectoriesOfItsOwn(
  { brokerId, logDirs }: BrokerRegistrationRequest,
  { metadata }: ControllerState,
): boolean {
  if (logDirs.length === 0 || new Set(logDirs).size !== logDirs.length || logDirs.includes(zeroUuid)) return false
  for (const other of metadata.brokers()) {
    if (other.id !== brokerId && other.logDirs.some(dir => logDirs.includes(dir))) return false
  }
  return true
}

function supportsFinalizedFeatures({ features }: BrokerRegistrationRequest, state: ControllerState): boolean {
  const levels = [...state.metadata.features()]
  return levels.every(([name, level]) => {
    const range = features.find(feature => feature.name === name)
    return range !== undefined && level >= range.minSupportedVersion && level <= range.maxSupportedVersion
  })
}

/** Controllers say who they are too: where they listen, and what they can do. */
export function decideRegisterController(
  command: ControllerCommand & { readonly type: 'registerController' },
  state: ControllerState,
  draft: Draft,
): Draft {
  const { request } = command
  const error = controllerError(request, state)
  if (error) return draft.reply(command, failureReply(command, error.errorCode, error.message))
  draft.add({
    type: 'registerController',
    version: recordVersion('registerController', metadataVersionOf(state)),
    controllerId: request.controllerId,
    incarnationId: request.incarnationId,
    zkMigrationReady: request.zkMigrationReady,
    endPoints: request.listeners,
    features: request.features,
  })
  const response = { throttleTimeMs: 0, errorCode: ErrorCode.none, errorMessage: null }
  return draft.reply(command, { type: command.type, response })
}

function controllerError({ listeners, features }: ControllerRegistrationRequest, state: ControllerState) {
  if (listeners.length === 0) {
    return apiError(ErrorCode.invalidRegistration, 'A controller must have at least one listener.')
  }
  const version = metadataVersionOf(state)
  const range = features.find(feature => feature.name === metadataVersionFeature)
  if (range && version >= range.minSupportedVersion && version <= range.maxSupportedVersion) return undefined
  return apiError(ErrorCode.unsupportedVersion, `The controller does not support metadata.version ${version}.`)
}

/** A request that carries a broker's epoch is of that broker's present life only. */
export function checkBrokerEpoch(
  { metadata }: ControllerState,
  { brokerId, brokerEpoch }: { readonly brokerId: number; readonly brokerEpoch: number },
): ApiError | undefined {
  const broker = metadata.broker(brokerId)
  if (!broker) {
    return apiError(ErrorCode.staleBrokerEpoch, `No broker registration found for broker id ${brokerId}`)
  }
  if (broker.epoch === brokerEpoch) return undefined
  return apiError(
    ErrorCode.staleBrokerEpoch,
    `Expected broker epoch ${broker.epoch}, but got broker epoch ${brokerEpoch}`,
  )
}
