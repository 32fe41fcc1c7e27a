import type { Uuid } from '../../base/uuid.ts'
import { decode, encodeToBuffer } from '../../protocol/codec.ts'
import { type GroupMetadataValue, groupMetadataKey, groupMetadataValue } from '../../protocol/records/group-metadata.ts'
import { offsetCommitKey, offsetCommitValue } from '../../protocol/records/offset-commit.ts'
import { type KeyValueCodec, UnknownRecord } from '../state-machine/record-batch-codec.ts'

/** What the group coordinator writes to `__consumer_offsets`. */
export type GroupRecord = OffsetCommitRecord | GroupMetadataRecord

export interface OffsetCommitRecord {
  readonly type: 'offsetCommit'
  readonly groupId: string
  readonly topic: string
  readonly partition: number
  /** Undefined: a tombstone. */
  readonly value: CommittedOffset | undefined
}

export interface CommittedOffset {
  readonly committedOffset: number
  /** -1: none. */
  readonly leaderEpoch: number
  readonly metadata: string
  readonly commitTimestampMs: number
  /** Only of a commit that named its own retention (v2 to v4); -1: none. */
  readonly expireTimestampMs: number
  /** Zero when the writer did not know it. */
  readonly topicId: Uuid
}

export interface GroupMetadataRecord {
  readonly type: 'groupMetadata'
  readonly groupId: string
  /** Undefined: a tombstone. */
  readonly value: GroupMetadata | undefined
}

/** One generation of a classic group, as it is stored. */
export interface GroupMetadata {
  /** Undefined until the first member has joined. */
  readonly protocolType: string | undefined
  readonly generationId: number
  readonly protocolName: string | undefined
  readonly leaderId: string | undefined
  /** Wall time of the last change of state; -1 in records of old brokers. */
  readonly stateTimestampMs: number
  readonly members: readonly StoredMember[]
}

export interface StoredMember {
  readonly memberId: string
  readonly groupInstanceId: string | undefined
  readonly clientId: string
  readonly clientHost: string
  readonly rebalanceTimeoutMs: number
  readonly sessionTimeoutMs: number
  /** The member's metadata for the chosen protocol. */
  readonly subscription: Buffer
  readonly assignment: Buffer
}

const groupValueVersion = 3
const offsetValueVersion = 4
/** The only version that has an expire timestamp; it has no topic id. */
const expiringOffsetValueVersion = 1
const noBytes = Buffer.alloc(0)

/** Keys start with the record's type: 0 and 1 are offsets, 2 is a classic group, the others are of newer kinds of groups. */
export const groupRecords: KeyValueCodec<GroupRecord> = {
  encode(record) {
    return record.type === 'offsetCommit' ? encodeOffset(record) : encodeGroup(record)
  },
  decode(key, value) {
    if (key === null || key.length < 2) return new UnknownRecord('a record without a type')
    const type = key.readInt16BE(0)
    if (type === 0 || type === 1) return decodeOffset(key, value)
    if (type === 2) return decodeGroup(key, value)
    return new UnknownRecord(`record type ${type}`)
  },
}

function encodeOffset({ groupId, topic, partition, value }: OffsetCommitRecord) {
  const key = versioned(1, encodeToBuffer(offsetCommitKey, 0, { group: groupId, topic, partition }))
  if (value === undefined) return { key, value: null }
  const version = value.expireTimestampMs === -1 ? offsetValueVersion : expiringOffsetValueVersion
  const fields = {
    offset: value.committedOffset,
    leaderEpoch: value.leaderEpoch,
    metadata: value.metadata,
    commitTimestamp: value.commitTimestampMs,
    expireTimestamp: value.expireTimestampMs,
    topicId: value.topicId,
  }
  return { key, value: versioned(version, encodeToBuffer(offsetCommitValue, version, fields)) }
}

/** What the stored version of a commit leaves of it: version 1 has neither leader epoch nor topic id. */
function decodeOffset(key: Buffer, value: Buffer | null): OffsetCommitRecord {
  const { group: groupId, topic, partition } = decode(offsetCommitKey, 0, key.subarray(2))
  if (value === null) return { type: 'offsetCommit', groupId, topic, partition, value: undefined }
  const version = knownVersion(value, offsetCommitValue.maxVersion)
  const stored = decode(offsetCommitValue, version, value.subarray(2))
  const committed = {
    committedOffset: stored.offset,
    leaderEpoch: stored.leaderEpoch,
    metadata: stored.metadata,
    commitTimestampMs: stored.commitTimestamp,
    expireTimestampMs: stored.expireTimestamp,
    topicId: stored.topicId,
  }
  return { type: 'offsetCommit', groupId, topic, partition, value: committed }
}

function encodeGroup({ groupId, value }: GroupMetadataRecord) {
  const key = versioned(2, encodeToBuffer(groupMetadataKey, 0, { group: groupId }))
  if (value === undefined) return { key, value: null }
  const fields = {
    protocolType: value.protocolType ?? '',
    generation: value.generationId,
    protocol: value.protocolName ?? null,
    leader: value.leaderId ?? null,
    currentStateTimestamp: value.stateTimestampMs,
    members: value.members.map(member => ({
      memberId: member.memberId,
      groupInstanceId: member.groupInstanceId ?? null,
      clientId: member.clientId,
      clientHost: member.clientHost,
      rebalanceTimeout: member.rebalanceTimeoutMs,
      sessionTimeout: member.sessionTimeoutMs,
      subscription: member.subscription,
      assignment: member.assignment,
    })),
  }
  return { key, value: versioned(groupValueVersion, encodeToBuffer(groupMetadataValue, groupValueVersion, fields)) }
}

function decodeGroup(key: Buffer, value: Buffer | null): GroupMetadataRecord {
  const { group: groupId } = decode(groupMetadataKey, 0, key.subarray(2))
  if (value === null) return { type: 'groupMetadata', groupId, value: undefined }
  const version = knownVersion(value, groupMetadataValue.maxVersion)
  const stored = decode(groupMetadataValue, version, value.subarray(2))
  return { type: 'groupMetadata', groupId, value: groupFrom(stored) }
}

function groupFrom(stored: GroupMetadataValue): GroupMetadata {
  return {
    protocolType: stored.protocolType === '' ? undefined : stored.protocolType,
    generationId: stored.generation,
    protocolName: stored.protocol ?? undefined,
    leaderId: stored.leader ?? undefined,
    stateTimestampMs: stored.currentStateTimestamp,
    members: stored.members.map(member => ({
      memberId: member.memberId,
      groupInstanceId: member.groupInstanceId ?? undefined,
      clientId: member.clientId,
      clientHost: member.clientHost,
      // Version 0 had no rebalance timeout.
      rebalanceTimeoutMs: member.rebalanceTimeout === -1 ? member.sessionTimeout : member.rebalanceTimeout,
      sessionTimeoutMs: member.sessionTimeout,
      subscription: ownBytes(member.subscription),
      assignment: ownBytes(member.assignment),
    })),
  }
}

/** What is kept must not share memory with the batch or frame that it was read from. */
export function ownBytes(view: Buffer): Buffer {
  return view.length === 0 ? noBytes : Buffer.from(view)
}

/** A newer version only adds tagged fields (that is Kafka's rule for these records), so the newest known one reads it. */
function knownVersion(value: Buffer, maxVersion: number): number {
  return Math.min(value.readInt16BE(0), maxVersion)
}

function versioned(version: number, body: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(2 + body.length)
  bytes.writeInt16BE(version, 0)
  body.copy(bytes, 2)
  return bytes
}
