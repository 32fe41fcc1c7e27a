import { assert, unreachable } from '../../base/assert.ts'
import type { ErrorCode } from '../../base/error-code.ts'
import type { Random } from '../../base/random.ts'
import type { Now } from '../../base/time.ts'
import type { Decision, StateMachine } from '../state-machine/state-machine.ts'
import type { ClassicGroup, GroupState } from './classic/group.ts'
import { decideHeartbeat } from './classic/heartbeat.ts'
import { decideJoin } from './classic/join.ts'
import { decideLeave } from './classic/leave.ts'
import { prepareRebalance } from './classic/rebalance.ts'
import { decideRefusedSync, decideSync } from './classic/sync.ts'
import { decideTimeout } from './classic/timeout.ts'
import type { GroupCommand } from './commands.ts'
import type { GroupConfig } from './config.ts'
import { decideDeleteGroups } from './delete-groups.ts'
import { decideDescribeGroups } from './describe-groups.ts'
import { Draft } from './draft.ts'
import type { GroupEffect } from './effects.ts'
import { GroupStore } from './group-store.ts'
import { decideListGroups } from './list-groups.ts'
import { decideOffsetCommit } from './offsets/commit.ts'
import { decideOffsetDelete, decideRemoveStaleOffsets, decideTopicsDeleted } from './offsets/delete.ts'
import { decideOffsetFetch } from './offsets/fetch.ts'
import type { GroupRecord } from './records.ts'
import { type GroupReply, isRefusedForGood } from './replies.ts'
import type { GroupSoft } from './soft.ts'
import type { TopicsView } from './topics-view.ts'

/**
 * The coordinator of the groups of one partition of `__consumer_offsets`: classic groups and committed offsets. Records of
 * newer kinds of groups lie in the same log; they are kept there and not looked at.
 *
 * Durable are the stable generations and the offsets. A rebalance is soft: when the coordinator moves in the middle of one,
 * the next finds the generation before it, and the members join again.
 */
export class GroupCoordinator
  implements StateMachine<GroupCommand, GroupRecord, GroupSoft, GroupReply, GroupEffect, TopicsView>
{
  readonly #config: GroupConfig
  readonly #random: Random
  readonly #store = new GroupStore()
  /** Known once loaded. */
  #topics: TopicsView | undefined

  constructor(config: GroupConfig, random: Random) {
    this.#config = config
    this.#random = random
  }

  /** For metrics. */
  get groupCounts(): Readonly<Record<GroupState, number>> {
    return this.#store.countByState
  }

  /** For metrics. */
  get offsetCount(): number {
    return this.#store.offsets.count
  }

  decide(command: GroupCommand, now: Now): Decision<GroupRecord, GroupSoft, GroupReply, GroupEffect> {
    return this.#draft(command, new Draft(now)).finish()
  }

  refused(
    command: GroupCommand,
    errorCode: ErrorCode,
    now: Now,
  ): Decision<GroupRecord, GroupSoft, GroupReply, GroupEffect> | undefined {
    if (command.type !== 'syncGroup' || !isRefusedForGood(errorCode)) return undefined
    return decideRefusedSync(command, this.#store, new Draft(now), this.#config).finish()
  }

  apply(record: GroupRecord, at: { readonly offset: number; readonly producerId: number }): void {
    this.#store.apply(record, at)
  }

  applyMarker({ producerId, committed }: { readonly producerId: number; readonly committed: boolean }): void {
    this.#store.offsets.endTransaction(producerId, committed)
  }

  applySoft(change: GroupSoft): void {
    this.#store.applySoft(change)
  }

  loaded(now: Now, topics: TopicsView): void {
    this.#topics = topics
    const draft = new Draft(now)
    for (const group of this.#store.restoreGroups()) this.#resume(group, draft)
    const atMs = now.monotonicMs + this.#config.offsetsRetentionCheckIntervalMs
    draft.soft({ type: 'expiryRound', groupIds: [], atMs })
    const { records, replies, soft } = draft.finish()
    assert(records.length === 0 && replies.length === 0, 'loading changes and answers nothing')
    for (const change of soft) this.#store.applySoft(change)
  }

  nextDeadlineMs(): number | undefined {
    return this.#store.earliestDue()?.atMs
  }

  inspect(): { readonly durable: unknown; readonly soft: unknown } {
    return this.#store.inspect()
  }

  #draft(command: GroupCommand, draft: Draft): Draft {
    const store = this.#store
    const config = this.#config
    assert(this.#topics !== undefined, 'a coordinator decides once it is loaded')
    switch (command.type) {
      case 'heartbeat':
        return decideHeartbeat(command, store, draft)
      case 'joinGroup':
        return decideJoin(command, store, draft, config, this.#random)
      case 'syncGroup':
        return decideSync(command, store, draft)
      case 'leaveGroup':
        return decideLeave(command, store, draft, config)
      case 'offsetCommit':
        return decideOffsetCommit(command, store, this.#topics, draft, config)
      case 'offsetFetch':
        return decideOffsetFetch(command, store, this.#topics, draft)
      case 'offsetDelete':
        return decideOffsetDelete(command, store, this.#topics, draft)
      case 'describeGroups':
        return decideDescribeGroups(command, store, draft)
      case 'listGroups':
        return decideListGroups(command, store, draft)
      case 'deleteGroups':
        return decideDeleteGroups(command, store, draft)
      case 'topicsDeleted':
        return decideTopicsDeleted(command.topics, store, draft)
      case 'removeStaleOffsets':
        return decideRemoveStaleOffsets(store, this.#topics, draft)
      case 'timeout':
        return decideTimeout(store, draft, config)
      default:
        return unreachable(command)
    }
  }

  /** Members are given a whole session to be heard of; a group that is larger than it may now be starts anew. */
  #resume(live: ClassicGroup, draft: Draft): void {
    for (const member of live.members.values()) {
      draft.startSession(live.groupId, member.memberId, member.sessionTimeoutMs)
    }
    if (live.members.size <= this.#config.maxSize) return
    prepareRebalance(
      draft.edit(live),
      draft,
      this.#config.initialRebalanceDelayMs,
      'the group is over its maximum size',
    )
  }
}
