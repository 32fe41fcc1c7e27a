import { assert } from '../../base/assert.ts'

/** How far one follower is, as its fetches in this leader epoch say. Times are monotonic ms. */
export class FollowerProgress {
  readonly replicaId: number
  /** In sync, or proposed to be: the high watermark waits for it. Kept by `Leader`. */
  isInMaximalIsr = false
  /** The life of the broker that fetched; -1 before the first fetch that counts. */
  brokerEpoch = -1
  /**
   * It holds everything below. -1 before the first fetch that counts: what it held in an older leader epoch may have been
   * cut since. May fall: a follower that lost its log fetches from where it stands.
   */
  endOffset = -1
  /** When it last had everything that the leader had, or was taken for such. */
  caughtUpMs: number
  #lastFetchMs = Number.NEGATIVE_INFINITY
  /** Where the leader's log ended when it last fetched. */
  #leaderEndOffset = Number.POSITIVE_INFINITY

  constructor(replicaId: number, caughtUpMs: number) {
    this.replicaId = replicaId
    this.caughtUpMs = caughtUpMs
  }

  /** Another life of the broker: what the one before held says nothing. */
  begin(brokerEpoch: number): void {
    assert(brokerEpoch > this.brokerEpoch, 'lives of a broker follow one another')
    this.brokerEpoch = brokerEpoch
    this.endOffset = -1
    this.caughtUpMs = Number.NEGATIVE_INFINITY
    this.#lastFetchMs = Number.NEGATIVE_INFINITY
    this.#leaderEndOffset = Number.POSITIVE_INFINITY
  }

  /**
   * It fetches from `endOffset`. When that is all there was at its fetch before, it was caught up then, even if the leader
   * has more by now: a leader that is written to all the time would else find nobody in sync.
   */
  fetched({ endOffset, leaderEndOffset, nowMs }: { endOffset: number; leaderEndOffset: number; nowMs: number }): void {
    assert(endOffset <= leaderEndOffset, 'a follower that is counted holds no more than its leader')
    if (endOffset >= leaderEndOffset) this.caughtUpMs = Math.max(this.caughtUpMs, nowMs)
    else if (endOffset >= this.#leaderEndOffset) this.caughtUpMs = Math.max(this.caughtUpMs, this.#lastFetchMs)
    this.endOffset = endOffset
    this.#lastFetchMs = nowMs
    this.#leaderEndOffset = leaderEndOffset
  }

  /** It is about to be in sync: it has the whole lag time from now on, though it may not have reached the leader's end yet. */
  joins(nowMs: number): void {
    this.caughtUpMs = Math.max(this.caughtUpMs, nowMs)
  }

  isCaughtUp(leaderEndOffset: number, nowMs: number, lagTimeMaxMs: number): boolean {
    return this.endOffset === leaderEndOffset || nowMs - this.caughtUpMs <= lagTimeMaxMs
  }
}
