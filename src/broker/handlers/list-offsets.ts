import { ErrorCode } from '../../base/error-code.ts'
import { decode } from '../../protocol/codec.ts'
import {
  type ListOffsetsRequest,
  listOffsetsRequest,
  listOffsetsResponse,
} from '../../protocol/messages/list-offsets.ts'
import { answerLater } from '../answer-later.ts'
import type { ApiHandler } from '../api-handler.ts'
import { leaderError } from '../leader-check.ts'
import type { Request } from '../network/request.ts'
import type { Partition } from '../partition.ts'
import type { BrokerServices } from '../services.ts'

/** Timestamps with a meaning of their own, and the version since which each may be asked for. */
const latest = -1n
const earliest = -2n
const maxTimestamp = -3n
const earliestLocal = -4n
const latestTiered = -5n
const earliestPendingUpload = -6n
const sinceVersion = new Map([
  [maxTimestamp, 7],
  [earliestLocal, 8],
  [latestTiered, 9],
  [earliestPendingUpload, 11],
])

interface Result {
  readonly partitionIndex: number
  readonly errorCode: ErrorCode
  readonly timestamp: bigint
  readonly offset: number
  readonly leaderEpoch: number
}

type Asked = { readonly partitionIndex: number; readonly currentLeaderEpoch: number; readonly timestamp: bigint }

export function listOffsetsHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: listOffsetsRequest.key,
    minVersion: listOffsetsRequest.minVersion,
    maxVersion: listOffsetsRequest.maxVersion,
    handle: request => {
      const body = decode(listOffsetsRequest, request.apiVersion, request.body)
      answerLater(services, request, handleListOffsets(services, request, body))
    },
  }
}

async function handleListOffsets(services: BrokerServices, request: Request, body: ListOffsetsRequest): Promise<void> {
  const seen = new Map<string, number>()
  for (const topic of body.topics)
    for (const { partitionIndex } of topic.partitions) {
      const key = `${topic.name}/${partitionIndex}`
      seen.set(key, (seen.get(key) ?? 0) + 1)
    }
  const topics = await Promise.all(
    body.topics.map(async ({ name, partitions }) => ({
      name,
      partitions: await Promise.all(
        distinct(partitions).map(asked => {
          if (seen.get(`${name}/${asked.partitionIndex}`) !== 1) return failure(asked, ErrorCode.invalidRequest)
          return find(services, request, name, asked, body.isolationLevel === 1)
        }),
      ),
    })),
  )
  const versioned = topics.map(topic => ({ ...topic, partitions: topic.partitions.map(inVersion(request.apiVersion)) }))
  request.reply(listOffsetsResponse, { throttleTimeMs: request.throttleTimeMs, topics: versioned })
}

/** A partition that is asked for twice is refused, once. */
function distinct(partitions: readonly Asked[]): Asked[] {
  return [...new Map(partitions.map(asked => [asked.partitionIndex, asked])).values()]
}

/** Before version 4 an answer has no leader epoch. */
function inVersion(version: number) {
  return (result: Result): Result => (version >= 4 ? result : { ...result, leaderEpoch: -1 })
}

function failure({ partitionIndex }: Asked, errorCode: ErrorCode): Result {
  return { partitionIndex, errorCode, timestamp: -1n, offset: -1, leaderEpoch: -1 }
}

function success({ partitionIndex }: Asked, offset: number, leaderEpoch: number, timestamp = -1n): Result {
  return { partitionIndex, errorCode: ErrorCode.none, timestamp, offset, leaderEpoch }
}

async function find(
  services: BrokerServices,
  request: Request,
  name: string,
  asked: Asked,
  readCommitted: boolean,
): Promise<Result> {
  const partition = services.partitions.byName(name, asked.partitionIndex)
  if (partition === undefined) {
    return failure(asked, services.partitions.absenceByName(name, asked.partitionIndex))
  }
  // Only -1 stands for "none" here; any other negative epoch is a former one, unlike in Fetch.
  if (asked.currentLeaderEpoch < -1) return failure(asked, ErrorCode.fencedLeaderEpoch)
  const refused = leaderError(partition, asked.currentLeaderEpoch)
  if (refused !== ErrorCode.none) return failure(asked, refused)
  const { timestamp } = asked
  if (timestamp < earliestPendingUpload || request.apiVersion < (sinceVersion.get(timestamp) ?? 0)) {
    return failure(asked, ErrorCode.unsupportedVersion)
  }
  const { log } = partition
  const isolation = readCommitted ? 'lastStableOffset' : 'highWatermark'
  switch (timestamp) {
    case latest:
      return success(asked, log[isolation], partition.leaderEpoch)
    case earliest:
    case earliestLocal:
      return success(asked, log.logStartOffset, log.epochAt(log.logStartOffset))
    case latestTiered:
    case earliestPendingUpload:
      // Nothing is tiered here: there is no such offset.
      return success(asked, -1, -1)
    default:
      return await search(partition, asked, isolation)
  }
}

async function search(
  partition: Partition,
  asked: Asked,
  isolation: 'highWatermark' | 'lastStableOffset',
): Promise<Result> {
  const { log } = partition
  const isMaximum = asked.timestamp === maxTimestamp
  const found = await (isMaximum ? log.findMaxTimestamp() : log.findByTimestamp(asked.timestamp))
  if (found === undefined) return success(asked, -1, -1)
  if ('errorCode' in found) return failure(asked, found.errorCode)
  // As it stands now: what was found may have been written, and acknowledged, while the search went on.
  if (found.offset >= log[isolation]) return success(asked, -1, -1)
  return success(asked, found.offset, found.leaderEpoch, found.timestamp)
}
