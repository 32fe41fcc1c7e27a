import { ErrorCode } from '../../base/error-code.ts'
import { decode } from '../../protocol/codec.ts'
import { alterConfigsRequest, alterConfigsResponse } from '../../protocol/messages/alter-configs.ts'
import { answerLater } from '../answer-later.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'
import { alterResources } from './config-resources.ts'

/** Decided by the active controller. */
export function alterConfigsHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: alterConfigsRequest.key,
    minVersion: alterConfigsRequest.minVersion,
    maxVersion: alterConfigsRequest.maxVersion,
    handle: request => {
      const body = decode(alterConfigsRequest, request.apiVersion, request.body)
      const answer = async () => {
        const responses = await alterResources(services, body.resources, async resources => {
          const reply = await services.controller({ type: 'alterConfigs', request: { ...body, resources } })
          return reply.type === 'alterConfigs' ? reply.response.responses : []
        })
        request.errorCode = responses.find(one => one.errorCode !== ErrorCode.none)?.errorCode ?? ErrorCode.none
        request.reply(alterConfigsResponse, { throttleTimeMs: request.throttleTimeMs, responses })
      }
      answerLater(services, request, answer())
    },
  }
}
