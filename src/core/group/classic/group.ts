import { assert } from '../../../base/assert.ts'
import type { GroupMetadata } from '../records.ts'
import { type Member, type MemberProtocol, metadataFor, noAssignment } from './member.ts'
import { consumerProtocolType, subscribedTopics } from './subscription.ts'

/** Kafka's names, as they are shown. A group that does not exist is shown as Dead. */
export type GroupState = 'Empty' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable'

/** When the join phase ends, whoever is missing then. */
export type JoinDeadline =
  | { readonly type: 'rebalance'; readonly atMs: number }
  /** The first rebalance of an empty group waits for more members: `delayMs` this time, at most `remainingMs` more. */
  | { readonly type: 'initial'; readonly atMs: number; readonly delayMs: number; readonly remainingMs: number }

/**
 * A classic group as its members see it now: soft state, of which the log has the last stable generation. A decision
 * changes a copy, and `applySoft` puts the copy in its place.
 *
 * While Stable or Empty it equals the stored generation, but for protocols that were not chosen.
 */
export class ClassicGroup {
  readonly groupId: string
  #state: GroupState = 'Empty'
  #previousState: GroupState | undefined
  /** Wall time of the last change of state. */
  stateTimestampMs: number
  /** Undefined until the first member has joined; kept when the group becomes empty. */
  #protocolType: string | undefined
  #protocolName: string | undefined
  #generationId = 0
  #leaderId: string | undefined
  readonly #members = new Map<string, Member>()
  /** Member ids by instance id. */
  readonly #staticMembers = new Map<string, string>()
  /** Ids that were given out with MEMBER_ID_REQUIRED and have not come back yet. */
  readonly pendingJoins = new Set<string>()
  /** Members that were told the generation and have not asked for their assignment. */
  readonly pendingSyncs = new Set<string>()
  #awaitingJoinCount = 0
  /** How many members support each protocol. */
  readonly #supporters = new Map<string, number>()
  /** A member came while the first rebalance was delayed: the delay may be extended. */
  newMemberAdded = false
  /** Of all members together; undefined when that cannot be known. */
  #subscribedTopics: ReadonlySet<string> | undefined
  joinDeadline: JoinDeadline | undefined
  syncDeadlineMs: number | undefined

  constructor(groupId: string, stateTimestampMs: number) {
    this.groupId = groupId
    this.stateTimestampMs = stateTimestampMs
  }

  static fromStored(groupId: string, stored: GroupMetadata): ClassicGroup {
    const group = new ClassicGroup(groupId, stored.stateTimestampMs)
    for (const member of stored.members) {
      const { subscription, ...rest } = member
      const protocols = [{ name: stored.protocolName ?? '', metadata: subscription }]
      group.#put({ ...rest, protocols, isNew: false, awaitingJoin: undefined, awaitingSync: undefined })
    }
    group.#state = stored.members.length === 0 ? 'Empty' : 'Stable'
    group.#protocolType = stored.protocolType
    group.#protocolName = stored.protocolName
    group.#generationId = stored.generationId
    group.#leaderId = stored.leaderId
    group.#subscribedTopics = group.#computeSubscribedTopics()
    return group
  }

  copy(): ClassicGroup {
    const copy = new ClassicGroup(this.groupId, this.stateTimestampMs)
    copy.#state = this.#state
    copy.#previousState = this.#previousState
    copy.#protocolType = this.#protocolType
    copy.#protocolName = this.#protocolName
    copy.#generationId = this.#generationId
    copy.#leaderId = this.#leaderId
    for (const [id, member] of this.#members) copy.#members.set(id, member)
    for (const [instanceId, id] of this.#staticMembers) copy.#staticMembers.set(instanceId, id)
    for (const id of this.pendingJoins) copy.pendingJoins.add(id)
    for (const id of this.pendingSyncs) copy.pendingSyncs.add(id)
    for (const [name, count] of this.#supporters) copy.#supporters.set(name, count)
    copy.#awaitingJoinCount = this.#awaitingJoinCount
    copy.newMemberAdded = this.newMemberAdded
    copy.#subscribedTopics = this.#subscribedTopics
    copy.joinDeadline = this.joinDeadline
    copy.syncDeadlineMs = this.syncDeadlineMs
    return copy
  }

  /** What the log is to say of this group. */
  toStored(): GroupMetadata {
    return {
      protocolType: this.#protocolType,
      generationId: this.#generationId,
      protocolName: this.#protocolName,
      leaderId: this.#leaderId,
      stateTimestampMs: this.stateTimestampMs,
      members: [...this.#members.values()].map(member => ({
        memberId: member.memberId,
        groupInstanceId: member.groupInstanceId,
        clientId: member.clientId,
        clientHost: member.clientHost,
        rebalanceTimeoutMs: member.rebalanceTimeoutMs,
        sessionTimeoutMs: member.sessionTimeoutMs,
        subscription: this.#chosenMetadata(member),
        assignment: member.assignment,
      })),
    }
  }

  get state(): GroupState {
    return this.#state
  }

  get previousState(): GroupState | undefined {
    return this.#previousState
  }

  get protocolType(): string | undefined {
    return this.#protocolType
  }

  get protocolName(): string | undefined {
    return this.#protocolName
  }

  get generationId(): number {
    return this.#generationId
  }

  get leaderId(): string | undefined {
    return this.#leaderId
  }

  get members(): ReadonlyMap<string, Member> {
    return this.#members
  }

  get awaitingJoinCount(): number {
    return this.#awaitingJoinCount
  }

  get hasAllMembersJoined(): boolean {
    return this.#members.size === this.#awaitingJoinCount && this.pendingJoins.size === 0
  }

  get isConsumerGroup(): boolean {
    return this.#protocolType === consumerProtocolType
  }

  get knowsSubscribedTopics(): boolean {
    return this.#subscribedTopics !== undefined
  }

  /** A consumer group whose subscriptions cannot be read counts as subscribed to everything. */
  isSubscribedTo(topic: string): boolean {
    return this.#subscribedTopics?.has(topic) ?? this.isConsumerGroup
  }

  staticMemberId(groupInstanceId: string): string | undefined {
    return this.#staticMembers.get(groupInstanceId)
  }

  /** The longest of its members' rebalance timeouts; 0 without members. */
  get rebalanceTimeoutMs(): number {
    let longestMs = 0
    for (const member of this.#members.values()) longestMs = Math.max(longestMs, member.rebalanceTimeoutMs)
    return longestMs
  }

  /** Whether a member with these protocols could be in a generation with those that are here. */
  supports(protocolType: string, protocols: readonly MemberProtocol[]): boolean {
    if (this.#state === 'Empty') return protocolType !== '' && protocols.length > 0
    const everyone = this.#members.size
    return (
      this.#protocolType === protocolType &&
      protocols.some(({ name }) => (this.#supporters.get(name) ?? 0) === everyone)
    )
  }

  add(member: Member, protocolType: string): void {
    assert(!this.#members.has(member.memberId), 'a member is added once')
    const { groupInstanceId } = member
    assert(groupInstanceId === undefined || !this.#staticMembers.has(groupInstanceId), 'an instance is one member')
    if (this.#members.size === 0) this.#protocolType = protocolType
    assert(this.#protocolType === protocolType, 'the members of a group have one protocol type')
    this.#put(member)
    this.#leaderId ??= member.memberId
    this.pendingJoins.delete(member.memberId)
  }

  /** In the place of the member with the same id. */
  update(member: Member): void {
    const former = this.#members.get(member.memberId)
    assert(former !== undefined, 'only a member is updated')
    assert(former.groupInstanceId === member.groupInstanceId, 'a member stays the instance that it is')
    this.#discount(former)
    this.#put(member)
  }

  /** In the place of the static member with another id, leader if that one was. */
  replaceStatic(former: Member, member: Member): void {
    assert(former.groupInstanceId === member.groupInstanceId, 'a static member is replaced by the same instance')
    const wasLeader = this.#leaderId === former.memberId
    const wasPendingSync = this.pendingSyncs.delete(former.memberId)
    this.#discount(former)
    this.#members.delete(former.memberId)
    this.#put(member)
    if (wasLeader) this.#leaderId = member.memberId
    if (wasPendingSync) this.pendingSyncs.add(member.memberId)
  }

  /** A member or an id that was given out. */
  remove(memberId: string): void {
    const member = this.#members.get(memberId)
    if (member !== undefined) {
      this.#discount(member)
      this.#members.delete(memberId)
      if (member.groupInstanceId !== undefined) this.#staticMembers.delete(member.groupInstanceId)
    }
    if (this.#leaderId === memberId) this.#leaderId = this.#members.keys().next().value
    this.pendingJoins.delete(memberId)
    this.pendingSyncs.delete(memberId)
  }

  /** A leader that has rejoined, if anyone has: the present one, or else the first member that has. */
  electJoinedLeader(): boolean {
    if (this.#leaderId === undefined) return false
    if (this.#members.get(this.#leaderId)?.awaitingJoin !== undefined) return true
    for (const member of this.#members.values()) {
      if (member.awaitingJoin === undefined) continue
      this.#leaderId = member.memberId
      return true
    }
    return false
  }

  /** The protocol that all support and most prefer. */
  selectProtocol(): string {
    const votes = new Map<string, number>()
    for (const { protocols } of this.#members.values()) {
      const vote = protocols.find(({ name }) => this.#supporters.get(name) === this.#members.size)
      assert(vote !== undefined, 'the members of a group have a protocol in common')
      votes.set(vote.name, (votes.get(vote.name) ?? 0) + 1)
    }
    let selected: string | undefined
    for (const [name, count] of votes) {
      if (selected === undefined || count > votes.get(selected)!) selected = name
    }
    assert(selected !== undefined, 'only a group with members selects a protocol')
    return selected
  }

  becomePreparingRebalance(atWallMs: number): void {
    assert(this.#state !== 'PreparingRebalance', 'a rebalance is prepared once')
    this.#become('PreparingRebalance', atWallMs)
    this.newMemberAdded = false
  }

  /** The join phase is over: the next generation has the members that are here now. */
  becomeNextGeneration(atWallMs: number): void {
    assert(this.#state === 'PreparingRebalance', 'a generation begins when the join phase ends')
    this.#generationId++
    const isEmpty = this.#members.size === 0
    this.#protocolName = isEmpty ? undefined : this.selectProtocol()
    this.#subscribedTopics = this.#computeSubscribedTopics()
    this.pendingSyncs.clear()
    this.joinDeadline = undefined
    this.#become(isEmpty ? 'Empty' : 'CompletingRebalance', atWallMs)
  }

  becomeStable(atWallMs: number): void {
    assert(this.#state === 'CompletingRebalance', 'a group is stable when its leader has given the assignments')
    this.#become('Stable', atWallMs)
  }

  inspect(): unknown {
    return {
      state: this.#state,
      previousState: this.#previousState,
      generationId: this.#generationId,
      protocolType: this.#protocolType,
      protocolName: this.#protocolName,
      leaderId: this.#leaderId,
      members: [...this.#members.values()],
      pendingJoins: [...this.pendingJoins],
      pendingSyncs: [...this.pendingSyncs],
      joinDeadline: this.joinDeadline,
      syncDeadlineMs: this.syncDeadlineMs,
    }
  }

  #become(state: GroupState, atWallMs: number): void {
    this.#previousState = this.#state
    this.#state = state
    this.stateTimestampMs = atWallMs
  }

  #put(member: Member): void {
    this.#members.set(member.memberId, member)
    if (member.groupInstanceId !== undefined) this.#staticMembers.set(member.groupInstanceId, member.memberId)
    if (member.awaitingJoin !== undefined) this.#awaitingJoinCount++
    for (const { name } of member.protocols) this.#supporters.set(name, (this.#supporters.get(name) ?? 0) + 1)
  }

  #discount(member: Member): void {
    if (member.awaitingJoin !== undefined) this.#awaitingJoinCount--
    for (const { name } of member.protocols) {
      const count = this.#supporters.get(name)! - 1
      if (count === 0) this.#supporters.delete(name)
      else this.#supporters.set(name, count)
    }
  }

  #chosenMetadata(member: Member): Buffer {
    const metadata = metadataFor(member, this.#protocolName)
    assert(metadata !== undefined, 'every member supports the chosen protocol')
    return metadata
  }

  #computeSubscribedTopics(): ReadonlySet<string> | undefined {
    if (!this.isConsumerGroup) return undefined
    const topics = new Set<string>()
    for (const member of this.#members.values()) {
      const own = subscribedTopics(metadataFor(member, this.#protocolName) ?? noAssignment)
      if (own === undefined) return undefined
      for (const topic of own) topics.add(topic)
    }
    return topics
  }
}
