import { decode } from '../../protocol/codec.ts'
import { heartbeatRequest, heartbeatResponse } from '../../protocol/messages/heartbeat.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'
import { groupHandler } from './group-handler.ts'

export function heartbeatHandler(services: BrokerServices): ApiHandler {
  return groupHandler(heartbeatRequest, request => {
    const body = decode(heartbeatRequest, request.apiVersion, request.body)
    const command = { type: 'heartbeat' as const, apiVersion: request.apiVersion, request: body }
    services.groups.submit(body.groupId, command, reply => {
      if (reply.type !== 'heartbeat') return
      request.errorCode = reply.response.errorCode
      request.reply(heartbeatResponse, reply.response)
    })
  })
}
