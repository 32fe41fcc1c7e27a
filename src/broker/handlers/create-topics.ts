import { decode } from '../../protocol/codec.ts'
import { createTopicsRequest, createTopicsResponse } from '../../protocol/messages/create-topics.ts'
import { answerLater } from '../answer-later.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'

/** Decided by the active controller. */
export function createTopicsHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: createTopicsRequest.key,
    minVersion: createTopicsRequest.minVersion,
    maxVersion: createTopicsRequest.maxVersion,
    handle: request => {
      const body = decode(createTopicsRequest, request.apiVersion, request.body)
      const answer = async () => {
        const reply = await services.controller({ type: 'createTopics', request: body })
        if (reply.type === 'createTopics') request.reply(createTopicsResponse, reply.response)
      }
      answerLater(services, request, answer())
    },
  }
}
