import { ErrorCode } from '../../base/error-code.ts'
import type { Described } from '../../core/group/replies.ts'
import { decode } from '../../protocol/codec.ts'
import { describeGroupsRequest, describeGroupsResponse } from '../../protocol/messages/describe-groups.ts'
import type { ApiHandler } from '../api-handler.ts'
import { groupOperations } from '../authorized-operations.ts'
import type { BrokerServices } from '../services.ts'
import { groupHandler } from './group-handler.ts'

export function describeGroupsHandler(services: BrokerServices): ApiHandler {
  return groupHandler(describeGroupsRequest, request => {
    const body = decode(describeGroupsRequest, request.apiVersion, request.body)
    const described: (Described | undefined)[] = body.groups.map(() => undefined)
    let missing = described.length
    const answer = () => {
      const groups = (described as Described[]).map(group =>
        body.includeAuthorizedOperations && group.errorCode === ErrorCode.none
          ? { ...group, authorizedOperations: groupOperations }
          : group,
      )
      request.reply(describeGroupsResponse, { throttleTimeMs: request.throttleTimeMs, groups })
    }
    if (missing === 0) answer()
    body.groups.forEach((groupId, index) => {
      const command = { type: 'describeGroups' as const, apiVersion: request.apiVersion, groupIds: [groupId] }
      services.groups.submit(groupId, command, reply => {
        if (reply.type !== 'describeGroups') return
        described[index] = reply.groups[0]
        if (--missing === 0) answer()
      })
    })
  })
}
