import { assert } from '../../base/assert.ts'
import type { Random } from '../../base/random.ts'
import type { Now } from '../../base/time.ts'
import type { Endpoint } from '../../protocol/records/control.ts'
import { inVersion } from './answer-version.ts'
import { keyOf, type QuorumConfig } from './config.ts'
import type { Election } from './election.ts'
import type { Destination } from './events.ts'
import { LogTail, type RaftLogView } from './log-view.ts'
import type { RaftRequest, RaftResponse } from './messages.ts'
import { OpenRequests } from './open-requests.ts'
import { Outbox } from './outbox.ts'
import { ReplicaProgress } from './replica-progress.ts'
import type { Leader, Role } from './roles.ts'
import { Tally } from './tally.ts'
import type { VoterHistory } from './voter-history.ts'
import type { ReplicaKey } from './voters.ts'

/** A change of the log that takes time and empties or cuts it. It ends at `endOffset` afterwards. */
export interface LogChange {
  readonly type: 'truncate' | 'load'
  readonly endOffset: number
}

/**
 * The state of one replica of the quorum, and the only place where its role and its high watermark change. The files
 * around it decide; they get here through `becomeX`, each of which asserts that the move is legal.
 */
export class Replica {
  readonly config: QuorumConfig
  readonly key: ReplicaKey
  readonly random: Random
  readonly log: LogTail
  readonly history: VoterHistory
  readonly outbox = new Outbox()
  readonly open: OpenRequests
  /** Leaderships that ended in this turn and still owe answers. */
  readonly ended: Leader[] = []
  /** While it lasts the log is neither extended, fetched for nor campaigned with. */
  logChange: LogChange | undefined
  isSyncing = false
  /** Set by a shutdown: until then a leader that resigned waits to be acknowledged. */
  shutdownDeadlineMs: number | undefined
  isHalted = false
  isShutDown = false

  readonly #election: Election
  #role: Role = { type: 'unattached', electionDeadlineMs: Number.POSITIVE_INFINITY }
  #moves = 0
  /** Of the requests that wait for an answer. */
  readonly #apiVersions = new Map<number, number>()
  #highWatermark: number

  constructor(parts: {
    config: QuorumConfig
    random: Random
    log: RaftLogView
    history: VoterHistory
    election: Election
    highWatermark: number
  }) {
    this.config = parts.config
    this.key = keyOf(parts.config)
    this.random = parts.random
    this.log = new LogTail(parts.log)
    this.history = parts.history
    this.open = new OpenRequests(parts.config.retryBackoffMs)
    this.#election = parts.election
    this.#highWatermark = parts.highWatermark
  }

  get role(): Role {
    return this.#role
  }
  /** How often the role changed. */
  get moves(): number {
    return this.#moves
  }
  get epoch(): number {
    return this.#election.epoch
  }
  /** Who led or leads this epoch, this node included when it has resigned. */
  get leaderId(): number | undefined {
    return this.#election.leaderId
  }
  /** Whom to ask: nobody while the leader that we know of is this node, resigned. */
  get activeLeaderId(): number | undefined {
    return this.#role.type === 'resigned' ? undefined : this.#election.leaderId
  }
  get leaderEndpoints(): readonly Endpoint[] {
    return this.#election.leaderEndpoints
  }
  get votedKey(): ReplicaKey | undefined {
    return this.#election.votedKey
  }
  /** Everything below is committed. Never falls while the process lives. */
  get highWatermark(): number {
    return this.#highWatermark
  }
  get isVoter(): boolean {
    return this.config.isController && this.history.voters.has(this.key)
  }
  /**
   * Voters campaign, and so does who was one until a change that may not have committed: it may hold the longest log of
   * all, that change in it, and then nobody else can be elected. Its own vote does not count.
   */
  get mayCampaign(): boolean {
    if (this.isVoter || !this.config.isController) return this.isVoter
    const { history } = this
    return history.votersOffset >= this.#highWatermark && history.previousVoters?.has(this.key) === true
  }
  get isOnlyVoter(): boolean {
    return this.isVoter && this.history.voters.isOnly(this.key)
  }

  /** A vote given, an election lost, or a newer epoch whose leader is not known. */
  becomeUnattached(to: { epoch: number; votedKey?: ReplicaKey }, now: Now): void {
    const from = this.#role
    assert(
      to.epoch > this.epoch || from.type === 'unattached' || from.type === 'prospective',
      'only who knows no leader becomes unattached in the same epoch',
    )
    // A newer epoch alone does not put the election off: a stream of them would put it off for ever.
    const isWaiting = from.type === 'unattached' || from.type === 'prospective' || from.type === 'candidate'
    const keepsWaiting = isWaiting && to.epoch > this.epoch && to.votedKey === undefined
    const electionDeadlineMs = keepsWaiting ? from.electionDeadlineMs : this.electionDeadlineMs(now)
    this.#election.enter(to.epoch)
    if (to.votedKey !== undefined) this.#election.vote(to.votedKey)
    this.#election.forgetLeader()
    this.#move({ type: 'unattached', electionDeadlineMs })
  }

  /** A leader was found, or one that was doubted is asked again. */
  becomeFollower(to: { epoch: number; leaderId: number; endpoints: readonly Endpoint[] }, now: Now): void {
    const from = this.#role.type
    assert(to.leaderId !== this.config.nodeId, 'nobody follows itself')
    assert(
      to.epoch > this.epoch || (from !== 'follower' && from !== 'leader' && from !== 'resigned'),
      'who follows or led does not turn to a leader in the same epoch',
    )
    this.#election.enter(to.epoch)
    this.#election.follow(to.leaderId, to.endpoints)
    this.#move({
      type: 'follower',
      fetchDeadlineMs: now.monotonicMs + this.config.fetchTimeoutMs,
      hasFetched: false,
      hasLeaderResigned: false,
      asksOthersNext: true,
      snapshot: undefined,
      updateVoterDeadlineMs: now.monotonicMs + this.config.fetchTimeoutMs,
      hasUpdatedLeader: false,
    })
  }

  /** Epoch, vote and what is known of the leader stay: nothing is decided yet. */
  becomeProspective(lostElections: number, now: Now): void {
    const from = this.#role.type
    assert(from === 'unattached' || from === 'follower' || from === 'candidate', 'prospective after waiting in vain')
    this.#assertMayCampaign()
    this.#move({
      type: 'prospective',
      electionDeadlineMs: this.electionDeadlineMs(now),
      tally: new Tally(this.history.voters, this.key),
      lostElections,
    })
  }

  becomeCandidate(now: Now): void {
    const from = this.#role
    assert(from.type === 'prospective', 'a candidate asked first whether it can win')
    this.#assertMayCampaign()
    this.#election.enter(this.epoch + 1)
    this.#election.vote(this.key)
    this.#move({
      type: 'candidate',
      electionDeadlineMs: this.electionDeadlineMs(now),
      hasAsked: false,
      hasLost: false,
      tally: new Tally(this.history.voters, this.key),
      lostElections: from.lostElections,
    })
  }

  becomeLeader(now: Now): void {
    const from = this.#role
    assert(from.type === 'candidate', 'leaders are elected')
    assert(from.tally.isGranted, 'a leader has the votes of a majority')
    assert(this.outbox.isPersisted, "a leader's own vote is on disk")
    const epochStartOffset = this.log.logEndOffset
    this.#election.follow(this.config.nodeId, this.config.listeners)
    this.#move({
      type: 'leader',
      leaderEpoch: this.epoch,
      sinceMs: now.monotonicMs,
      epochStartOffset,
      grantingVoters: from.tally.grantingVoters,
      hasStarted: false,
      highWatermark: undefined,
      progress: new ReplicaProgress(),
      acknowledged: new Set(),
      lastBeginMs: new Map(),
      waitingFetches: new Map(),
      openReads: new Map(),
      voterChange: undefined,
      updatedVoters: new Map(),
    })
    this.outbox.push({ type: 'becameLeader', leaderEpoch: this.epoch, epochStartOffset })
  }

  /** After leading; or at the start, for who was the leader when it stopped. */
  becomeResigned(preferredCandidates: readonly ReplicaKey[], now: Now): void {
    assert(this.#role.type === 'leader' || this.#moves === 0, 'only leaders resign')
    const others = this.history.voters.voters.filter(voter => voter.id !== this.config.nodeId)
    this.#election.follow(this.config.nodeId, this.config.listeners)
    this.#move({
      type: 'resigned',
      electionDeadlineMs: this.electionDeadlineMs(now),
      unacknowledged: new Set(others.map(voter => voter.id)),
      preferredCandidates,
    })
  }

  /** The leader of this epoch can be reached at more endpoints than we knew. */
  learnLeaderEndpoints(leaderId: number, endpoints: readonly Endpoint[]): void {
    if (endpoints.length <= this.leaderEndpoints.length) return
    this.#election.follow(leaderId, endpoints)
    this.#election.announce(this.outbox, this.activeLeaderId)
  }

  raiseHighWatermark(offset: number): void {
    assert(offset >= this.#highWatermark, 'the high watermark never falls')
    assert(offset <= this.log.logEndOffset, 'the high watermark is within the log')
    if (offset === this.#highWatermark) return
    this.#highWatermark = offset
    this.outbox.push({ type: 'highWatermark', offset })
  }

  /** Nothing goes on: what held so far cannot be relied on. */
  halt(reason: string): void {
    this.isHalted = true
    this.outbox.halt(reason)
  }

  /** A request came in; `reply` answers it in its version. */
  requested(requestId: number, apiVersion: number): void {
    assert(!this.#apiVersions.has(requestId), 'each request has an id of its own')
    this.#apiVersions.set(requestId, apiVersion)
  }

  reply(requestId: number, response: RaftResponse): void {
    const apiVersion = this.#apiVersions.get(requestId)
    assert(apiVersion !== undefined, 'a request is answered once')
    this.#apiVersions.delete(requestId)
    this.outbox.push({ type: 'reply', requestId, ...inVersion(response, apiVersion) })
  }

  /** Returns the correlation id. `fetchOffset`: of a Fetch, where it starts. */
  send(to: Destination, request: RaftRequest, now: Now, fetchOffset = -1): number {
    const deadlineMs = now.monotonicMs + this.config.requestTimeoutMs
    const { correlationId } = this.open.open({ api: request.api, to, deadlineMs, fetchOffset })
    this.outbox.push({ type: 'send', correlationId, to, ...request })
    return correlationId
  }

  /** In [t, 2t), so that voters rarely campaign at the same time; at once for who needs nobody's vote. */
  electionDeadlineMs(now: Now): number {
    if (this.isOnlyVoter) return now.monotonicMs
    return now.monotonicMs + this.config.electionTimeoutMs + this.random.below(this.config.electionTimeoutMs)
  }

  #assertMayCampaign(): void {
    assert(this.mayCampaign, 'only voters campaign')
    assert(this.logChange === undefined, 'nobody campaigns with a log that is being replaced')
  }

  #move(role: Role): void {
    const from = this.#role
    this.#role = role
    this.#moves++
    this.open.forgetAll()
    if (from.type === 'leader') {
      this.ended.push(from)
      this.outbox.push({ type: 'lostLeadership', leaderEpoch: from.leaderEpoch })
    }
    if (from.type === 'follower' && from.snapshot !== undefined) {
      this.outbox.push({ type: 'discardSnapshot', snapshotId: from.snapshot.id })
    }
    this.#election.persist(this.outbox, this.history.kraftVersion)
    this.#election.announce(this.outbox, this.activeLeaderId)
  }
}
