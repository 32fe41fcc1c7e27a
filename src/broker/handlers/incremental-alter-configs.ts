import { ErrorCode } from '../../base/error-code.ts'
import { decode } from '../../protocol/codec.ts'
import {
  incrementalAlterConfigsRequest,
  incrementalAlterConfigsResponse,
} from '../../protocol/messages/incremental-alter-configs.ts'
import { answerLater } from '../answer-later.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'
import { alterResources } from './config-resources.ts'

/** Decided by the active controller. */
export function incrementalAlterConfigsHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: incrementalAlterConfigsRequest.key,
    minVersion: incrementalAlterConfigsRequest.minVersion,
    maxVersion: incrementalAlterConfigsRequest.maxVersion,
    handle: request => {
      const body = decode(incrementalAlterConfigsRequest, request.apiVersion, request.body)
      const answer = async () => {
        const responses = await alterResources(services, body.resources, async resources => {
          const reply = await services.controller({ type: 'incrementalAlterConfigs', request: { ...body, resources } })
          return reply.type === 'incrementalAlterConfigs' ? reply.response.responses : []
        })
        request.errorCode = responses.find(one => one.errorCode !== ErrorCode.none)?.errorCode ?? ErrorCode.none
        request.reply(incrementalAlterConfigsResponse, { throttleTimeMs: request.throttleTimeMs, responses })
      }
      answerLater(services, request, answer())
    },
  }
}
