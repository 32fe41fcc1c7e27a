import { ErrorCode } from '../../base/error-code.ts'
import { DiskError } from '../../io/disk.ts'
import { decode } from '../../protocol/codec.ts'
import {
  type DeleteRecordsRequest,
  deleteRecordsRequest,
  deleteRecordsResponse,
} from '../../protocol/messages/delete-records.ts'
import { answerLater } from '../answer-later.ts'
import type { ApiHandler } from '../api-handler.ts'
import { leaderError } from '../leader-check.ts'
import type { Request } from '../network/request.ts'
import type { Partition } from '../partition.ts'
import type { BrokerServices } from '../services.ts'
import { isInternalTopic } from '../topic-names.ts'

/** The offset that means "up to the high watermark". */
const upToHighWatermark = -1

/** Moves the start of logs forward. Each partition stands for itself. */
export function deleteRecordsHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: deleteRecordsRequest.key,
    minVersion: deleteRecordsRequest.minVersion,
    maxVersion: deleteRecordsRequest.maxVersion,
    handle: request => {
      const body = decode(deleteRecordsRequest, request.apiVersion, request.body)
      answerLater(services, request, handleDeleteRecords(services, request, body))
    },
  }
}

async function handleDeleteRecords(
  services: BrokerServices,
  request: Request,
  body: DeleteRecordsRequest,
): Promise<void> {
  const topics = await Promise.all(
    body.topics.map(async ({ name, partitions }) => ({
      name,
      partitions: await Promise.all(
        partitions.map(async ({ partitionIndex, offset }) => ({
          partitionIndex,
          ...(await deleteRecords(services, name, partitionIndex, offset)),
        })),
      ),
    })),
  )
  request.reply(deleteRecordsResponse, { throttleTimeMs: request.throttleTimeMs, topics })
}

async function deleteRecords(
  services: BrokerServices,
  topic: string,
  index: number,
  offset: number,
): Promise<{ errorCode: ErrorCode; lowWatermark: number }> {
  const refused = (errorCode: ErrorCode) => ({ errorCode, lowWatermark: -1 })
  const partition = services.partitions.byName(topic, index)
  if (partition === undefined) return refused(services.partitions.absenceByName(topic, index))
  if (isInternalTopic(topic)) return refused(ErrorCode.invalidTopicException)
  const notLeading = leaderError(partition, -1)
  if (notLeading !== ErrorCode.none) return refused(notLeading)
  const { log } = partition
  // Kafka keeps logs that are only compacted from being cut by hand.
  if (log.config.isCompacted && !log.config.isDeleted) return refused(ErrorCode.policyViolation)
  const target = offset === upToHighWatermark ? log.highWatermark : offset
  if (target < 0 || target > log.highWatermark) return refused(ErrorCode.offsetOutOfRange)
  const isMoved = target <= log.logStartOffset || (await moveLogStart(partition, target))
  // The topic may have been deleted meanwhile.
  if (services.partitions.byName(topic, index) !== partition) return refused(ErrorCode.unknownTopicOrPartition)
  if (!isMoved || log.isOffline) return refused(ErrorCode.kafkaStorageError)
  return { errorCode: ErrorCode.none, lowWatermark: log.logStartOffset }
}

/** False when the disk refused it. */
async function moveLogStart({ log }: Partition, offset: number): Promise<boolean> {
  try {
    await log.moveLogStart(offset)
    return true
  } catch (error) {
    if (!(error instanceof DiskError)) throw error
    return false
  }
}
