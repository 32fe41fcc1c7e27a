import { ErrorCode } from '../../base/error-code.ts'
import type { Listed } from '../../core/group/replies.ts'
import { decode } from '../../protocol/codec.ts'
import { listGroupsRequest, listGroupsResponse } from '../../protocol/messages/list-groups.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'
import { groupHandler } from './group-handler.ts'

/** The groups of this broker's coordinators. If one cannot say, its error is the answer, with the groups of the others. */
export function listGroupsHandler(services: BrokerServices): ApiHandler {
  return groupHandler(listGroupsRequest, request => {
    const { statesFilter, typesFilter } = decode(listGroupsRequest, request.apiVersion, request.body)
    const shards = [...services.groups.shards.keys()]
    const groups: Listed[] = []
    let errorCode: ErrorCode = ErrorCode.none
    let missing = shards.length
    const answer = () => {
      request.errorCode = errorCode
      request.reply(listGroupsResponse, { throttleTimeMs: request.throttleTimeMs, errorCode, groups })
    }
    if (missing === 0) answer()
    for (const index of shards) {
      const command = { type: 'listGroups' as const, apiVersion: request.apiVersion, statesFilter, typesFilter }
      services.groups.submitTo(index, command, reply => {
        if (reply.type !== 'listGroups') return
        errorCode ||= reply.errorCode
        groups.push(...reply.groups)
        if (--missing === 0) answer()
      })
    }
  })
}
