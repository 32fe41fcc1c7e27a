import { decode } from '../../../protocol/codec.ts'
import { ProtocolError } from '../../../protocol/protocol-error.ts'
import { consumerProtocolSubscription } from '../../../protocol/records/consumer-protocol.ts'

/** The protocol type of consumers: the only one whose metadata the coordinator looks into. */
export const consumerProtocolType = 'consumer'

/**
 * The topics that a consumer's metadata subscribes to; undefined when it cannot be read. Only version 0, which every later
 * version starts with, is read.
 */
export function subscribedTopics(metadata: Buffer): readonly string[] | undefined {
  if (metadata.length < 2) return undefined
  try {
    return decode(consumerProtocolSubscription, 0, metadata.subarray(2)).topics
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw error
  }
}
