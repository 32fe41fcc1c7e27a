import { decode } from '../../protocol/codec.ts'
import { leaveGroupRequest, leaveGroupResponse } from '../../protocol/messages/leave-group.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'
import { groupHandler } from './group-handler.ts'

export function leaveGroupHandler(services: BrokerServices): ApiHandler {
  return groupHandler(leaveGroupRequest, request => {
    const body = decode(leaveGroupRequest, request.apiVersion, request.body)
    const command = { type: 'leaveGroup' as const, apiVersion: request.apiVersion, request: body }
    services.groups.submit(body.groupId, command, reply => {
      if (reply.type !== 'leaveGroup') return
      request.errorCode = reply.response.errorCode
      request.reply(leaveGroupResponse, reply.response)
    })
  })
}
