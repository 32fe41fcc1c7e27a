import { ErrorCode } from '../../../base/error-code.ts'
import { checkBrokerEpoch } from './broker-registration.ts'
import type { ControllerCommand } from './commands.ts'
import type { ControllerState } from './controller-state.ts'
import type { Draft } from './draft.ts'
import { failureReply } from './replies.ts'

const blockLength = 1000
/** Above it a number is not exact; ten million years away at a thousand blocks a second. */
const lastBlockStart = Number.MAX_SAFE_INTEGER - blockLength

/** Gives a broker a block of producer ids that no one had before. */
export function decideAllocateProducerIds(
  command: ControllerCommand & { readonly type: 'allocateProducerIds' },
  state: ControllerState,
  draft: Draft,
): Draft {
  const { brokerId, brokerEpoch } = command.request
  const stale = checkBrokerEpoch(state, command.request)
  if (stale) return draft.reply(command, failureReply(command, stale.errorCode))
  const producerIdStart = state.metadata.nextProducerId
  if (producerIdStart > lastBlockStart) return draft.reply(command, failureReply(command, ErrorCode.unknownServerError))
  const nextProducerId = producerIdStart + blockLength
  draft.add({ type: 'producerIds', version: 0, brokerId, brokerEpoch, nextProducerId })
  const response = { throttleTimeMs: 0, errorCode: ErrorCode.none, producerIdStart, producerIdLen: blockLength }
  return draft.reply(command, { type: command.type, response })
}
