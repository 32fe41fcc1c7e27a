import { ProtocolError } from '../../../protocol/protocol-error.ts'
import { Reader } from '../../../protocol/reader.ts'
import { Writer } from '../../../protocol/writer.ts'
import { byTopic, type TopicPartition } from '../../cluster/leader-requests.ts'
import type { Assignor, GroupMember, LastAssignment } from './assignor.ts'
import { balance, type Claim } from './sticky-balance.ts'

/**
 * Kafka's `sticky`: balanced, and each member keeps what it had as far as that goes. Members have given up everything when
 * they join; what they had they say in their user data: int32 count of topics, each a string and a list of int32; then,
 * in newer members, the int32 generation.
 */
export const stickyAssignor: Assignor = {
  name: 'sticky',
  protocol: 'eager',
  userData: last => (last === undefined ? null : encodeUserData(last)),
  assign(members, counts) {
    return balance(members, counts, new Map(members.map(member => [member.memberId, claimOf(member)])))
  },
}

function claimOf({ userData, ownedPartitions, generationId }: GroupMember): Claim {
  const said = userData === null || userData.length === 0 ? undefined : decodeUserData(userData)
  if (said !== undefined) return said
  return { partitions: ownedPartitions, generationId }
}

function encodeUserData({ partitions, generationId }: LastAssignment): Buffer {
  const writer = new Writer({ chunkBytes: 512, copiesAll: true })
  const topics = byTopic(partitions, ({ partition }) => partition)
  writer.int32(topics.length)
  for (const { name, partitions: numbers } of topics) {
    writer.string(name)
    writer.int32(numbers.length)
    for (const number of numbers) writer.int32(number)
  }
  writer.int32(generationId)
  return writer.finishBuffer()
}

/** undefined for what is no such user data: members may say anything. */
function decodeUserData(bytes: Buffer): Claim | undefined {
  try {
    const reader = new Reader(bytes)
    const partitions: TopicPartition[] = []
    for (let topics = reader.int32(); topics > 0; topics--) {
      const topic = reader.text(reader.int16())
      for (let numbers = reader.int32(); numbers > 0; numbers--) partitions.push({ topic, partition: reader.int32() })
    }
    return { partitions, generationId: reader.left >= 4 ? reader.int32() : -1 }
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw error
  }
}
