/** A run broke an invariant. */
export class Violation extends Error {
  override readonly name = 'Violation'
}

/** Things a run got to: a simulation that never reaches them proves nothing. */
export interface Reached {
  leaderships: number
  committed: number
  acknowledged: number
  truncations: number
  divergences: number
  startedAnew: number
  shrinks: number
  expansions: number
  losses: number
  /** Of compaction: passes, gaps that followers took in, tombstones that went, and those that a replica came too late for. */
  passes: number
  gapsFollowed: number
  tombstonesRemoved: number
  tombstonesMissed: number
}

export function nothingReached(): Reached {
  return {
    leaderships: 0,
    committed: 0,
    acknowledged: 0,
    truncations: 0,
    divergences: 0,
    startedAnew: 0,
    shrinks: 0,
    expansions: 0,
    losses: 0,
    passes: 0,
    gapsFollowed: 0,
    tombstonesRemoved: 0,
    tombstonesMissed: 0,
  }
}
