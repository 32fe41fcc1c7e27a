import { ErrorCode } from '../../base/error-code.ts'
import { zeroUuid } from '../../base/uuid.ts'
import type { FetchedGroup } from '../../core/group/replies.ts'
import { decode } from '../../protocol/codec.ts'
import {
  type OffsetFetchRequest,
  type OffsetFetchRequestGroup,
  offsetFetchRequest,
  offsetFetchResponse,
} from '../../protocol/messages/offset-fetch.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { Request } from '../network/request.ts'
import type { BrokerServices } from '../services.ts'
import { groupHandler } from './group-handler.ts'

const firstVersionWithGroups = 8
const firstVersionWithIds = 10
const firstVersionWithGroupError = 2

export function offsetFetchHandler(services: BrokerServices): ApiHandler {
  return groupHandler(offsetFetchRequest, request => {
    const body = decode(offsetFetchRequest, request.apiVersion, request.body)
    const groups = groupsOf(services, body, request.apiVersion)
    const fetched: (FetchedGroup | undefined)[] = groups.map(() => undefined)
    let missing = groups.length
    if (missing === 0) answer(request, [])
    groups.forEach((group, index) => {
      const command = {
        type: 'offsetFetch' as const,
        apiVersion: request.apiVersion,
        groups: [group],
        requireStable: body.requireStable,
      }
      services.groups.submit(group.groupId, command, reply => {
        if (reply.type !== 'offsetFetch') return
        fetched[index] = reply.groups[0]
        if (--missing === 0) answer(request, fetched as FetchedGroup[])
      })
    })
  })
}

function groupsOf(
  services: BrokerServices,
  body: OffsetFetchRequest,
  version: number,
): readonly OffsetFetchRequestGroup[] {
  if (version < firstVersionWithGroups) {
    const topics = body.topics?.map(topic => ({ ...topic, topicId: zeroUuid })) ?? null
    return [{ groupId: body.groupId, memberId: null, memberEpoch: -1, topics }]
  }
  if (version < firstVersionWithIds) return body.groups
  return body.groups.map(group => ({
    ...group,
    topics:
      group.topics?.map(topic => ({ ...topic, name: services.cluster.topicById(topic.topicId)?.name ?? '' })) ?? null,
  }))
}

function answer(request: Request, groups: readonly FetchedGroup[]): void {
  request.errorCode = groups.find(group => group.errorCode)?.errorCode ?? ErrorCode.none
  if (request.apiVersion >= firstVersionWithGroups) {
    request.reply(offsetFetchResponse, { throttleTimeMs: request.throttleTimeMs, topics: [], groups })
    return
  }
  const [group] = groups
  const topics = group.topics.map(topic => ({ name: topic.name ?? '', partitions: topic.partitions }))
  const errorCode = request.apiVersion >= firstVersionWithGroupError ? group.errorCode : ErrorCode.none
  request.reply(offsetFetchResponse, { throttleTimeMs: request.throttleTimeMs, topics, errorCode, groups: [] })
}
