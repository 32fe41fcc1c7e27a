/** One bug, as it could have been written: in a file of `core/replication`, text that is there once and what replaces it. */
export interface PlantedBug {
  readonly name: string
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[]
}

function bug(name: string, file: string, find: string, replace: string): PlantedBug {
  return { name, edits: [{ file, find, replace }] }
}

/** What the simulation has to find: each breaks one rule of the protocol. */
export const plantedBugs: readonly PlantedBug[] = [
  bug(
    'the high watermark waits for the confirmed in-sync replicas only',
    'isr.ts',
    'return this.#proposal?.isr.some(({ brokerId }) => brokerId === replicaId) ?? false',
    'return false',
  ),
  bug(
    'the high watermark waits for the proposed in-sync replicas only',
    'isr.ts',
    'if (this.#committed.includes(replicaId)) return true',
    'if (this.#proposal === undefined) return this.#committed.includes(replicaId)',
  ),
  bug(
    'the high watermark moves while too few are in sync',
    'leader.ts',
    'if (!this.#hasEnoughReplicas) return at.highWatermark',
    '',
  ),
  {
    name: 'a fetch of an older leader epoch counts',
    edits: [
      {
        file: 'follower-fetches.ts',
        find: 'if (currentLeaderEpoch < 0 || currentLeaderEpoch === leaderEpoch) return ErrorCode.none',
        replace: 'if (currentLeaderEpoch <= leaderEpoch) return ErrorCode.none',
      },
      {
        file: 'follower-fetches.ts',
        find: ' || fetch.currentLeaderEpoch !== leader.leaderEpoch) return',
        replace: ') return',
      },
    ],
  },
  bug(
    'a fetch of a life that the metadata does not know counts',
    'follower-fetches.ts',
    'if (registered?.epoch !== fetch.replicaEpoch || ',
    'if (registered === undefined || ',
  ),
  bug(
    'a follower joins below the beginning of the epoch',
    'follower-fetches.ts',
    ' && follower.endOffset >= leader.epochStartOffset',
    '',
  ),
  bug(
    'a follower joins below the high watermark',
    'follower-fetches.ts',
    'return follower.endOffset >= replica.highWatermark && follower.endOffset >= leader.epochStartOffset',
    'return true',
  ),
  bug(
    'a leader does not compare epochs',
    'fetch-position.ts',
    "if (epoch < lastFetchedEpoch || endOffset < fetchOffset) return { type: 'diverging', epoch, endOffset }",
    '',
  ),
  bug(
    'a follower cuts to its high watermark instead of the end of the epoch',
    'truncation.ts',
    'if (!isBelowStart) cut(replica, role, cutOffset)',
    'if (!isBelowStart) cut(replica, role, replica.highWatermark)',
  ),
  bug(
    'a follower cuts to the end of the epoch in the log of its leader only',
    'truncation.ts',
    'const endOffset = isSameEpoch ? Math.min(ownEnd, leader.endOffset) : ownEnd',
    'const endOffset = leader.endOffset',
  ),
  bug(
    'a lost answer is taken for a refusal',
    'isr-changes.ts',
    'if (open !== undefined) retryLater(replica, open.proposal)',
    'if (open !== undefined) {\n    open.leader.isr.withdraw()\n    open.leader.isrChanged()\n  }',
  ),
  bug(
    "with flush=ack a leader's own end counts before it is synced",
    'replica.ts',
    'return this.config.flushBeforeAck ? this.log.flushedOffset : this.log.logEndOffset',
    'return this.log.logEndOffset',
  ),
  bug(
    'with flush=ack a follower asks for more before it has synced',
    'follower.ts',
    'replica.config.flushBeforeAck && log.flushedOffset < log.logEndOffset',
    'replica.config.flushBeforeAck && log.flushedOffset < log.logStartOffset',
  ),
]
