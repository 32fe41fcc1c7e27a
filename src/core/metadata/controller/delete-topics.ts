import { ErrorCode } from '../../../base/error-code.ts'
import { type Uuid, zeroUuid } from '../../../base/uuid.ts'
import type { ControllerCommand } from './commands.ts'
import type { ControllerState } from './controller-state.ts'
import type { Draft } from './draft.ts'
import { type ApiError, apiError, failureReply } from './replies.ts'

type DeleteTopicsCommand = ControllerCommand & { readonly type: 'deleteTopics' }

interface NamedTopic {
  /** Null: named by its id. */
  readonly name: string | null
  /** Zero: named by its name. */
  readonly topicId: Uuid
}

/** Deletes each topic of the request that is there, all in one batch. */
export function decideDeleteTopics(command: DeleteTopicsCommand, state: ControllerState, draft: Draft): Draft {
  const { request, apiVersion } = command
  if (!state.options.config.deleteTopicEnable) {
    const errorCode = apiVersion < 3 ? ErrorCode.invalidRequest : ErrorCode.topicDeletionDisabled
    return draft.reply(command, failureReply(command, errorCode, 'Topic deletion is disabled.'))
  }
  const named =
    apiVersion < 6 ? request.topicNames.map((name): NamedTopic => ({ name, topicId: zeroUuid })) : request.topics
  const responses = uniqueTopics(named, state).map(({ topic, error }) => {
    const found = error ? undefined : find(topic, state)
    if (!found) {
      const { errorCode, message } = error ?? unknown(topic)
      return { name: topic.name, topicId: topic.topicId, errorCode, errorMessage: message }
    }
    draft.add({ type: 'removeTopic', version: 0, topicId: found.id })
    return { name: found.name, topicId: found.id, errorCode: ErrorCode.none, errorMessage: null }
  })
  return draft.reply(command, { type: command.type, response: { throttleTimeMs: 0, responses } })
}

function find({ name, topicId }: NamedTopic, { metadata }: ControllerState) {
  return name === null ? metadata.topicById(topicId) : metadata.topic(name)
}

function unknown({ name }: NamedTopic): ApiError {
  return name === null
    ? apiError(ErrorCode.unknownTopicId, 'This server does not host this topic ID.')
    : apiError(ErrorCode.unknownTopicOrPartition, 'This server does not host this topic-partition.')
}

/** Each topic once; one that is named twice, or by a name and the id of the same topic, is not deleted at all. */
function uniqueTopics(named: readonly NamedTopic[], state: ControllerState) {
  const unique: { readonly topic: NamedTopic; readonly error: ApiError | undefined }[] = []
  const found = new Map<Uuid, NamedTopic[]>()
  for (const same of Map.groupBy(named, topic => `${topic.name} ${topic.topicId}`).values()) {
    const [topic] = same
    const error = namingError(same)
    const id = error ? undefined : find(topic, state)?.id
    if (id === undefined) unique.push({ topic, error })
    else found.set(id, [...(found.get(id) ?? []), topic])
  }
  for (const [topicId, topics] of found) {
    const [topic] = topics
    if (topics.length === 1) unique.push({ topic, error: undefined })
    else {
      const { name } = state.metadata.topicById(topicId)!
      const message = 'The provided topic name maps to an ID that was already supplied.'
      unique.push({ topic: { name, topicId }, error: apiError(ErrorCode.invalidRequest, message) })
    }
  }
  return unique
}

function namingError(same: readonly NamedTopic[]): ApiError | undefined {
  const [topic] = same
  const hasId = topic.topicId !== zeroUuid
  if (topic.name !== null && hasId) {
    return apiError(ErrorCode.invalidRequest, 'You may not specify both topic name and topic id.')
  }
  if (topic.name === null && !hasId) {
    return apiError(ErrorCode.invalidRequest, 'Neither topic name nor id were specified.')
  }
  if (same.length === 1) return undefined
  return apiError(ErrorCode.invalidRequest, hasId ? 'Duplicate topic id.' : 'Duplicate topic name.')
}
