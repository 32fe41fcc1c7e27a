import { decode } from '../../protocol/codec.ts'
import { joinGroupRequest, joinGroupResponse } from '../../protocol/messages/join-group.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'
import { groupHandler } from './group-handler.ts'

/** Answered when the group has gathered: by another member's request, or by a deadline. */
export function joinGroupHandler(services: BrokerServices): ApiHandler {
  return groupHandler(joinGroupRequest, request => {
    const body = decode(joinGroupRequest, request.apiVersion, request.body)
    const command = {
      type: 'joinGroup' as const,
      apiVersion: request.apiVersion,
      clientId: request.clientId,
      clientHost: `/${request.owner.remoteAddress}`,
      request: body,
    }
    services.groups.submit(body.groupId, command, reply => {
      if (reply.type !== 'joinGroup') return
      request.errorCode = reply.response.errorCode
      request.reply(joinGroupResponse, reply.response)
    })
  })
}
