import { decode } from '../../protocol/codec.ts'
import { syncGroupRequest, syncGroupResponse } from '../../protocol/messages/sync-group.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'
import { groupHandler } from './group-handler.ts'

export function syncGroupHandler(services: BrokerServices): ApiHandler {
  return groupHandler(syncGroupRequest, request => {
    const body = decode(syncGroupRequest, request.apiVersion, request.body)
    const command = { type: 'syncGroup' as const, apiVersion: request.apiVersion, request: body }
    services.groups.submit(body.groupId, command, reply => {
      if (reply.type !== 'syncGroup') return
      request.errorCode = reply.response.errorCode
      request.reply(syncGroupResponse, reply.response)
    })
  })
}
