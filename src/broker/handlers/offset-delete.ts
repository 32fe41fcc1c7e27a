import { decode } from '../../protocol/codec.ts'
import { offsetDeleteRequest, offsetDeleteResponse } from '../../protocol/messages/offset-delete.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'
import { groupHandler } from './group-handler.ts'

export function offsetDeleteHandler(services: BrokerServices): ApiHandler {
  return groupHandler(offsetDeleteRequest, request => {
    const body = decode(offsetDeleteRequest, request.apiVersion, request.body)
    const command = { type: 'offsetDelete' as const, apiVersion: request.apiVersion, request: body }
    services.groups.submit(body.groupId, command, reply => {
      if (reply.type !== 'offsetDelete') return
      request.errorCode = reply.response.errorCode
      request.reply(offsetDeleteResponse, reply.response)
    })
  })
}
