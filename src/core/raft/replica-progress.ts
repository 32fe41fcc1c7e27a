import type { Now } from '../../base/time.ts'
import { zeroUuid } from '../../base/uuid.ts'
import { isReplica, type ReplicaKey, type Voter, type VoterSet } from './voters.ts'

/** How far one replica is, by what it asked this leader for in this epoch. */
export interface Replica {
  readonly key: ReplicaKey
  /** It holds, synced, everything below. -1 until it first fetched. */
  readonly logEndOffset: number
  readonly lastFetchMs: number
  readonly lastFetchWallMs: number
  /** The last time it had all that the leader had; -1 for never. */
  readonly lastCaughtUpWallMs: number
  readonly lastCaughtUpMs: number
  /** Where the leader's log ended at its last fetch. */
  readonly leaderEndOffset: number
}

/** Observers that did not fetch for this long are no longer listed. */
const observerTimeoutMs = 300_000
/** More replicas than this are not followed: the one that fetched longest ago is dropped. */
const maxReplicas = 10_000

/** What a leader knows of the other replicas, voters and observers alike. */
export class ReplicaProgress {
  readonly #replicas = new Map<string, Replica>()

  /** A fetch from `fetchOffset` proves that the replica holds everything below it. */
  fetched(key: ReplicaKey, at: { fetchOffset: number; leaderEndOffset: number }, now: Now): void {
    const before = this.#replicas.get(textOf(key))
    const isCaughtUp = at.fetchOffset >= at.leaderEndOffset
    const wasCaughtUp = before !== undefined && at.fetchOffset >= before.leaderEndOffset
    const caughtUp = isCaughtUp
      ? { lastCaughtUpMs: now.monotonicMs, lastCaughtUpWallMs: now.wallMs }
      : wasCaughtUp
        ? { lastCaughtUpMs: before.lastFetchMs, lastCaughtUpWallMs: before.lastFetchWallMs }
        : { lastCaughtUpMs: before?.lastCaughtUpMs ?? -1, lastCaughtUpWallMs: before?.lastCaughtUpWallMs ?? -1 }
    this.#put({
      key,
      logEndOffset: at.fetchOffset,
      lastFetchMs: now.monotonicMs,
      lastFetchWallMs: now.wallMs,
      leaderEndOffset: at.leaderEndOffset,
      ...caughtUp,
    })
  }

  /** It is alive and follows, though it asked for a snapshot or has to truncate: that says nothing of its log. */
  heardFrom(key: ReplicaKey, now: Now): void {
    const before = this.#replicas.get(textOf(key))
    this.#put({
      key,
      logEndOffset: before?.logEndOffset ?? -1,
      leaderEndOffset: before?.leaderEndOffset ?? Number.POSITIVE_INFINITY,
      lastCaughtUpMs: before?.lastCaughtUpMs ?? -1,
      lastCaughtUpWallMs: before?.lastCaughtUpWallMs ?? -1,
      lastFetchMs: now.monotonicMs,
      lastFetchWallMs: now.wallMs,
    })
  }

  /** A voter whose directory id is unknown is whoever of that id fetched last. */
  of(voter: ReplicaKey): Replica | undefined {
    if (voter.directoryId !== zeroUuid) return this.#replicas.get(textOf(voter))
    const matching = [...this.#replicas.values()].filter(replica => isReplica(voter, replica.key))
    return matching.sort((a, b) => b.lastFetchMs - a.lastFetchMs)[0]
  }

  observers(voters: VoterSet, now: Now): Replica[] {
    return [...this.#replicas.values()].filter(
      replica => !voters.has(replica.key) && now.monotonicMs - replica.lastFetchMs < observerTimeoutMs,
    )
  }

  /** The largest offset that a majority of `voters` holds; -1 when no majority fetched yet. */
  majorityOffset(voters: VoterSet, self: ReplicaKey, ownFlushedOffset: number): number {
    const offsets = voters.voters.map(voter =>
      isReplica(voter, self) ? ownFlushedOffset : (this.of(voter)?.logEndOffset ?? -1),
    )
    return offsets.sort((a, b) => b - a)[Math.floor(voters.size / 2)]
  }

  /** The last time at which a majority, the leader's own voice included, had been heard from. */
  majorityHeardMs(voters: VoterSet, self: ReplicaKey, sinceMs: number): number {
    const times = voters.voters.map(voter =>
      isReplica(voter, self) ? Number.POSITIVE_INFINITY : Math.max(sinceMs, this.of(voter)?.lastFetchMs ?? sinceMs),
    )
    return times.sort((a, b) => b - a)[voters.majority - 1]
  }

  /** The other voters, the one with the longest log first. */
  byLogEndOffset(voters: VoterSet, self: ReplicaKey): Voter[] {
    const others = voters.voters.filter(voter => !isReplica(voter, self))
    return others.sort((a, b) => (this.of(b)?.logEndOffset ?? -1) - (this.of(a)?.logEndOffset ?? -1))
  }

  all(): Replica[] {
    return [...this.#replicas.values()]
  }

  #put(replica: Replica): void {
    const text = textOf(replica.key)
    // Deleted and set anew, the map stays in the order of the last fetch.
    this.#replicas.delete(text)
    this.#replicas.set(text, replica)
    if (this.#replicas.size <= maxReplicas) return
    const [oldest] = this.#replicas.keys()
    this.#replicas.delete(oldest)
  }
}

function textOf(key: ReplicaKey): string {
  return `${key.id}:${key.directoryId}`
}
