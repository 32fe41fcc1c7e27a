import { assert } from '../../base/assert.ts'
import { countOf } from '../../base/count-of.ts'
import { ErrorCode } from '../../base/error-code.ts'
import type { Random } from '../../base/random.ts'
import type { DeletedTopic, GroupCommand, GroupRequestCommand } from '../../core/group/commands.ts'
import type { GroupConfig } from '../../core/group/config.ts'
import { GroupCoordinator as GroupMachine } from '../../core/group/coordinator.ts'
import type { GroupEffect } from '../../core/group/effects.ts'
import { type GroupRecord, groupRecords } from '../../core/group/records.ts'
import { failureReply, type GroupReply, isRefusedForGood } from '../../core/group/replies.ts'
import type { GroupSoft } from '../../core/group/soft.ts'
import type { TopicsView } from '../../core/group/topics-view.ts'
import { recordBatchCodec } from '../../core/state-machine/record-batch-codec.ts'
import type { RequestId } from '../../core/state-machine/state-machine.ts'
import type { Clock } from '../../io/clock.ts'
import type { LogSink } from '../../io/log-sink.ts'
import { partitionOfCoordinator } from '../../protocol/partition-choice.ts'
import { CoordinatorShard } from '../coordinator/coordinator-shard.ts'
import type { Deadline, Deadlines } from '../deadlines.ts'
import type { Partition } from '../partition.ts'
import { RepeatedLines } from '../repeated-lines.ts'

export const groupTopic = '__consumer_offsets'

type Shard = CoordinatorShard<GroupCommand, GroupRecord, GroupSoft, GroupReply, GroupEffect, TopicsView>

/** A command without its id, which is given here. */
type Unnumbered<Command> = Command extends GroupRequestCommand ? Omit<Command, 'requestId'> : never
export type GroupRequest = Unnumbered<GroupRequestCommand>

export interface GroupCoordinatorOptions {
  readonly clock: Clock
  readonly random: Random
  readonly deadlines: Deadlines
  readonly log: LogSink
  readonly topics: TopicsView
  readonly config: () => GroupConfig
  /** Partitions of the groups' topic; undefined while there is no such topic. */
  readonly partitionCount: () => number | undefined
  /** `offsets.commit.timeout.ms` */
  readonly commitTimeoutMs: number
  /** `offsets.topic.compression.codec` */
  readonly compressionCodec: number
  /** `offsets.load.buffer.size` */
  readonly loadBufferBytes: number
}

/** The most answers of one shard that wait for a commit. */
const maxWaitingAnswers = 10_000

/** What deleted topics left is looked for again so much later where its removal was refused (the disk was full, say). */
const removalRetryMs = 10_000

type Removal = Extract<GroupCommand, { readonly type: 'topicsDeleted' | 'removeStaleOffsets' }>

/** All group coordinators of this broker: one shard for each partition of `__consumer_offsets` that it leads. */
export class GroupCoordinator {
  readonly #options: GroupCoordinatorOptions
  readonly #shards = new Map<number, Shard>()
  readonly #waiting = new Map<RequestId, (reply: GroupReply) => void>()
  #lastRequestId = 0
  /** Shards that may have offsets of deleted topics, since they refused to remove them. */
  readonly #stale = new Set<Shard>()
  /** Defined while there are such. */
  #removalRetry: Deadline | undefined

  readonly #refusals: RepeatedLines

  constructor(options: GroupCoordinatorOptions) {
    this.#options = options
    this.#refusals = new RepeatedLines(options.clock)
  }

  /** Requests that have not been answered. */
  get waitingCount(): number {
    return this.#waiting.size
  }

  get shards(): ReadonlyMap<number, Shard> {
    return this.#shards
  }

  /** The partition of the groups' topic that is responsible; undefined while there is no such topic. */
  partitionOf(groupId: string): number | undefined {
    const count = this.#options.partitionCount()
    return count === undefined ? undefined : partitionOfCoordinator(groupId, count)
  }

  /** This broker leads the partition from now on. */
  open(partition: Partition): void {
    assert(!this.#shards.has(partition.index), 'a coordinator is opened once')
    const { clock, random, deadlines, log, topics, config, commitTimeoutMs, compressionCodec } = this.#options
    const shard: Shard = new CoordinatorShard<
      GroupCommand,
      GroupRecord,
      GroupSoft,
      GroupReply,
      GroupEffect,
      TopicsView
    >({
      partition,
      clock,
      random,
      deadlines,
      log,
      view: () => topics,
      machine: {
        createMachine: () => new GroupMachine(config(), random),
        codec: recordBatchCodec(groupRecords, compressionCodec),
        timeoutCommand: { type: 'timeout' },
        failureReply,
        answer: (requestId, reply) => this.#answer(requestId, reply),
        carryOut: effect => this.#report(effect),
        answerTimeoutMs: commitTimeoutMs,
        maxWaitingAnswers,
      },
      loadBufferBytes: this.#options.loadBufferBytes,
      loaded: () => this.#remove(shard, { type: 'removeStaleOffsets' }),
    })
    this.#shards.set(partition.index, shard)
    shard.load()
  }

  /** This broker leads the partition no more. */
  close(partitionIndex: number): void {
    this.#shards.get(partitionIndex)?.close()
    this.#shards.delete(partitionIndex)
  }

  closeAll(): void {
    for (const index of [...this.#shards.keys()]) this.close(index)
    this.#removalRetry?.cancel()
    this.#removalRetry = undefined
    this.#stale.clear()
  }

  topicsDeleted(topics: readonly DeletedTopic[]): void {
    for (const shard of this.#shards.values()) this.#remove(shard, { type: 'topicsDeleted', topics })
  }

  #remove(shard: Shard, removal: Removal): void {
    if (shard.submit(removal) === undefined) return
    this.#stale.add(shard)
    const { clock, deadlines } = this.#options
    this.#removalRetry ??= deadlines.add(clock.now().monotonicMs + removalRetryMs, () => this.#retryRemovals())
  }

  /** A shard that is not loaded looks for them when it is. */
  #retryRemovals(): void {
    this.#removalRetry = undefined
    const shards = [...this.#stale]
    this.#stale.clear()
    for (const shard of shards) if (shard.isLoaded) this.#remove(shard, { type: 'removeStaleOffsets' })
  }

  /** `answered` runs exactly once. */
  submit(groupId: string, request: GroupRequest, answered: (reply: GroupReply) => void): void {
    this.#submit(this.partitionOf(groupId), request, answered)
  }

  /** To one shard, whatever the groups. */
  submitTo(partitionIndex: number | undefined, request: GroupRequest, answered: (reply: GroupReply) => void): void {
    this.#submit(partitionIndex, request, answered)
  }

  #submit(partitionIndex: number | undefined, request: GroupRequest, answered: (reply: GroupReply) => void): void {
    const requestId = ++this.#lastRequestId
    const command = { ...request, requestId } as GroupRequestCommand
    const shard = partitionIndex === undefined ? undefined : this.#shards.get(partitionIndex)
    if (shard === undefined) {
      answered(failureReply(command, ErrorCode.notCoordinator))
      return
    }
    this.#waiting.set(requestId, answered)
    const errorCode = shard.submit(command)
    if (errorCode !== undefined && isRefusedForGood(errorCode)) this.#tellRefusal(command, errorCode)
  }

  /** Whoever asked is told no more than that something has failed. */
  #tellRefusal(command: GroupRequestCommand, errorCode: ErrorCode): void {
    const groupId = 'request' in command ? command.request.groupId : ''
    const isTooLarge = errorCode === ErrorCode.recordListTooLarge || errorCode === ErrorCode.messageTooLarge
    const reason = isTooLarge
      ? `what is to be stored of it is larger than max.message.bytes of ${groupTopic}, which may be raised`
      : 'what is to be stored of it cannot be written'
    const line = `group ${groupId}: ${command.type} was refused: ${reason}`
    if (this.#refusals.isNew(line)) this.#options.log.write('warn', line, { groupId, errorCode })
  }

  #answer(requestId: RequestId, reply: GroupReply): void {
    const answered = this.#waiting.get(requestId)
    assert(answered !== undefined, 'a request is answered once')
    this.#waiting.delete(requestId)
    answered(reply)
  }

  #report(effect: GroupEffect): void {
    const { log } = this.#options
    switch (effect.type) {
      case 'rebalanceStarted':
        return log.write('info', `group ${effect.groupId}: rebalance: ${effect.reason}`, effect)
      case 'generationStarted':
        return log.write(
          'info',
          `group ${effect.groupId}: generation ${effect.generationId} with ${countOf(effect.memberCount, 'member')}`,
          effect,
        )
      case 'memberFailed':
        return log.write('info', `group ${effect.groupId}: member ${effect.memberId} removed: ${effect.reason}`, effect)
      case 'offsetsExpired':
        return log.write('info', `${countOf(effect.count, 'committed offset')} expired`, effect)
    }
  }
}
