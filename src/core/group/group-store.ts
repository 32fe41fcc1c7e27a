import { assert } from '../../base/assert.ts'
import { Deadline, Deadlines } from '../state-machine/deadlines.ts'
import { ClassicGroup, type GroupState } from './classic/group.ts'
import { OffsetStore } from './offsets/store.ts'
import type { GroupMetadata, GroupRecord } from './records.ts'
import type { GroupSoft } from './soft.ts'

/** What falls due. */
export type Due =
  | { readonly type: 'session'; readonly groupId: string; readonly memberId: string }
  | { readonly type: 'join'; readonly groupId: string }
  | { readonly type: 'sync'; readonly groupId: string }
  | { readonly type: 'expiryRound' }

/** A group with members, ids given out, or a stored generation, and its deadlines. */
interface LiveGroup {
  group: ClassicGroup
  /** By member id, of members and of ids that were given out. */
  readonly sessions: Map<string, Deadline<Due>>
  readonly join: Deadline<Due>
  readonly sync: Deadline<Due>
}

/**
 * The state of the group coordinator: what the log says (stored generations and offsets), and what is soft (groups as
 * their members see them, deadlines). Changed through `apply…` and `applySoft` only.
 */
export class GroupStore {
  /** Durable: the last stable generation of each classic group. */
  readonly #stored = new Map<string, GroupMetadata>()
  /** Durable. */
  readonly offsets = new OffsetStore()
  readonly #live = new Map<string, LiveGroup>()
  readonly #deadlines = new Deadlines<Due>()
  readonly #expiryRound = new Deadline<Due>({ type: 'expiryRound' })
  /** Groups that the present round has not looked at. */
  #expiryGroupIds: readonly string[] = []
  readonly #countByState: Record<GroupState, number> = {
    Empty: 0,
    PreparingRebalance: 0,
    CompletingRebalance: 0,
    Stable: 0,
  }

  /**
   * A group that has offsets and nothing else (a consumer without membership committed them) is an empty group without a
   * protocol type. It exists as long as its offsets do.
   */
  group(groupId: string): ClassicGroup | undefined {
    const live = this.#live.get(groupId)
    if (live !== undefined) return live.group
    return this.offsets.hasAny(groupId) ? new ClassicGroup(groupId, -1) : undefined
  }

  /** Of every group there is, each once. */
  groupIds(): Set<string> {
    const ids = this.offsets.groupIds()
    for (const groupId of this.#live.keys()) ids.add(groupId)
    return ids
  }

  /** How many groups are in each state; those that are only offsets are not counted. */
  get countByState(): Readonly<Record<GroupState, number>> {
    return this.#countByState
  }

  get expiryGroupIds(): readonly string[] {
    return this.#expiryGroupIds
  }

  earliestDue(): { readonly atMs: number; readonly due: Due } | undefined {
    const earliest = this.#deadlines.earliest()
    return earliest === undefined ? undefined : { atMs: earliest.atMs!, due: earliest.subject }
  }

  apply(record: GroupRecord, at: { readonly offset: number; readonly producerId: number }): void {
    if (record.type === 'groupMetadata') this.#applyGroup(record.groupId, record.value)
    else this.#applyOffset(record, at)
  }

  applySoft(change: GroupSoft): void {
    switch (change.type) {
      case 'group':
        this.#putLive(change.group)
        break
      case 'groupRemoved':
        this.#removeLive(change.groupId)
        break
      case 'session':
        this.#startSession(change.groupId, change.memberId, change.atMs)
        break
      case 'sessionEnded':
        this.#endSession(change.groupId, change.memberId)
        break
      case 'expiryRound':
        this.#expiryGroupIds = change.groupIds
        this.#deadlines.set(this.#expiryRound, change.atMs)
        break
    }
  }

  /** After replay: every stored group as its members would find it. */
  restoreGroups(): ClassicGroup[] {
    assert(this.#live.size === 0, 'soft state is set up once')
    for (const [groupId, stored] of this.#stored) this.#putLive(ClassicGroup.fromStored(groupId, stored))
    return [...this.#live.values()].map(({ group }) => group)
  }

  inspect(): { readonly durable: unknown; readonly soft: unknown } {
    const groups = [...this.#stored].sort(([a], [b]) => (a < b ? -1 : 1))
    const live = [...this.#live.values()].map(({ group, sessions }) => ({
      groupId: group.groupId,
      group: group.inspect(),
      sessions: [...sessions].map(([memberId, deadline]) => ({ memberId, atMs: deadline.atMs })),
    }))
    return {
      durable: { groups, offsets: this.offsets.inspect() },
      soft: { live, expiryGroupIds: this.#expiryGroupIds, expiryRoundMs: this.#expiryRound.atMs },
    }
  }

  #applyGroup(groupId: string, metadata: GroupMetadata | undefined): void {
    if (metadata === undefined) this.#stored.delete(groupId)
    else this.#stored.set(groupId, metadata)
  }

  #applyOffset(
    { groupId, topic, partition, value }: Extract<GroupRecord, { type: 'offsetCommit' }>,
    at: { readonly offset: number; readonly producerId: number },
  ): void {
    if (value === undefined) {
      this.offsets.remove(groupId, topic, partition)
      return
    }
    const offset = { ...value, recordOffset: at.offset }
    if (at.producerId === -1) this.offsets.put(groupId, topic, partition, offset)
    else this.offsets.putPending(at.producerId, groupId, topic, partition, offset)
  }

  #putLive(group: ClassicGroup): void {
    let live = this.#live.get(group.groupId)
    if (live === undefined) {
      live = newLiveGroup(group)
      this.#live.set(group.groupId, live)
    } else {
      this.#countByState[live.group.state]--
      live.group = group
    }
    this.#countByState[group.state]++
    this.#setOrClear(live.join, group.joinDeadline?.atMs)
    this.#setOrClear(live.sync, group.syncDeadlineMs)
  }

  #removeLive(groupId: string): void {
    const live = this.#live.get(groupId)
    if (live === undefined) return
    this.#live.delete(groupId)
    this.#countByState[live.group.state]--
    for (const session of live.sessions.values()) this.#deadlines.clear(session)
    this.#deadlines.clear(live.join)
    this.#deadlines.clear(live.sync)
  }

  #startSession(groupId: string, memberId: string, atMs: number): void {
    const live = this.#live.get(groupId)
    assert(live !== undefined, 'a session is of a member of a group')
    let session = live.sessions.get(memberId)
    if (session === undefined) {
      session = new Deadline<Due>({ type: 'session', groupId, memberId })
      live.sessions.set(memberId, session)
    }
    this.#deadlines.set(session, atMs)
  }

  #endSession(groupId: string, memberId: string): void {
    const live = this.#live.get(groupId)
    const session = live?.sessions.get(memberId)
    if (live === undefined || session === undefined) return
    live.sessions.delete(memberId)
    this.#deadlines.clear(session)
  }

  #setOrClear(deadline: Deadline<Due>, atMs: number | undefined): void {
    if (atMs === undefined) this.#deadlines.clear(deadline)
    else this.#deadlines.set(deadline, atMs)
  }
}

function newLiveGroup(group: ClassicGroup): LiveGroup {
  const { groupId } = group
  return {
    group,
    sessions: new Map(),
    join: new Deadline<Due>({ type: 'join', groupId }),
    sync: new Deadline<Due>({ type: 'sync', groupId }),
  }
}
