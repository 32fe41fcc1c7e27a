import { assert } from '../../base/assert.ts'
import { ErrorCode } from '../../base/error-code.ts'
import type { Random } from '../../base/random.ts'
import { type Uuid, zeroUuid } from '../../base/uuid.ts'
import type { JoinGroupRequest } from '../../protocol/messages/join-group.ts'
import type { MemberIdentity } from '../../protocol/messages/leave-group.ts'
import type { OffsetCommitRequest, OffsetCommitRequestPartition } from '../../protocol/messages/offset-commit.ts'
import type { OffsetFetchRequestTopics } from '../../protocol/messages/offset-fetch.ts'
import { InMemoryLog } from '../state-machine/in-memory-log.ts'
import { recordBatchCodec } from '../state-machine/record-batch-codec.ts'
import { StateMachineRunner } from '../state-machine/runner.ts'
import type { GroupCommand, GroupRequestCommand, NodeCommand } from './commands.ts'
import type { GroupConfig } from './config.ts'
import { GroupCoordinator } from './coordinator.ts'
import type { GroupEffect } from './effects.ts'
import { type GroupRecord, groupRecords } from './records.ts'
import { failureReply, type GroupReply, type JoinGroupBody, type SyncGroupBody } from './replies.ts'
import type { GroupSoft } from './soft.ts'
import type { TopicsView } from './topics-view.ts'

/** Kafka's defaults, but without the delay of the first rebalance. */
export const testConfig: GroupConfig = {
  minSessionTimeoutMs: 6000,
  maxSessionTimeoutMs: 1_800_000,
  maxSize: 2_147_483_647,
  initialRebalanceDelayMs: 0,
  offsetMetadataMaxBytes: 4096,
  offsetsRetentionMs: 10_080 * 60_000,
  offsetsRetentionCheckIntervalMs: 600_000,
}

export const topicIdOfT: Uuid = 'AAAAAAAAAAAAAAAAAAAAZQ'

type Runner = StateMachineRunner<GroupCommand, GroupRecord, GroupSoft, GroupReply, GroupEffect, TopicsView>
type Unnumbered<C> = C extends GroupRequestCommand ? Omit<C, 'requestId'> : never

/** An answer that may not have come yet. */
export interface Pending<Body> {
  readonly requestId: number
  /** Asserts that it is there. */
  get(): Body
  readonly isAnswered: boolean
}

export type JoinFields = Partial<JoinGroupRequest> & { readonly clientId?: string; readonly clientHost?: string }

/**
 * A coordinator on a log in memory, with a clock that is moved by hand: for tests. Everything is committed at once unless
 * `holdsCommits` is set.
 */
export class GroupUnderTest {
  readonly log = new InMemoryLog()
  readonly topics = new Map<string, { topicId: Uuid; partitionCount: number }>([
    ['t', { topicId: topicIdOfT, partitionCount: 8 }],
  ])
  readonly effects: GroupEffect[] = []
  readonly unknownRecordTypes: string[] = []
  readonly config: GroupConfig
  readonly runner: Runner
  coordinator!: GroupCoordinator
  holdsCommits = false
  reloads = 0
  monotonicMs = 1_000_000
  wallMs = 1_700_000_000_000
  readonly #replies = new Map<number, GroupReply>()
  #lastRequestId = 0

  constructor(config: Partial<GroupConfig> = {}, random: Random = countingRandom(), Coordinator = GroupCoordinator) {
    this.config = { ...testConfig, ...config }
    this.runner = new StateMachineRunner({
      createMachine: () => {
        this.coordinator = new Coordinator(this.config, random)
        return this.coordinator
      },
      codec: recordBatchCodec(groupRecords),
      log: this.log,
      timeoutCommand: { type: 'timeout' } satisfies GroupCommand as GroupCommand,
      failureReply,
      answer: (requestId, reply) => this.#answered(requestId, reply),
      carryOut: effect => this.effects.push(effect),
      reload: () => this.reloads++,
      unknownRecordType: type => this.unknownRecordTypes.push(type),
      answerTimeoutMs: 5000,
      maxWaitingAnswers: 1000,
    })
    this.load()
  }

  get now() {
    return { monotonicMs: this.monotonicMs, wallMs: this.wallMs }
  }

  load(): void {
    this.runner.startLoading()
    for (const batch of this.log.batches) this.runner.replayBatch(batch)
    this.runner.loaded(this.now, { topic: name => this.topics.get(name) })
  }

  /** As when leadership goes and comes back. */
  reload(): void {
    this.runner.unload()
    this.load()
  }

  /** What a fresh machine makes of the log. */
  replayed(): unknown {
    const fresh = new GroupCoordinator(this.config, countingRandom())
    const codec = recordBatchCodec(groupRecords)
    for (const batch of this.log.batches) {
      const decoded = codec.decode(batch)
      if (decoded.type === 'marker') fresh.applyMarker(decoded)
      if (decoded.type !== 'data') continue
      for (const { offset, record } of decoded.records) fresh.apply(record, { offset, producerId: decoded.producerId })
    }
    return fresh.inspect().durable
  }

  /** The records of the last `count` batches. */
  lastRecords(count = 1): GroupRecord[] {
    const codec = recordBatchCodec(groupRecords)
    return this.log.batches.slice(-count).flatMap(batch => {
      const decoded = codec.decode(batch)
      return decoded.type === 'data' ? decoded.records.map(({ record }) => record) : []
    })
  }

  commit(): void {
    this.log.commit()
    this.runner.committed()
  }

  /** Time passes, and every deadline is met when it comes. */
  advance(ms: number): void {
    const untilMs = this.monotonicMs + ms
    for (;;) {
      const dueMs = this.runner.nextDeadlineMs()
      if (dueMs === undefined || dueMs > untilMs) break
      this.#setTime(Math.max(dueMs, this.monotonicMs))
      this.runner.timeout(this.now)
      this.#commitUnlessHeld()
    }
    this.#setTime(untilMs)
  }

  submit<C extends GroupRequestCommand>(command: Unnumbered<C>): number {
    const requestId = ++this.#lastRequestId
    this.runner.submit({ ...command, requestId } as unknown as GroupCommand, this.now)
    this.#commitUnlessHeld()
    return requestId
  }

  perform(command: NodeCommand): ErrorCode | undefined {
    const errorCode = this.runner.submit(command, this.now)
    this.#commitUnlessHeld()
    return errorCode
  }

  replyTo(requestId: number): GroupReply | undefined {
    return this.#replies.get(requestId)
  }

  join(groupId: string, memberId: string, fields: JoinFields = {}, apiVersion = 9): Pending<JoinGroupBody> {
    const { clientId = 'client', clientHost = '/127.0.0.1', ...rest } = fields
    const request = {
      groupId,
      memberId,
      sessionTimeoutMs: 10_000,
      rebalanceTimeoutMs: 60_000,
      groupInstanceId: null,
      protocolType: 'consumer',
      protocols: [{ name: 'range', metadata: subscriptionTo('t') }],
      reason: null,
      ...rest,
    }
    return this.#pending(this.submit({ type: 'joinGroup', apiVersion, clientId, clientHost, request }), 'joinGroup')
  }

  /** A new dynamic member that has been given its id. */
  newMemberId(groupId: string, fields: JoinFields = {}): string {
    const { errorCode, memberId } = this.join(groupId, '', fields).get()
    assert(errorCode === ErrorCode.memberIdRequired, 'a new dynamic member is given an id first')
    return memberId
  }

  sync(
    groupId: string,
    generationId: number,
    memberId: string,
    assignments: Record<string, string> = {},
    fields: { groupInstanceId?: string; protocolType?: string | null; protocolName?: string | null } = {},
    apiVersion = 5,
  ): Pending<SyncGroupBody> {
    const request = {
      groupId,
      generationId,
      memberId,
      groupInstanceId: null,
      protocolType: 'consumer',
      protocolName: 'range',
      assignments: Object.entries(assignments).map(([id, text]) => ({ memberId: id, assignment: Buffer.from(text) })),
      ...fields,
    }
    return this.#pending(this.submit({ type: 'syncGroup', apiVersion, request }), 'syncGroup')
  }

  heartbeat(groupId: string, generationId: number, memberId: string, groupInstanceId: string | null = null): ErrorCode {
    const request = { groupId, generationId, memberId, groupInstanceId }
    const requestId = this.submit({ type: 'heartbeat', apiVersion: 4, request })
    return this.#get(requestId, 'heartbeat').response.errorCode
  }

  leave(groupId: string, members: readonly Partial<MemberIdentity>[], apiVersion = 5) {
    const identities = members.map(member => ({ memberId: '', groupInstanceId: null, reason: null, ...member }))
    const request = { groupId, memberId: apiVersion < 3 ? identities[0].memberId : '', members: identities }
    return this.#get(this.submit({ type: 'leaveGroup', apiVersion, request }), 'leaveGroup').response
  }

  offsetCommit(
    groupId: string,
    offsets: Record<number, number>,
    fields: Partial<OffsetCommitRequest> = {},
    apiVersion = 9,
  ): Pending<ErrorCode[]> {
    const partitions = Object.entries(offsets).map(([partition, offset]) => commitOf(Number(partition), offset))
    const request = {
      groupId,
      generationIdOrMemberEpoch: -1,
      memberId: '',
      groupInstanceId: null,
      retentionTimeMs: -1,
      topics: [{ name: 't', topicId: zeroUuid, partitions }],
      ...fields,
    }
    const requestId = this.submit({ type: 'offsetCommit', apiVersion, request })
    const reply = this.#pending(requestId, 'offsetCommit')
    return {
      requestId,
      get: () => reply.get().topics.flatMap(topic => topic.partitions.map(({ errorCode }) => errorCode)),
      get isAnswered() {
        return reply.isAnswered
      },
    }
  }

  /** Of topic t: the committed offsets by partition; -1 where there is none. */
  fetchedOffsets(groupId: string, partitionIndexes: readonly number[]): number[] {
    const topics = [{ name: 't', topicId: zeroUuid, partitionIndexes }]
    return this.fetch(groupId, topics)[0].partitions.map(partition => partition.committedOffset)
  }

  fetch(
    groupId: string,
    topics: readonly OffsetFetchRequestTopics[] | null,
    { requireStable = false, apiVersion = 9 } = {},
  ) {
    const groups = [{ groupId, memberId: null, memberEpoch: -1, topics }]
    const requestId = this.submit({ type: 'offsetFetch', apiVersion, groups, requireStable })
    return this.#get(requestId, 'offsetFetch').groups[0].topics
  }

  describe(groupId: string, apiVersion = 6) {
    const requestId = this.submit({ type: 'describeGroups', apiVersion, groupIds: [groupId] })
    return this.#get(requestId, 'describeGroups').groups[0]
  }

  /** A stable group of new dynamic members; the first is the leader. */
  stableGroup(groupId: string, memberCount: number, fields: JoinFields = {}): string[] {
    const memberIds = Array.from({ length: memberCount }, () => this.newMemberId(groupId, fields))
    const joins = memberIds.map(memberId => this.join(groupId, memberId, fields))
    this.advance(0)
    const { generationId = -1, leader } = joins[0].get()
    const assignments = Object.fromEntries(memberIds.map((memberId, i) => [memberId, `assignment ${i}`]))
    const protocol = { protocolType: fields.protocolType ?? null, protocolName: null }
    const others = memberIds.filter(memberId => memberId !== leader)
    const syncs = others.map(memberId => this.sync(groupId, generationId, memberId, {}, protocol, 4))
    syncs.push(this.sync(groupId, generationId, leader, assignments, protocol, 4))
    for (const sync of syncs) assert(sync.get().errorCode === ErrorCode.none, 'every member is given its assignment')
    return memberIds
  }

  #setTime(monotonicMs: number): void {
    this.wallMs += Math.ceil(monotonicMs - this.monotonicMs)
    this.monotonicMs = monotonicMs
  }

  #commitUnlessHeld(): void {
    if (!this.holdsCommits) this.commit()
  }

  #answered(requestId: number, reply: GroupReply): void {
    assert(!this.#replies.has(requestId), 'a request is answered once')
    this.#replies.set(requestId, reply)
  }

  #get<T extends GroupReply['type']>(requestId: number, type: T): Extract<GroupReply, { type: T }> {
    const reply = this.#replies.get(requestId)
    assert(reply !== undefined, 'the request has been answered')
    assert(reply.type === type, 'an answer is of the kind of its request')
    return reply as Extract<GroupReply, { type: T }>
  }

  #pending<T extends GroupReply['type']>(requestId: number, type: T): Pending<BodyOf<T>> {
    const replies = this.#replies
    return {
      requestId,
      get: () => (this.#get(requestId, type) as unknown as { response: BodyOf<T> }).response,
      get isAnswered() {
        return replies.has(requestId)
      },
    }
  }
}

type BodyOf<T> = Extract<GroupReply, { type: T; response: unknown }>['response']

export function commitOf(partitionIndex: number, committedOffset: number): OffsetCommitRequestPartition {
  return { partitionIndex, committedOffset, committedLeaderEpoch: -1, committedMetadata: '' }
}

/** A consumer's metadata, version 0. */
export function subscriptionTo(...topics: readonly string[]): Buffer {
  const parts = topics.map(topic => {
    const bytes = Buffer.alloc(2 + topic.length)
    bytes.writeInt16BE(topic.length, 0)
    bytes.write(topic, 2)
    return bytes
  })
  const head = Buffer.alloc(6)
  head.writeInt32BE(topics.length, 2)
  return Buffer.concat([head, ...parts, Buffer.alloc(4, 0xff)])
}

/** Bytes that are never the same twice. */
export function countingRandom(): Random {
  let count = 0
  return {
    below: bound => count++ % bound,
    bytes: length => {
      const bytes = Buffer.alloc(length)
      bytes.writeUInt32BE(++count, length - 4)
      return bytes
    },
  }
}
