import { assert, unreachable } from '../../base/assert.ts'
import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import type { ControlRecord } from '../../protocol/control-record.ts'
import { appendAsLeader } from './commit.ts'
import { nextDeadlineAfter } from './deadlines.ts'
import { describeQuorum, type QuorumDescription } from './describe.ts'
import { handleDisk } from './disk-events.ts'
import type { QuorumEffect, QuorumEvent } from './events.ts'
import { pollFollower, pollUnattached } from './follower.ts'
import { inspect } from './inspect.ts'
import { handleUpgradeKraftVersion } from './kraft-version.ts'
import { answerEndedLeadership, pollLeader, resign } from './leader.ts'
import { pollResigned } from './quorum-epochs.ts'
import type { Replica } from './replica.ts'
import { handleRequest, handleRequestFailed, handleResponse } from './routes.ts'
import { type QuorumOptions, replicaOf, start } from './start.ts'
import type { VoterSet } from './voters.ts'
import { pollCandidate, pollProspective } from './votes.ts'

/** Roles passed through in one turn at most: an only voter goes from resigned to candidate, then waits for its disk. */
const maxMovesInTurn = 8

/**
 * One replica of the metadata quorum (KRaft), voter or observer: elections, replication, snapshots, voter changes.
 * Pure and synchronous: `handle(event, now)` returns what to do, `QuorumEffect` says in which order and what it may rely
 * on. `start` comes first; after that events may come in any order, `tick` at `nextDeadlineMs()`.
 *
 * An assertion that fails in here is a broken invariant: the shell stops the node as for `halt`.
 */
export class Quorum {
  readonly #options: QuorumOptions
  readonly #replica: Replica
  #lastMs = Number.NEGATIVE_INFINITY

  constructor(options: QuorumOptions) {
    this.#options = options
    this.#replica = replicaOf(options)
  }

  start(now: Now): QuorumEffect[] {
    assert(this.#replica.moves === 0, 'a quorum starts once')
    start(this.#replica, this.#options, now)
    return this.#finishTurn(now)
  }

  handle(event: QuorumEvent, now: Now): QuorumEffect[] {
    assert(now.monotonicMs >= this.#lastMs, 'monotonic time does not go back')
    if (this.#replica.isHalted || this.#replica.isShutDown) return []
    this.#replica.log.settle()
    this.#dispatch(event, now)
    return this.#finishTurn(now)
  }

  /** When to call `handle({ type: 'tick' })` next (monotonic ms); undefined when only other events matter. */
  nextDeadlineMs(): number | undefined {
    if (this.#replica.isHalted || this.#replica.isShutDown) return undefined
    return nextDeadlineAfter(this.#replica, this.#lastMs)
  }

  get role(): Replica['role']['type'] {
    return this.#replica.role.type
  }
  get epoch(): number {
    return this.#replica.epoch
  }
  /** Undefined while no leader is known that can be asked. */
  get leaderId(): number | undefined {
    return this.#replica.activeLeaderId
  }
  get highWatermark(): number {
    return this.#replica.highWatermark
  }
  /** The voter set in force: the newest in the log, committed or not. */
  get voters(): VoterSet {
    return this.#replica.history.voters
  }
  get kraftVersion(): number {
    return this.#replica.history.kraftVersion
  }

  /** Of a snapshot of what is committed below `endOffset`: a change behind it may never commit. */
  controlRecordsAt(endOffset: number): ControlRecord[] {
    assert(endOffset <= this.#replica.highWatermark, 'a snapshot holds committed records only')
    return this.#replica.history.recordsAt(endOffset)
  }

  /** What DescribeQuorum answers; undefined where this node does not lead. */
  describe(now: Now): QuorumDescription | undefined {
    return describeQuorum(this.#replica, now)
  }

  inspect(): string {
    return inspect(this.#replica)
  }

  #dispatch(event: QuorumEvent, now: Now): void {
    const replica = this.#replica
    switch (event.type) {
      case 'tick':
      case 'appended':
        break
      case 'request':
        handleRequest(replica, event, now)
        break
      case 'response':
        handleResponse(replica, event, now)
        break
      case 'requestFailed':
        handleRequestFailed(replica, event, now)
        break
      case 'append':
        this.#append(event)
        break
      case 'upgradeKraftVersion':
        handleUpgradeKraftVersion(replica, event, now)
        break
      case 'resign':
        if (replica.role.type === 'leader' && replica.epoch === event.leaderEpoch) resign(replica, replica.role, now)
        break
      case 'shutdown':
        replica.shutdownDeadlineMs ??= now.monotonicMs + replica.config.requestTimeoutMs
        break
      default:
        handleDisk(replica, event, now)
    }
  }

  /** The state machine proposes. Only the leader of that epoch appends, and only once it is active. */
  #append(event: QuorumEvent & { type: 'append' }): void {
    const replica = this.#replica
    const { role } = replica
    const { appendId, recordCount, bytes } = event
    const isActive = role.type === 'leader' && role.highWatermark !== undefined
    if (!isActive || event.leaderEpoch !== replica.epoch || replica.shutdownDeadlineMs !== undefined) {
      replica.outbox.push({ type: 'appendRefused', appendId, errorCode: ErrorCode.notLeaderOrFollower })
      return
    }
    appendAsLeader(replica, recordCount, { type: 'records', appendId, recordCount, bytes })
  }

  /** Everything that is due follows from the state: the same code runs after every event. */
  #finishTurn(now: Now): QuorumEffect[] {
    const replica = this.#replica
    this.#lastMs = now.monotonicMs
    for (const late of replica.open.expired(now.monotonicMs)) {
      replica.open.failed(late, now.monotonicMs)
    }
    const firstMove = replica.moves
    for (let moves = -1; moves !== replica.moves && !replica.isHalted; ) {
      moves = replica.moves
      pollRole(replica, now)
      assert(replica.moves - firstMove <= maxMovesInTurn, 'roles settle within a turn')
    }
    for (const ended of replica.ended.splice(0)) answerEndedLeadership(replica, ended)
    this.#pollShutdown(now)
    if (!replica.isSyncing && !replica.log.isFlushed && replica.logChange === undefined) {
      replica.isSyncing = true
      replica.outbox.push({ type: 'sync' })
    }
    return replica.outbox.take()
  }

  #pollShutdown(now: Now): void {
    const replica = this.#replica
    if (replica.shutdownDeadlineMs === undefined || replica.isHalted) return
    const { role } = replica
    const isWaiting = role.type === 'leader' || (role.type === 'resigned' && role.unacknowledged.size > 0)
    if (isWaiting && now.monotonicMs < replica.shutdownDeadlineMs) return
    replica.isShutDown = true
    replica.outbox.push({ type: 'shutdownComplete' })
  }
}

function pollRole(replica: Replica, now: Now): void {
  const { role } = replica
  switch (role.type) {
    case 'unattached':
      pollUnattached(replica, role, now)
      break
    case 'follower':
      pollFollower(replica, role, now)
      break
    case 'prospective':
      pollProspective(replica, role, now)
      break
    case 'candidate':
      pollCandidate(replica, role, now)
      break
    case 'leader':
      pollLeader(replica, role, now)
      break
    case 'resigned':
      pollResigned(replica, role, now)
      break
    default:
      unreachable(role)
  }
}
