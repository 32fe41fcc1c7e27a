import { decode } from '../../protocol/codec.ts'
import {
  incrementalAlterConfigsRequest,
  incrementalAlterConfigsResponse,
} from '../../protocol/messages/incremental-alter-configs.ts'
import { answerLater } from '../answer-later.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'

/** Decided by the active controller. */
export function incrementalAlterConfigsHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: incrementalAlterConfigsRequest.key,
    minVersion: incrementalAlterConfigsRequest.minVersion,
    maxVersion: incrementalAlterConfigsRequest.maxVersion,
    handle: request => {
      const body = decode(incrementalAlterConfigsRequest, request.apiVersion, request.body)
      const answer = async () => {
        const reply = await services.controller({ type: 'incrementalAlterConfigs', request: body })
        if (reply.type === 'incrementalAlterConfigs') request.reply(incrementalAlterConfigsResponse, reply.response)
      }
      answerLater(services, request, answer())
    },
  }
}
