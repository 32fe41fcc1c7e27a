/** How keys and names become partitions. Clients and brokers must agree on it, so it is Kafka's to the bit. */
import type { Uuid } from '../base/uuid.ts'
import { uuidToBytes } from '../base/uuid.ts'

/** 32-bit MurmurHash2 with Kafka's seed, as an int32. */
export function murmur2(bytes: Buffer): number {
  const { length } = bytes
  const multiplier = 0x5bd1_e995
  let hash = 0x9747_b28c ^ length
  const whole = length & ~3
  for (let i = 0; i < whole; i += 4) {
    let word = bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24)
    word = Math.imul(word, multiplier)
    word ^= word >>> 24
    hash = Math.imul(hash, multiplier) ^ Math.imul(word, multiplier)
  }
  if (whole < length) {
    for (let i = length - 1; i >= whole; i--) hash ^= bytes[i] << (8 * (i - whole))
    hash = Math.imul(hash, multiplier)
  }
  hash = Math.imul(hash ^ (hash >>> 13), multiplier)
  return hash ^ (hash >>> 15)
}

/** The partition of a record with this key, as Java's producer and all that follow it choose it. An empty key counts. */
export function partitionOfKey(key: Buffer, partitionCount: number): number {
  return (murmur2(key) & 0x7fff_ffff) % partitionCount
}

/** Java's String.hashCode: over UTF-16 units, as an int32. */
export function javaHashCode(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  return hash
}

/**
 * The partition of a coordinator's topic that a group id, a transactional id or a share key belongs to. Whoever leads
 * that partition is the coordinator.
 */
export function partitionOfCoordinator(name: string, partitionCount: number): number {
  const hash = javaHashCode(name)
  // As with Java's Math.abs, the least int32 has no positive counterpart; Kafka takes 0 for it.
  return hash === -0x8000_0000 ? 0 : Math.abs(hash) % partitionCount
}

/** What a share group's state of one partition is hashed and looked up by. */
export function shareCoordinatorKey(at: { groupId: string; topicId: Uuid; partition: number }): string {
  return `${at.groupId}:${at.topicId}:${at.partition}`
}

/** The partition of `__remote_log_metadata` that holds what is known of one topic partition. */
export function partitionOfRemoteLogMetadata(
  at: { readonly topicId: Uuid; readonly partition: number },
  partitionCount: number,
): number {
  const id = uuidToBytes(at.topicId)
  const most = id.readInt32BE(0) ^ id.readInt32BE(4)
  const least = id.readInt32BE(8) ^ id.readInt32BE(12)
  let hash = 1
  for (const part of [least, most, at.partition]) hash = (Math.imul(hash, 31) + part) | 0
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(hash)
  return partitionOfKey(bytes, partitionCount)
}
