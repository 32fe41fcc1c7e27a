import { assert } from './assert.ts'
import type { Random } from './random.ts'

/** A 16-byte id in Kafka's text form: base64url without padding, 22 characters. Ids are equal when their texts are. */
export type Uuid = string

/** All bits zero: what the wire uses for "no id". */
export const zeroUuid: Uuid = 'AAAAAAAAAAAAAAAAAAAAAA'
/** The topic id of `__cluster_metadata`. */
export const metadataTopicId: Uuid = 'AAAAAAAAAAAAAAAAAAAAAQ'

export function uuidFromBytes(bytes: Buffer, at = 0): Uuid {
  return bytes.toString('base64url', at, at + 16)
}

export function uuidToBytes(id: Uuid): Buffer {
  const bytes = Buffer.from(id, 'base64url')
  assert(bytes.length === 16, 'a uuid has 16 bytes')
  return bytes
}

export function isUuid(text: string): boolean {
  return /^[A-Za-z0-9_-]{21}[AQgw]$/.test(text)
}

/**
 * A new random id (version 4). As Kafka does, ids whose text holds a '-' are not used (they read as options on a
 * command line), and neither are the first hundred values, which are reserved.
 */
export function randomUuid(random: Random): Uuid {
  for (;;) {
    const bytes = random.bytes(16)
    bytes[6] = (bytes[6] & 0x0f) | 0x40
    bytes[8] = (bytes[8] & 0x3f) | 0x80
    const id = uuidFromBytes(bytes)
    if (!id.includes('-')) return id
  }
}
