import type { Deleted } from '../../core/group/replies.ts'
import { decode } from '../../protocol/codec.ts'
import { deleteGroupsRequest, deleteGroupsResponse } from '../../protocol/messages/delete-groups.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'
import { groupHandler } from './group-handler.ts'

export function deleteGroupsHandler(services: BrokerServices): ApiHandler {
  return groupHandler(deleteGroupsRequest, request => {
    const body = decode(deleteGroupsRequest, request.apiVersion, request.body)
    const groupIds = [...new Set(body.groupsNames)]
    const deleted: (Deleted | undefined)[] = groupIds.map(() => undefined)
    let missing = groupIds.length
    const answer = () =>
      request.reply(deleteGroupsResponse, { throttleTimeMs: request.throttleTimeMs, results: deleted as Deleted[] })
    if (missing === 0) answer()
    groupIds.forEach((groupId, index) => {
      const command = { type: 'deleteGroups' as const, apiVersion: request.apiVersion, groupIds: [groupId] }
      services.groups.submit(groupId, command, reply => {
        if (reply.type !== 'deleteGroups') return
        deleted[index] = reply.results[0]
        if (--missing === 0) answer()
      })
    })
  })
}
