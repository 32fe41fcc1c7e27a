import { unreachable } from '../../../base/assert.ts'
import { ErrorCode } from '../../../base/error-code.ts'
import type { BrokerHeartbeatRequest } from '../../../protocol/messages/broker-heartbeat.ts'
import { type BrokerImage, isActive } from '../broker-image.ts'
import type { ControllerCommand } from './commands.ts'
import type { ControllerState } from './controller-state.ts'
import { decideOfflineDirectories } from './directories.ts'
import type { Draft } from './draft.ts'
import { fenceBroker, moveLeaderships, registrationChange } from './leadership.ts'
import { failureReply } from './replies.ts'

type BrokerState = 'fenced' | 'active' | 'shuttingDown' | 'mayShutDown'

/**
 * A broker says how far it has read the metadata and what it wants; it is told what it is. It comes into service when it has
 * read its own registration, and may go when it leads nothing and every other broker has read that.
 */
export function decideBrokerHeartbeat(
  command: ControllerCommand & { readonly type: 'brokerHeartbeat' },
  state: ControllerState,
  draft: Draft,
): Draft {
  const { request } = command
  const broker = state.metadata.broker(request.brokerId)
  if (!broker) return draft.reply(command, failureReply(command, ErrorCode.brokerIdNotRegistered))
  if (broker.epoch !== request.brokerEpoch)
    return draft.reply(command, failureReply(command, ErrorCode.staleBrokerEpoch))

  const before = stateOf(broker)
  // What has failed is settled first: who leads after it is decided from the state after it.
  const hasFailed = decideOfflineDirectories(broker, request, state, draft)
  const next = hasFailed ? before : nextState(before, broker, request, state)
  if (next !== before) enter(next, broker, state, draft)
  draft.soft({
    type: 'contact',
    brokerId: broker.id,
    atMs: draft.now.monotonicMs,
    metadataOffset: request.currentMetadataOffset,
  })
  if (next === 'shuttingDown' && state.sessions.shutdownOffset(broker.id) === undefined) {
    draft.soft({ type: 'shutdown', brokerId: broker.id, offset: state.endOffset + draft.records.length })
  }
  // Without a change it depends on nothing that is not committed.
  draft.answersAtOnce = draft.records.length === 0
  const response = {
    throttleTimeMs: 0,
    errorCode: ErrorCode.none,
    isCaughtUp: request.currentMetadataOffset >= broker.epoch,
    isFenced: next === 'fenced' || next === 'mayShutDown',
    shouldShutDown: next === 'mayShutDown',
  }
  return draft.reply(command, { type: command.type, response })
}

function stateOf(broker: BrokerImage): BrokerState {
  if (broker.fenced) return 'fenced'
  return broker.inControlledShutdown ? 'shuttingDown' : 'active'
}

function nextState(
  before: BrokerState,
  broker: BrokerImage,
  { wantFence, wantShutDown, currentMetadataOffset }: BrokerHeartbeatRequest,
  state: ControllerState,
): BrokerState {
  switch (before) {
    case 'fenced':
      if (wantShutDown) return 'mayShutDown'
      return !wantFence && currentMetadataOffset >= broker.epoch ? 'active' : 'fenced'
    case 'active':
      if (wantFence) return wantShutDown ? 'mayShutDown' : 'fenced'
      return wantShutDown ? 'shuttingDown' : 'active'
    case 'shuttingDown':
      return leadsNothing(broker.id, state) && othersKnow(broker.id, state) ? 'mayShutDown' : 'shuttingDown'
    case 'mayShutDown':
      return before
    default:
      return unreachable(before)
  }
}

function leadsNothing(brokerId: number, { metadata }: ControllerState): boolean {
  for (const topic of metadata.topics()) {
    if (topic.partitions.some(partition => partition.leader === brokerId)) return false
  }
  return true
}

/** Every broker in service has read that this one leads nothing any more. */
function othersKnow(brokerId: number, { metadata, sessions }: ControllerState): boolean {
  const offset = sessions.shutdownOffset(brokerId)
  if (offset === undefined) return false
  for (const other of metadata.brokers()) {
    if (other.id !== brokerId && isActive(other) && sessions.metadataOffset(other.id) < offset) return false
  }
  return true
}

function enter(next: BrokerState, broker: BrokerImage, state: ControllerState, draft: Draft): void {
  const life = { brokerId: broker.id, brokerEpoch: broker.epoch }
  switch (next) {
    case 'active':
      draft.add(registrationChange(life, { fenced: -1 }))
      moveLeaderships(state, draft, { coming: broker.id })
      break
    case 'shuttingDown':
      draft.add(registrationChange(life, { inControlledShutdown: 1 }))
      moveLeaderships(state, draft, { leaving: broker.id })
      break
    case 'fenced':
    case 'mayShutDown':
      if (!broker.fenced) fenceBroker(state, draft, broker.id)
      break
    default:
      unreachable(next)
  }
  draft.maySplit = true
}

/** Takes brokers out of service whose sessions have ended. If the controller itself was held up, it knows nothing of them. */
export function decideTimeout(state: ControllerState, draft: Draft): Draft {
  const nowMs = draft.now.monotonicMs
  const inService = [...state.metadata.brokers()].filter(broker => !broker.fenced).map(broker => broker.id)
  const endMs = state.sessions.earliestEndMs(inService)
  if (endMs !== undefined && nowMs - endMs > state.options.config.brokerSessionTimeoutMs / 2) {
    draft.soft({ type: 'extend', atMs: nowMs })
    return draft
  }
  const expired = inService.find(id => !state.sessions.isValid(id, nowMs))
  // One at a time: who leads after the first is decided from the state after it.
  if (expired !== undefined) fenceBroker(state, draft, expired)
  return draft
}
