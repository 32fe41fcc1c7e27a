import { decode } from '../../protocol/codec.ts'
import { alterConfigsRequest, alterConfigsResponse } from '../../protocol/messages/alter-configs.ts'
import { answerLater } from '../answer-later.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'

/** Decided by the active controller. */
export function alterConfigsHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: alterConfigsRequest.key,
    minVersion: alterConfigsRequest.minVersion,
    maxVersion: alterConfigsRequest.maxVersion,
    handle: request => {
      const body = decode(alterConfigsRequest, request.apiVersion, request.body)
      const answer = async () => {
        const reply = await services.controller({ type: 'alterConfigs', request: body })
        if (reply.type === 'alterConfigs') request.reply(alterConfigsResponse, reply.response)
      }
      answerLater(services, request, answer())
    },
  }
}
