import { assert } from '../../base/assert.ts'
import { type Uuid, zeroUuid } from '../../base/uuid.ts'
import type { Endpoint } from '../../protocol/records/control.ts'
import type { QuorumState } from './events.ts'
import type { Outbox } from './outbox.ts'
import { isReplica, type ReplicaKey } from './voters.ts'

const noEndpoints: readonly Endpoint[] = []

/**
 * What a replica knows of the election in its epoch: the epoch, its own vote, the leader. Epochs only grow; within one
 * a vote is given once and the leader, once known, stays.
 */
export class Election {
  #epoch: number
  #votedKey: ReplicaKey | undefined
  #leaderId: number | undefined
  #leaderEndpoints = noEndpoints
  /** What was last handed to the disk, and last told to the shell. */
  #persisted: QuorumState | undefined
  #announced: { leaderId: number | undefined; leaderEpoch: number; endpoints: readonly Endpoint[] } | undefined

  /** `persisted`: what the file `quorum-state` holds, if that is this very state. */
  constructor(epoch: number, votedKey: ReplicaKey | undefined, persisted: QuorumState | undefined) {
    this.#epoch = epoch
    this.#votedKey = votedKey
    this.#persisted = persisted
  }

  get epoch(): number {
    return this.#epoch
  }
  get votedKey(): ReplicaKey | undefined {
    return this.#votedKey
  }
  get leaderId(): number | undefined {
    return this.#leaderId
  }
  get leaderEndpoints(): readonly Endpoint[] {
    return this.#leaderEndpoints
  }

  /** A newer epoch starts with no vote and no leader. */
  enter(epoch: number): void {
    assert(epoch >= this.#epoch, 'epochs never fall')
    if (epoch === this.#epoch) return
    this.#epoch = epoch
    this.#votedKey = undefined
    this.forgetLeader()
  }

  vote(key: ReplicaKey): void {
    assert(this.#votedKey === undefined || isReplica(this.#votedKey, key), 'one vote in an epoch')
    this.#votedKey = key
  }

  follow(leaderId: number, endpoints: readonly Endpoint[]): void {
    assert(this.#leaderId === undefined || this.#leaderId === leaderId, 'one leader in an epoch')
    this.#leaderId = leaderId
    this.#leaderEndpoints = endpoints
  }

  forgetLeader(): void {
    this.#leaderId = undefined
    this.#leaderEndpoints = noEndpoints
  }

  get state(): QuorumState {
    const votedDirectoryId: Uuid = this.#votedKey?.directoryId ?? zeroUuid
    return {
      leaderId: this.#leaderId ?? -1,
      leaderEpoch: this.#epoch,
      votedId: this.#votedKey?.id ?? -1,
      votedDirectoryId,
    }
  }

  /** Writes what is new of it to disk. */
  persist(outbox: Outbox, kraftVersion: number): void {
    const state = this.state
    if (this.#persisted !== undefined && sameState(this.#persisted, state)) return
    this.#persisted = state
    outbox.persist(state, kraftVersion)
  }

  /** Tells the shell what is new of the leader. */
  announce(outbox: Outbox, leaderId: number | undefined): void {
    const endpoints = leaderId === undefined ? noEndpoints : this.#leaderEndpoints
    const leader = { leaderId, leaderEpoch: this.#epoch, endpoints }
    const before = this.#announced
    if (
      before?.leaderId === leader.leaderId &&
      before?.leaderEpoch === leader.leaderEpoch &&
      before.endpoints === leader.endpoints
    ) {
      return
    }
    this.#announced = leader
    outbox.push({ type: 'leaderChanged', ...leader })
  }
}

function sameState(a: QuorumState, b: QuorumState): boolean {
  return (
    a.leaderEpoch === b.leaderEpoch &&
    a.leaderId === b.leaderId &&
    a.votedId === b.votedId &&
    a.votedDirectoryId === b.votedDirectoryId
  )
}
