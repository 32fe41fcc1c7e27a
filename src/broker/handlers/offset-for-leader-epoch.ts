import { ErrorCode } from '../../base/error-code.ts'
import { decode } from '../../protocol/codec.ts'
import {
  offsetForLeaderEpochRequest,
  offsetForLeaderEpochResponse,
} from '../../protocol/messages/offset-for-leader-epoch.ts'
import type { ApiHandler } from '../api-handler.ts'
import { leaderError } from '../leader-check.ts'
import type { Request } from '../network/request.ts'
import type { BrokerServices } from '../services.ts'

/** Where an epoch ended: what a client or follower compares its own log with (KIP-101, KIP-320). */
export function offsetForLeaderEpochHandler(services: BrokerServices): ApiHandler {
  return {
    apiKey: offsetForLeaderEpochRequest.key,
    minVersion: offsetForLeaderEpochRequest.minVersion,
    maxVersion: offsetForLeaderEpochRequest.maxVersion,
    handle: request => handleOffsetForLeaderEpoch(services, request),
  }
}

function handleOffsetForLeaderEpoch(services: BrokerServices, request: Request): void {
  const body = decode(offsetForLeaderEpochRequest, request.apiVersion, request.body)
  const topics = body.topics.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map(({ partition: index, currentLeaderEpoch, leaderEpoch }) => {
      const partition = services.partitions.byName(topic, index)
      const errorCode =
        partition === undefined
          ? services.partitions.absenceByName(topic, index)
          : leaderError(partition, currentLeaderEpoch)
      if (partition === undefined || errorCode !== ErrorCode.none) {
        return { errorCode, partition: index, leaderEpoch: -1, endOffset: -1 }
      }
      return { errorCode, partition: index, ...partition.log.endOffsetForEpoch(leaderEpoch) }
    }),
  }))
  request.reply(offsetForLeaderEpochResponse, { throttleTimeMs: request.throttleTimeMs, topics })
}
