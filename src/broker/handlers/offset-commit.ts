import { ErrorCode } from '../../base/error-code.ts'
import { decode } from '../../protocol/codec.ts'
import { offsetCommitRequest, offsetCommitResponse } from '../../protocol/messages/offset-commit.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BrokerServices } from '../services.ts'
import { groupHandler } from './group-handler.ts'

/** The version since which topics are named by their ids. */
const firstVersionWithIds = 10

export function offsetCommitHandler(services: BrokerServices): ApiHandler {
  return groupHandler(offsetCommitRequest, request => {
    const body = decode(offsetCommitRequest, request.apiVersion, request.body)
    const topics =
      request.apiVersion < firstVersionWithIds
        ? body.topics
        : body.topics.map(topic => ({ ...topic, name: services.cluster.topicById(topic.topicId)?.name ?? '' }))
    const command = { type: 'offsetCommit' as const, apiVersion: request.apiVersion, request: { ...body, topics } }
    services.groups.submit(body.groupId, command, reply => {
      if (reply.type !== 'offsetCommit') return
      const failed = reply.response.topics
        .flatMap(topic => topic.partitions)
        .find(partition => partition.errorCode !== ErrorCode.none)
      request.errorCode = failed?.errorCode ?? ErrorCode.none
      request.reply(offsetCommitResponse, reply.response)
    })
  })
}
