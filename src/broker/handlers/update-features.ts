import { decode } from '../../protocol/codec.ts'
import { updateFeaturesRequest, updateFeaturesResponse } from '../../protocol/messages/update-features.ts'
import { answerLater } from '../answer-later.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'

/** Decided by the active controller. */
export function updateFeaturesHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: updateFeaturesRequest.key,
    minVersion: updateFeaturesRequest.minVersion,
    maxVersion: updateFeaturesRequest.maxVersion,
    handle: request => {
      const body = decode(updateFeaturesRequest, request.apiVersion, request.body)
      const answer = async () => {
        const reply = await services.controller({ type: 'updateFeatures', request: body })
        if (reply.type === 'updateFeatures') request.reply(updateFeaturesResponse, reply.response)
      }
      answerLater(services, request, answer())
    },
  }
}
