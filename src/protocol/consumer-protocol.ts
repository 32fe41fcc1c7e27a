/**
 * What members of a classic group of type `consumer` tell one another through JoinGroup and SyncGroup: int16 version and a
 * body. A version newer than ours is read as our newest, and what lies behind is ignored.
 */
import { decode, encode } from './codec.ts'
import { ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import {
  type ConsumerProtocolAssignment,
  type ConsumerProtocolSubscription,
  consumerProtocolAssignment,
  consumerProtocolSubscription,
} from './records/consumer-protocol.ts'
import type { Fields, Infer, Input, Message } from './schema.ts'
import { Writer } from './writer.ts'

export function encodeSubscription(value: Input<typeof consumerProtocolSubscription>, version = 3): Buffer {
  return encodeVersioned(consumerProtocolSubscription, version, value)
}

/** Throws ProtocolError, also for no bytes at all. */
export function decodeSubscription(bytes: Buffer): ConsumerProtocolSubscription {
  return decodeVersioned(consumerProtocolSubscription, bytes)
}

/** All versions of an assignment are the same but for their number; members expect that of their subscription. */
export function encodeAssignment(value: Input<typeof consumerProtocolAssignment>, version = 3): Buffer {
  return encodeVersioned(consumerProtocolAssignment, version, value)
}

/** Throws ProtocolError, also for no bytes at all. */
export function decodeAssignment(bytes: Buffer): ConsumerProtocolAssignment {
  return decodeVersioned(consumerProtocolAssignment, bytes)
}

function encodeVersioned<F extends Fields>(message: Message<F>, version: number, value: Input<Message<F>>): Buffer {
  const writer = new Writer({ chunkBytes: 512, copiesAll: true })
  writer.int16(version)
  encode(message, version, value, writer)
  return writer.finishBuffer()
}

function decodeVersioned<F extends Fields>(message: Message<F>, bytes: Buffer): Infer<Message<F>> {
  const reader = new Reader(bytes)
  const version = reader.int16()
  if (version < 0) throw new ProtocolError(`${message.name} has no version ${version}`, 0)
  return decode(message, Math.min(version, message.maxVersion), reader)
}
