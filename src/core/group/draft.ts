import type { Now } from '../../base/time.ts'
import type { Decision, RequestId } from '../state-machine/state-machine.ts'
import type { ClassicGroup } from './classic/group.ts'
import type { GroupEffect } from './effects.ts'
import type { GroupRecord } from './records.ts'
import type { GroupReply } from './replies.ts'
import type { GroupSoft } from './soft.ts'

/** A decision in the making. */
export class Draft {
  readonly now: Now
  readonly records: GroupRecord[] = []
  readonly replies: { readonly requestId: RequestId; readonly reply: GroupReply }[] = []
  readonly effects: GroupEffect[] = []
  readonly #groups = new Map<string, ClassicGroup>()
  readonly #soft: GroupSoft[] = []
  answersAtOnce = false
  maySplit = false

  constructor(now: Now) {
    this.now = now
  }

  /** The copy of a group that this decision may change. */
  edit(group: ClassicGroup): ClassicGroup {
    const begun = this.#groups.get(group.groupId)
    if (begun !== undefined) return begun
    const copy = group.copy()
    this.#groups.set(group.groupId, copy)
    return copy
  }

  /** A group that did not exist before. */
  create(group: ClassicGroup): void {
    this.#groups.set(group.groupId, group)
  }

  reply(requestId: RequestId, reply: GroupReply): this {
    this.replies.push({ requestId, reply })
    return this
  }

  soft(change: GroupSoft): void {
    this.#soft.push(change)
  }

  startSession(groupId: string, memberId: string, timeoutMs: number): void {
    this.#soft.push({ type: 'session', groupId, memberId, atMs: this.now.monotonicMs + timeoutMs })
  }

  endSession(groupId: string, memberId: string): void {
    this.#soft.push({ type: 'sessionEnded', groupId, memberId })
  }

  finish(): Decision<GroupRecord, GroupSoft, GroupReply, GroupEffect> {
    const groups = [...this.#groups.values()].map(group => ({ type: 'group' as const, group }))
    return {
      records: this.records,
      replies: this.replies,
      // Groups first: a session is of a group that is there.
      soft: [...groups, ...this.#soft],
      effects: this.effects,
      answersAtOnce: this.answersAtOnce,
      maySplit: this.maySplit,
    }
  }
}
