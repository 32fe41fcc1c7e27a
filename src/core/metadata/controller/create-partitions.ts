import { ErrorCode } from '../../../base/error-code.ts'
import type { CreatePartitionsTopic } from '../../../protocol/messages/create-partitions.ts'
import type { TopicImage } from '../metadata-image.ts'
import type { ControllerCommand } from './commands.ts'
import type { ControllerState } from './controller-state.ts'
import type { Draft } from './draft.ts'
import {
  type Assignments,
  isApiError,
  manualAssignmentProblem,
  maxPartitionsPerRequest,
  newPartition,
  noActiveReplicaProblem,
  placeNewPartitions,
} from './new-partitions.ts'
import { type ApiError, apiError, failureReply } from './replies.ts'

/** Adds partitions to each topic of the request that can have them, all in one batch. */
export function decideCreatePartitions(
  command: ControllerCommand & { readonly type: 'createPartitions' },
  state: ControllerState,
  draft: Draft,
): Draft {
  const { request } = command
  const byName = Map.groupBy(request.topics, topic => topic.name)
  if (additionalPartitions(byName.values(), state) > maxPartitionsPerRequest) {
    const message = 'Excessively large number of additional partitions per request.'
    return draft.reply(command, failureReply(command, ErrorCode.policyViolation, message))
  }
  const results = [...byName].map(([name, wanted]) => {
    const topic = state.metadata.topic(name)
    const added = wanted.length > 1 ? duplicate : topic ? decideTopic(topic, wanted[0], state) : unknownTopic
    if (isApiError(added)) return { name, errorCode: added.errorCode, errorMessage: added.message }
    if (topic && !request.validateOnly) add(topic, added, state, draft)
    return { name, errorCode: ErrorCode.none, errorMessage: null }
  })
  return draft.reply(command, { type: command.type, response: { throttleTimeMs: 0, results } })
}

const duplicate = apiError(ErrorCode.invalidRequest, 'Duplicate topic name.')
const unknownTopic = apiError(ErrorCode.unknownTopicOrPartition)

/** Of topics that are named once: the others are refused. */
function additionalPartitions(
  topics: Iterable<readonly CreatePartitionsTopic[]>,
  { metadata }: ControllerState,
): number {
  let additional = 0
  for (const [{ name, count }, ...others] of topics) {
    if (others.length > 0) continue
    const topic = metadata.topic(name)
    if (topic) additional += Math.max(0, count - topic.partitions.length)
  }
  return additional
}

function decideTopic(topic: TopicImage, wanted: CreatePartitionsTopic, state: ControllerState): Assignments | ApiError {
  const present = topic.partitions.length
  if (wanted.count === present) {
    return apiError(ErrorCode.invalidPartitions, `Topic already has ${present} partition(s).`)
  }
  if (wanted.count < present) {
    const message = `The topic ${topic.name} currently has ${present} partition(s); ${wanted.count} would not be an increase.`
    return apiError(ErrorCode.invalidPartitions, message)
  }
  const additional = wanted.count - present
  const replicationFactor = topic.partitions[0].replicas.length
  if (wanted.assignments === null) return placeNewPartitions(state, { partitions: additional, replicationFactor })
  const assignments = wanted.assignments.map(({ brokerIds }) => brokerIds)
  return checkAssignments(assignments, { present, additional, replicationFactor }, state)
}

function checkAssignments(
  assignments: Assignments,
  topic: { readonly present: number; readonly additional: number; readonly replicationFactor: number },
  state: ControllerState,
): Assignments | ApiError {
  if (assignments.length !== topic.additional) {
    const wanted = `Attempted to add ${topic.additional} additional partition(s)`
    const message = `${wanted}, but only ${assignments.length} assignment(s) were specified.`
    return apiError(ErrorCode.invalidReplicaAssignment, message)
  }
  for (const [index, replicas] of assignments.entries()) {
    const problem =
      manualAssignmentProblem(state, replicas, topic.replicationFactor) ??
      noActiveReplicaProblem(state, topic.present + index, replicas)
    if (problem !== undefined) return apiError(ErrorCode.invalidReplicaAssignment, problem)
  }
  return assignments
}

function add(topic: TopicImage, assignments: Assignments, state: ControllerState, draft: Draft): void {
  for (const [index, replicas] of assignments.entries()) {
    draft.add(newPartition(state, { topicId: topic.id, partition: topic.partitions.length + index, replicas }))
  }
}
