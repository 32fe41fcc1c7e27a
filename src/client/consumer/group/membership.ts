import { ErrorCode } from '../../../base/error-code.ts'
import type { Api, Body } from '../../../channel/channel-options.ts'
import type { Timer } from '../../../io/clock.ts'
import { decodeAssignment, encodeSubscription } from '../../../protocol/consumer-protocol.ts'
import type { JoinGroupResponse } from '../../../protocol/messages/join-group.ts'
import { ProtocolError } from '../../../protocol/protocol-error.ts'
import type { Fields, Infer, Message } from '../../../protocol/schema.ts'
import type { Cluster } from '../../cluster/cluster.ts'
import type { Coordinators } from '../../cluster/coordinators.ts'
import type { Committer } from '../../cluster/group-offsets.ts'
import { byTopic, type TopicPartition } from '../../cluster/leader-requests.ts'
import { Closing, sleep } from '../../cluster/waiting.ts'
import { brokerError, MillraceError, toMillraceError } from '../../millrace-error.ts'
import type { Assignor, LastAssignment } from './assignor.ts'
import { commonProtocol } from './assignors.ts'
import { heartbeatApi, joinGroupApi, leaveGroupApi, staticMembersFrom, syncGroupApi } from './group-api.ts'
import { GroupLeader } from './group-leader.ts'

/** How much longer than the group waits for its members the answer to a join may be on its way. */
const joinGraceMs = 5000
/** How long to wait before a member that was refused for good asks again: somebody may have cured it. */
const refusedPauseMs = 5000

export interface MembershipConfig {
  readonly groupId: string
  readonly groupInstanceId: string | undefined
  readonly sessionTimeoutMs: number
  readonly heartbeatIntervalMs: number
  /** How long the application may work on a batch, and so how long a rebalance waits for it. */
  readonly maxPollIntervalMs: number
  readonly assignors: readonly Assignor[]
}

/** What the consumer does when its share of the partitions changes. */
export interface MembershipHooks {
  /** What it would like to read. */
  readonly topics: () => readonly string[]
  readonly owned: () => readonly TopicPartition[]
  /** Gives these up in good order: the application finishes, what is done is committed. Ends in `maxPollIntervalMs`. */
  readonly revoke: (partitions: readonly TopicPartition[]) => Promise<void>
  /** These are somebody else's already: nothing of them may be committed. */
  readonly lose: (partitions: readonly TopicPartition[]) => Promise<void>
  readonly assign: (partitions: readonly TopicPartition[]) => Promise<void>
  /** Since when the application has worked on a batch, or left records untouched; undefined when it has nothing to do. */
  readonly busySinceMs: () => number | undefined
  readonly failed: (error: MillraceError) => void
}

export interface MembershipOptions {
  readonly cluster: Cluster
  readonly coordinators: Coordinators
  readonly lane: string
  readonly config: MembershipConfig
  readonly hooks: MembershipHooks
}

/**
 * One member of a classic group: joins, takes its share of the partitions, heartbeats, and joins again whenever the group,
 * the subscription or, at the leader, the topics have changed. It does so on its own, whatever the application is doing.
 */
export class Membership {
  readonly #options: MembershipOptions
  readonly #cluster: Cluster
  readonly #config: MembershipConfig
  readonly #hooks: MembershipHooks
  readonly #closing = new Closing()
  readonly #protocol: Assignor['protocol']
  #memberId = ''
  #generationId = -1
  /** Between the join and the assignment the coordinator counts us as present, and heartbeats would only be in the way. */
  #isJoining = false
  /** From giving up what another may get until the new assignment is known. */
  #isUnsettled = false
  #needsJoin = true
  #joinReason = 'the consumer starts'
  /** Left because the application did not come back; joins again when it does. */
  #isOut = false
  #last: LastAssignment | undefined
  /** Topics of the last join. */
  #joinedTopics: readonly string[] = []
  readonly #leader: GroupLeader
  #heartbeatTimer: Timer | undefined
  #heartbeatFailures = 0
  #wakeMain: (() => void) | undefined
  readonly #stopListening: () => void

  constructor(options: MembershipOptions) {
    this.#options = options
    this.#cluster = options.cluster
    this.#config = options.config
    this.#hooks = options.hooks
    this.#protocol = commonProtocol(options.config.assignors)
    this.#leader = new GroupLeader(options.cluster, options.config.assignors)
    this.#stopListening = options.cluster.onUpdate(() => this.#metadataChanged())
    void this.#run()
  }

  /** In whose name offsets are committed at present. */
  get committer(): Committer {
    const { groupId, groupInstanceId } = this.#config
    const generationId = this.#generationId
    return { groupId, generationId, memberId: this.#memberId, groupInstanceId: groupInstanceId ?? null }
  }

  get isMember(): boolean {
    return this.#generationId >= 0
  }

  /** Partitions that are not owned may be in a moment. Nobody waits for a member that has left. */
  get isRebalancing(): boolean {
    return !this.#closing.isClosed && !this.#isOut && (this.#needsJoin || this.#isUnsettled)
  }

  /** The application has come back for more. */
  noteActivity(): void {
    if (this.#isOut && this.#hooks.busySinceMs() === undefined) {
      this.#isOut = false
      this.#rejoin('the application has come back')
    }
  }

  /** A commit was refused: what the broker said of this member is to be looked into. */
  noteRefusal(errorCode: ErrorCode): void {
    if (errorCode === ErrorCode.rebalanceInProgress) this.#rejoin('the group rebalances')
    else if (isAboutMembership(errorCode)) void this.#heartbeat()
  }

  /** Stops. With `leave` the group is told, so that it need not wait for the session to time out. Tries once. */
  async close({ leave, timeoutMs }: { readonly leave: boolean; readonly timeoutMs: number }): Promise<void> {
    if (this.#closing.isClosed) return
    this.#closing.close()
    this.#heartbeatTimer?.cancel()
    this.#stopListening()
    this.#leader.resign()
    this.#wakeMain?.()
    if (leave && this.#memberId !== '') {
      await this.#leave('the consumer is closed', timeoutMs).catch(() => undefined)
    }
    this.#generationId = -1
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#closing.isClosed; ) {
      if (!this.#needsJoin || this.#isOut) {
        await new Promise<void>(resolve => {
          this.#wakeMain = resolve
        })
        continue
      }
      this.#needsJoin = false
      try {
        await this.#joinAndSync()
        failures = 0
      } catch (thrown) {
        if (this.#closing.isClosed) return
        this.#needsJoin = true
        const pauseMs = await this.#joinFailed(toMillraceError(thrown), ++failures)
        await sleep(this.#cluster.io.clock, pauseMs, this.#closing)
      }
    }
  }

  #rejoin(reason: string): void {
    if (this.#closing.isClosed) return
    if (!this.#needsJoin) this.#joinReason = reason
    this.#needsJoin = true
    this.#wakeMain?.()
  }

  async #joinAndSync(): Promise<void> {
    this.#isUnsettled = true
    try {
      await this.#giveUpBeforeJoin()
      if (this.#closing.isClosed) return
      // What was heard until now, this join will settle.
      this.#needsJoin = false
      this.#joinedTopics = this.#hooks.topics()
      this.#isJoining = true
      const joined = await this.#join()
      if (joined === undefined) return
      const assigned = await this.#sync(joined)
      this.#isJoining = false
      this.#isUnsettled = false
      this.#armHeartbeat()
      await this.#take(assigned)
    } finally {
      this.#isJoining = false
      this.#isUnsettled = false
    }
  }

  /** Eager members give up everything; cooperative ones only what they no longer want. */
  async #giveUpBeforeJoin(): Promise<void> {
    const owned = this.#hooks.owned()
    const wanted = new Set(this.#hooks.topics())
    const given = this.#protocol === 'eager' ? owned : owned.filter(({ topic }) => !wanted.has(topic))
    if (given.length === 0) return
    if (this.#generationId >= 0) await this.#hooks.revoke(given)
    else await this.#hooks.lose(given)
  }

  /** undefined: closed meanwhile, or to be tried at once with the member id that the coordinator gave. */
  async #join(): Promise<JoinGroupResponse | undefined> {
    const { groupId, sessionTimeoutMs, maxPollIntervalMs, groupInstanceId = null } = this.#config
    const protocols = this.#config.assignors.map(assignor => ({
      name: assignor.name,
      metadata: this.#subscriptionFor(assignor),
    }))
    const answer = await this.#send(
      joinGroupApi,
      version => ({
        groupId,
        sessionTimeoutMs,
        rebalanceTimeoutMs: maxPollIntervalMs,
        memberId: this.#memberId,
        protocolType: 'consumer',
        protocols,
        ...this.#staticPart(version, staticMembersFrom.joinGroup),
        reason: this.#joinReason,
      }),
      Math.max(maxPollIntervalMs, sessionTimeoutMs) + joinGraceMs,
    )
    if (this.#closing.isClosed) {
      // The coordinator has a member that will never come back: it is told so by `close`, or here.
      if (answer.memberId !== '' && groupInstanceId === null) {
        this.#memberId = answer.memberId
        await this.#leave('the consumer is closed', sessionTimeoutMs).catch(() => undefined)
      }
      return undefined
    }
    if (answer.errorCode === ErrorCode.memberIdRequired) {
      this.#memberId = answer.memberId
      this.#needsJoin = true
      return undefined
    }
    if (answer.errorCode !== ErrorCode.none) throw brokerError(answer.errorCode, `group ${groupId}`)
    this.#memberId = answer.memberId
    this.#generationId = answer.generationId
    return answer
  }

  #subscriptionFor(assignor: Assignor): Buffer {
    const owned = this.#protocol === 'cooperative' ? this.#hooks.owned() : []
    const ownedPartitions = byTopic(owned, ({ partition }) => partition).map(({ name, partitions }) => {
      return { topic: name, partitions }
    })
    const rackId = this.#cluster.config.rackId === '' ? null : this.#cluster.config.rackId
    const generationId = this.#last?.generationId ?? -1
    const topics = this.#joinedTopics
    return encodeSubscription({
      topics,
      userData: assignor.userData(this.#last),
      ownedPartitions,
      generationId,
      rackId,
    })
  }

  async #sync(joined: JoinGroupResponse): Promise<TopicPartition[]> {
    const { groupId } = this.#config
    const isLeader = joined.leader === joined.memberId
    const assignments = isLeader ? await this.#leader.assign(joined, this.#config.maxPollIntervalMs) : []
    if (!isLeader) this.#leader.resign()
    const answer = await this.#send(
      syncGroupApi,
      version => ({
        groupId,
        generationId: joined.generationId,
        memberId: joined.memberId,
        ...this.#staticPart(version, staticMembersFrom.syncGroup),
        protocolType: 'consumer',
        protocolName: joined.protocolName,
        assignments,
      }),
      Math.max(this.#config.maxPollIntervalMs, this.#config.sessionTimeoutMs) + joinGraceMs,
    )
    if (answer.errorCode !== ErrorCode.none) throw brokerError(answer.errorCode, `group ${groupId}`)
    return this.#readAssignment(answer.assignment)
  }

  #readAssignment(bytes: Buffer): TopicPartition[] {
    // A leader that names a member nowhere gives it nothing.
    if (bytes.length === 0) return []
    try {
      const { assignedPartitions } = decodeAssignment(bytes)
      return assignedPartitions.flatMap(({ topic, partitions }) => partitions.map(partition => ({ topic, partition })))
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      const text = `group ${this.#config.groupId}: the leader's assignment cannot be read: ${error.message}. Do all members use consumers of Kafka's protocol?`
      throw new MillraceError('PROTOCOL_BROKEN', text, { cause: error })
    }
  }

  async #take(assigned: readonly TopicPartition[]): Promise<void> {
    this.#last = { partitions: assigned, generationId: this.#generationId }
    const owned = this.#hooks.owned()
    const lost = without(owned, assigned)
    if (lost.length > 0) {
      await this.#hooks.revoke(lost)
      this.#last = { partitions: without(assigned, lost), generationId: this.#generationId }
      // Now that they are free, another round gives them to their new owners.
      this.#rejoin('partitions were given up')
    }
    if (this.#closing.isClosed || this.#generationId < 0) return
    await this.#hooks.assign(without(assigned, owned))
    this.#metadataChanged()
  }

  /** Returns how long to wait before the next attempt. */
  async #joinFailed(error: MillraceError, failures: number): Promise<number> {
    const { errorCode } = error
    const pauseMs = this.#cluster.retryDelayMs(failures)
    if (errorCode === ErrorCode.unknownMemberId || errorCode === ErrorCode.illegalGeneration) {
      await this.#forgetMember(errorCode === ErrorCode.unknownMemberId)
      return failures === 1 ? 0 : pauseMs
    }
    if (errorCode === ErrorCode.rebalanceInProgress) return failures === 1 ? 0 : pauseMs
    if (error.retriable) return pauseMs
    if (errorCode === ErrorCode.fencedInstanceId) await this.#forgetMember(true)
    this.#hooks.failed(error)
    return Math.max(pauseMs, refusedPauseMs)
  }

  /** The group does not know this member, or goes on without it: what it owned is somebody else's. */
  async #forgetMember(isUnknown: boolean): Promise<void> {
    if (isUnknown) this.#memberId = ''
    this.#generationId = -1
    this.#heartbeatTimer?.cancel()
    const owned = this.#hooks.owned()
    if (owned.length > 0) await this.#hooks.lose(owned)
  }

  #metadataChanged(): void {
    if (this.#generationId < 0 || this.#isJoining) return
    const topics = this.#hooks.topics()
    if (topics.join() !== this.#joinedTopics.join()) this.#rejoin('the subscription has changed')
    if (this.#leader.isOutdated) this.#rejoin('partitions were added, or topics came and went')
  }

  #armHeartbeat(delayMs = this.#config.heartbeatIntervalMs): void {
    this.#heartbeatTimer?.cancel()
    if (this.#closing.isClosed || this.#generationId < 0) return
    this.#heartbeatTimer = this.#cluster.io.clock.after(delayMs, () => void this.#heartbeat())
  }

  async #heartbeat(): Promise<void> {
    if (this.#generationId < 0 || this.#closing.isClosed) return
    this.#heartbeatTimer?.cancel()
    if (this.#isJoining) return this.#armHeartbeat()
    if (await this.#leaveIfStuck()) return
    const { groupId, sessionTimeoutMs } = this.#config
    const generationId = this.#generationId
    let delayMs = this.#config.heartbeatIntervalMs
    try {
      const answer = await this.#send(
        heartbeatApi,
        version => ({
          groupId,
          generationId,
          memberId: this.#memberId,
          ...this.#staticPart(version, staticMembersFrom.heartbeat),
        }),
        sessionTimeoutMs,
      )
      if (generationId !== this.#generationId) return
      if (answer.errorCode !== ErrorCode.none) throw brokerError(answer.errorCode, `group ${groupId}`)
      this.#heartbeatFailures = 0
    } catch (thrown) {
      if (generationId !== this.#generationId || this.#closing.isClosed) return
      delayMs = await this.#heartbeatFailed(toMillraceError(thrown))
    }
    this.#armHeartbeat(delayMs)
  }

  async #heartbeatFailed(error: MillraceError): Promise<number> {
    const { errorCode } = error
    const { heartbeatIntervalMs } = this.#config
    // Sent before the join that is under way: that one will tell.
    if (this.#isJoining) return heartbeatIntervalMs
    if (errorCode === ErrorCode.rebalanceInProgress) {
      this.#rejoin('the group rebalances')
      return heartbeatIntervalMs
    }
    if (errorCode !== undefined && isAboutMembership(errorCode)) {
      if (errorCode === ErrorCode.fencedInstanceId) this.#hooks.failed(error)
      await this.#forgetMember(errorCode !== ErrorCode.illegalGeneration)
      this.#rejoin(`the group answered ${error.code}`)
      return heartbeatIntervalMs
    }
    // The coordinator moves, starts or cannot be reached. The member stays one until somebody says otherwise.
    if (!error.retriable) this.#hooks.failed(error)
    return Math.min(heartbeatIntervalMs, this.#cluster.retryDelayMs(++this.#heartbeatFailures))
  }

  /** An application that does not come back must not keep its partitions from others. */
  async #leaveIfStuck(): Promise<boolean> {
    const sinceMs = this.#hooks.busySinceMs()
    const { maxPollIntervalMs, groupId, groupInstanceId } = this.#config
    if (sinceMs === undefined || this.#cluster.nowMs - sinceMs < maxPollIntervalMs) return false
    const text = `group ${groupId}: the application has worked on one batch for more than maxPollIntervalMs (${maxPollIntervalMs}); its partitions are given to others. Raise it, or lower maxRecords`
    this.#cluster.io.log.write('warn', text, { groupId })
    this.#isOut = true
    if (groupInstanceId === undefined) {
      await this.#leave('the application did not come back', this.#config.sessionTimeoutMs).catch(() => undefined)
    }
    await this.#forgetMember(true)
    this.#needsJoin = true
    return true
  }

  async #leave(reason: string, timeoutMs: number): Promise<void> {
    const { groupId, groupInstanceId = null } = this.#config
    const memberId = this.#memberId
    await this.#send(
      leaveGroupApi,
      version => {
        if (version < staticMembersFrom.leaveGroup) return { groupId, memberId }
        return { groupId, members: [{ memberId, groupInstanceId, reason }] }
      },
      timeoutMs,
      // Not behind a join that waits for others.
      'general',
    )
  }

  #staticPart(version: number, from: number): { groupInstanceId?: string | null } {
    const { groupInstanceId } = this.#config
    if (version >= from) return { groupInstanceId: groupInstanceId ?? null }
    if (groupInstanceId === undefined) return {}
    throw new MillraceError('UNSUPPORTED_VERSION', 'the broker is too old for groupInstanceId: it came with Kafka 2.3')
  }

  /** To the coordinator, once. What it says of another coordinator is remembered. */
  async #send<Q extends Fields, R extends Fields>(
    api: Api<Q, R>,
    body: Body<Q>,
    timeoutMs: number,
    lane = this.#options.lane,
  ): Promise<Infer<Message<R>>> {
    const { groupId } = this.#config
    const { coordinators } = this.#options
    try {
      const nodeId = await coordinators.find(groupId, this.#cluster.config.requestTimeoutMs)
      const answer = await this.#cluster.send(nodeId, api, body, { lane, timeoutMs })
      const { errorCode } = answer as unknown as { errorCode: ErrorCode }
      if (errorCode !== ErrorCode.none) coordinators.note(groupId, brokerError(errorCode, `group ${groupId}`))
      return answer
    } catch (thrown) {
      const error = toMillraceError(thrown)
      coordinators.note(groupId, error)
      throw error
    }
  }
}

/** What says that this member is none, or no longer. */
function isAboutMembership(errorCode: ErrorCode): boolean {
  return (
    errorCode === ErrorCode.unknownMemberId ||
    errorCode === ErrorCode.illegalGeneration ||
    errorCode === ErrorCode.fencedInstanceId
  )
}

function without(partitions: readonly TopicPartition[], others: readonly TopicPartition[]): TopicPartition[] {
  const names = new Set(others.map(({ topic, partition }) => `${topic}-${partition}`))
  return partitions.filter(({ topic, partition }) => !names.has(`${topic}-${partition}`))
}
