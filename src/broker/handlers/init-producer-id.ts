import { ErrorCode } from '../../base/error-code.ts'
import { decode } from '../../protocol/codec.ts'
import { initProducerIdRequest, initProducerIdResponse } from '../../protocol/messages/init-producer-id.ts'
import { answerLater } from '../answer-later.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'

/** Version 6 (two-phase commit) is not stable in Kafka 4.4. */
const maxStableVersion = 5

/** A new id for an idempotent producer. Whatever id it had before, it starts anew with epoch 0, as in Kafka. */
export function initProducerIdHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: initProducerIdRequest.key,
    minVersion: initProducerIdRequest.minVersion,
    maxVersion: maxStableVersion,
    handle: request => {
      const body = decode(initProducerIdRequest, request.apiVersion, request.body)
      const refuse = (errorCode: ErrorCode) => {
        request.errorCode = errorCode
        request.reply(initProducerIdResponse, { throttleTimeMs: 0, errorCode, producerId: -1, producerEpoch: -1 })
      }
      const hasHalfAnId = (body.producerId === -1) !== (body.producerEpoch === -1)
      if (body.transactionalId === '' || hasHalfAnId) return refuse(ErrorCode.invalidRequest)
      // Transactions are not offered yet; clients do not retry this code.
      if (body.transactionalId !== null) return refuse(ErrorCode.transactionalIdAuthorizationFailed)
      const answer = async () => {
        const { errorCode, producerId } = await services.producerIds.take()
        if (errorCode !== ErrorCode.none) return refuse(errorCode)
        request.reply(initProducerIdResponse, {
          throttleTimeMs: request.throttleTimeMs,
          errorCode,
          producerId,
          producerEpoch: 0,
        })
      }
      answerLater(services, request, answer())
    },
  }
}
