import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PlantedBug, plantBug } from '../../../simulator/planted-bugs.ts'
import { realControllers } from './fixtures/real-controller.ts'
import type { run } from './run.ts'

/** A hunt ends here. Most end after a few runs; the longest take some hundreds. */
const maxRuns = 2000
/** `REPLICATION_HUNT=7` hunts with other seeds, and says how many runs it took. */
const hunt = Number(process.env.REPLICATION_HUNT ?? 2)
const makeController = realControllers(3000)

function bug(name: string, file: string, find: string, replace: string): PlantedBug {
  return { name, file: `core/replication/${file}`, find, replace }
}

/** What the simulation has to find: each breaks one rule of the protocol. */
const bugs: readonly PlantedBug[] = [
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
  bug(
    'a fetch of an older leader epoch counts',
    'follower-fetches.ts',
    'if (currentLeaderEpoch === leaderEpoch) return ErrorCode.none',
    'if (currentLeaderEpoch <= leaderEpoch) return ErrorCode.none',
  ),
  bug(
    'a fetch of a life that the metadata does not know counts',
    'follower-fetches.ts',
    'if (registered?.epoch !== fetch.replicaEpoch) return',
    'if (registered === undefined) return',
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
    'retryLater(replica, open.proposal)\n}',
    'open.leader.isr.withdraw()\n  open.leader.isrChanged()\n}',
  ),
  bug(
    'with flush=ack the own end of a leader counts before it is synced',
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
  bug(
    'a follower takes an epoch to begin with the first record that is left',
    'epoch-search.ts',
    'return baseOffset > log.logEndOffset && firstLeaderEpoch > log.latestEpoch',
    'return false',
  ),
  bug(
    'a follower does not look for epochs of which nothing is left',
    'epoch-search.ts',
    'below > Math.max(log.latestEpoch, 0)',
    'below < 0',
  ),
  bug(
    'compaction removes a tombstone that is still needed',
    'simulation/compactor.ts',
    "return horizonMs !== undefined && horizonMs < nowMs ? 'passed' : 'waits'",
    "return 'passed'",
  ),
  bug(
    'a tombstone is left out like any record, and nobody is told: a deleted key comes back',
    'simulation/compactor.ts',
    "if (!isTombstone) return 'kept'",
    "return isTombstone ? 'replaced' : 'kept'",
  ),
  bug(
    'compaction removes a record of which the map of another pass knows a later one',
    'simulation/compactor.ts',
    'if (lastOffset >= endOffset || count >= maxRecords) break',
    'if (count >= maxRecords) break',
  ),
  bug(
    'a log that is cut in a gap ends with its last batch',
    'simulation/sim-log.ts',
    'this.#endsAt(this.nextOffsetOr(Math.min(endOffset, this.logEndOffset)))',
    'this.#endsAt(this.nextOffsetOr(this.#dropGap(Math.min(endOffset, this.logEndOffset))))',
  ),
]

for (const [index, planted] of bugs.entries()) {
  test(`the simulation finds it when ${planted.name}`, async () => {
    const sources = plantBug(planted)
    const module = await sources.load('core/replication/simulation/run.ts')
    sources.assertPlanted()
    const { run: runPlanted } = module as { readonly run: typeof run }
    const firstSeed = hunt * 1_000_000 + index * 10_000
    let runs = 0
    try {
      while (runs < maxRuns) runPlanted(firstSeed + runs++, makeController)
    } catch {
      if (process.env.REPLICATION_HUNT !== undefined) console.log(`${planted.name}: ${runs} runs`)
      return
    }
    assert.fail(`not found in ${maxRuns} runs`)
  })
}
