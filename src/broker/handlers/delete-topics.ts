import { decode } from '../../protocol/codec.ts'
import { deleteTopicsRequest, deleteTopicsResponse } from '../../protocol/messages/delete-topics.ts'
import { answerLater } from '../answer-later.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'

/** Decided by the active controller. */
export function deleteTopicsHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: deleteTopicsRequest.key,
    minVersion: deleteTopicsRequest.minVersion,
    maxVersion: deleteTopicsRequest.maxVersion,
    handle: request => {
      const body = decode(deleteTopicsRequest, request.apiVersion, request.body)
      const answer = async () => {
        const reply = await services.controller({ type: 'deleteTopics', request: body, apiVersion: request.apiVersion })
        if (reply.type === 'deleteTopics') request.reply(deleteTopicsResponse, reply.response)
      }
      answerLater(services, request, answer())
    },
  }
}
