import { decode } from '../../protocol/codec.ts'
import { createPartitionsRequest, createPartitionsResponse } from '../../protocol/messages/create-partitions.ts'
import { answerLater } from '../answer-later.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'

/** Decided by the active controller. */
export function createPartitionsHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: createPartitionsRequest.key,
    minVersion: createPartitionsRequest.minVersion,
    maxVersion: createPartitionsRequest.maxVersion,
    handle: request => {
      const body = decode(createPartitionsRequest, request.apiVersion, request.body)
      const answer = async () => {
        const reply = await services.controller({ type: 'createPartitions', request: body })
        if (reply.type === 'createPartitions') request.reply(createPartitionsResponse, reply.response)
      }
      answerLater(services, request, answer())
    },
  }
}
