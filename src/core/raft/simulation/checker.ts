import type { PartitionData as VoteRequestPartition } from '../../../protocol/messages/vote.ts'
import type { VotersRecord } from '../../../protocol/records/control.ts'
import type { QuorumEffect } from '../events.ts'
import { differByOneVoter, isReplica, VoterSet } from '../voters.ts'
import type { SimBatch, SimSnapshot } from './sim-log.ts'
import type { SimNode } from './sim-node.ts'

/** A run broke an invariant. */
export class Violation extends Error {
  override readonly name = 'Violation'
}

/** Things a run got to: a simulation that never reaches them proves nothing. */
export interface Reached {
  elections: number
  activations: number
  truncations: number
  snapshotsLoaded: number
  voterChanges: number
  upgrades: number
  committed: number
}

/**
 * Sees all replicas at once, and what has committed since the beginning. The invariants are those of the quorum:
 * election safety and durable votes (I15, I48), one committed log in every later leader (I16), a high watermark that
 * never falls and that a majority holds on disk (I17), authority after an own-epoch commit (I18), snapshots that equal
 * replay (I21), one voter change at a time (I22).
 */
export class Checker {
  readonly reached: Reached = {
    elections: 0,
    activations: 0,
    truncations: 0,
    snapshotsLoaded: 0,
    voterChanges: 0,
    upgrades: 0,
    committed: 0,
  }
  /** The committed log, from offset 0. */
  readonly committed: SimBatch[] = []
  /** By place in `committed`: the epoch of the leader that committed it. */
  readonly #committedIn: number[] = []
  readonly #leaders = new Map<number, string>()
  readonly #votes = new Map<string, string>()
  /** By candidate and epoch: who would vote for it. */
  readonly #preVotes = new Map<string, Set<number>>()
  readonly #batchNames = new Map<string, string>()
  readonly #highWatermarks = new Map<SimNode, number>()
  /** By leader and replica: when it last asked for something. */
  readonly #heardMs = new Map<string, number>()
  #nodes: readonly SimNode[] = []

  watch(nodes: readonly SimNode[]): void {
    this.#nodes = nodes
  }

  fail(what: string): never {
    throw new Violation(what)
  }

  get committedEndOffset(): number {
    return (this.committed.at(-1)?.lastOffset ?? -1) + 1
  }

  committedAt(offset: number): SimBatch | undefined {
    return this.committed[this.#placeOf(offset)]
  }

  #placeOf(offset: number): number {
    let low = 0
    let high = this.committed.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.committed[middle].lastOffset < offset) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The last voter set that committed below `endOffset`. */
  committedVoters(endOffset: number): VotersRecord | undefined {
    for (let i = this.committed.length - 1; i >= 0; i--) {
      if (this.committed[i].baseOffset >= endOffset) continue
      for (const { record } of this.committed[i].controlRecords) if (record.type === 'kraftVoters') return record.value
    }
    return undefined
  }

  started(node: SimNode): void {
    this.#highWatermarks.set(node, 0)
  }

  crashed(node: SimNode): void {
    this.#highWatermarks.delete(node)
  }

  beforeEffect(node: SimNode, effect: QuorumEffect): void {
    switch (effect.type) {
      case 'send':
        if (effect.api === 'vote') this.#asksForVote(node, effect.request.topics[0].partitions[0])
        if (effect.api === 'fetch') this.#fetches(node, effect.request.topics[0].partitions[0].fetchOffset)
        break
      case 'append':
        this.#appends(node, effect)
        break
      case 'truncate':
        this.reached.truncations++
        this.#forgets(node, effect.endOffset, node.log.logEndOffset)
        break
      case 'highWatermark':
        this.#commits(node, effect.offset)
        break
      case 'becameLeader':
        this.#leads(node, effect.leaderEpoch)
        break
      case 'leaderActive':
        this.#activates(node, effect.leaderEpoch)
        break
      default:
        break
    }
  }

  /** A granted vote leaves: it must be the only one of this replica in that epoch, and on disk. */
  grants(node: SimNode, partition: VoteRequestPartition): void {
    const { replicaEpoch: epoch, replicaId } = partition
    if (partition.preVote) {
      const opinion = `${replicaId}:${partition.replicaDirectoryId}@${epoch}`
      this.#preVotes.set(opinion, (this.#preVotes.get(opinion) ?? new Set()).add(node.id))
      return
    }
    this.#votesFor(node, epoch, `${replicaId}:${partition.replicaDirectoryId}`)
    const state = node.directory.quorumState
    const isDurable =
      state !== undefined && (state.leaderEpoch > epoch || (state.leaderEpoch === epoch && state.votedId === replicaId))
    if (!isDurable) this.fail(`node ${node.id} grants a vote in epoch ${epoch} that is not on disk`)
  }

  /** The world made a batch: offset and epoch must name it for ever. */
  names(batch: SimBatch): void {
    const place = `${batch.leaderEpoch}@${batch.baseOffset}`
    if (this.#batchNames.has(place)) this.fail(`two batches at offset and epoch ${place}`)
    this.#batchNames.set(place, batch.name)
  }

  loading(node: SimNode, snapshot: SimSnapshot): void {
    this.reached.snapshotsLoaded++
    if (snapshot.id.endOffset > this.committedEndOffset) this.fail('a snapshot of what has not committed')
    this.#forgets(node, snapshot.id.endOffset, node.log.logEndOffset)
  }

  /** A leader handles a fetch of this replica. */
  hears(node: SimNode, replicaId: number): void {
    this.#heardMs.set(`${node.id} ${replicaId}`, node.world.nowMs)
  }

  /** kraft.version 1 is in force, and nothing takes it back. */
  upgraded({ id, quorum }: SimNode): void {
    this.reached.upgrades++
    if (this.committedVoters(this.committedEndOffset) === undefined) this.fail(`node ${id} has upgraded nothing`)
    if (quorum?.kraftVersion !== 1) this.fail(`node ${id} has kraft.version ${quorum?.kraftVersion} after an upgrade`)
  }

  /** After each turn. */
  settled(node: SimNode): void {
    const { quorum, log } = node
    if (node.ledEpoch !== undefined) this.#checkFollowed(node)
    if (quorum === undefined || node.isChangingLog) return
    const expected = votersInLog(node)
    if (expected !== undefined && textOf(expected) !== textOf(quorum.voters)) {
      this.fail(`node ${node.id} has voters ${textOf(quorum.voters)}, its log ${textOf(expected)}`)
    }
    if (log.logStartOffset > 0 && (log.latestSnapshotId?.endOffset ?? -1) < log.logStartOffset) {
      this.fail(`node ${node.id} has no snapshot at its log start`)
    }
  }

  /** A leader without followers gives up: 1.5 fetch timeouts, by a clock that may be slow. */
  #checkFollowed(node: SimNode): void {
    const { voters } = node.quorum!
    const { nowMs, timeouts } = node.world
    const patienceMs = (1.5 * timeouts.fetchTimeoutMs) / 0.95 + 1
    const lastMs = (id: number) => (id === node.id ? nowMs : (this.#heardMs.get(`${node.id} ${id}`) ?? 0))
    const heard = voters.voters.filter(({ id }) => nowMs - Math.max(lastMs(id), node.ledSinceMs) <= patienceMs)
    if (heard.length < voters.majority) this.fail(`node ${node.id} leads without a majority that follows`)
  }

  #asksForVote(node: SimNode, partition: VoteRequestPartition): void {
    if (partition.preVote) return
    this.#votesFor(node, partition.replicaEpoch, `${node.id}:${node.directory.directoryId}`)
    const state = node.directory.quorumState
    if (state === undefined || state.leaderEpoch < partition.replicaEpoch) {
      this.fail(`node ${node.id} asks for votes in an epoch that is not on disk`)
    }
    this.#checkPreVotes(node, partition.replicaEpoch)
  }

  /** Nobody starts an epoch that it could not win: a node that is cut off does not disturb the others (I68). */
  #checkPreVotes(node: SimNode, epoch: number): void {
    const { directoryId } = node.directory
    const { voters } = node.quorum!
    const supporters = this.#preVotes.get(`${node.id}:${directoryId}@${epoch - 1}`) ?? new Set<number>()
    const own = voters.has({ id: node.id, directoryId }) ? 1 : 0
    const count = own + voters.voters.filter(({ id }) => id !== node.id && supporters.has(id)).length
    if (count < voters.majority) this.fail(`node ${node.id} starts epoch ${epoch} with ${count} supporters`)
  }

  #votesFor(node: SimNode, epoch: number, candidate: string): void {
    const voter = `${node.id}:${node.directory.directoryId}@${epoch}`
    const before = this.#votes.get(voter)
    if (before !== undefined && before !== candidate) this.fail(`${voter} votes for ${before} and ${candidate}`)
    this.#votes.set(voter, candidate)
  }

  #fetches(node: SimNode, fetchOffset: number): void {
    if (!node.log.isDurableTo(fetchOffset)) this.fail(`node ${node.id} fetches at ${fetchOffset}, which is not synced`)
  }

  #leads(node: SimNode, epoch: number): void {
    this.reached.elections++
    const before = this.#leaders.get(epoch)
    const name = `${node.id}:${node.directory.directoryId}`
    if (before !== undefined) this.fail(`epoch ${epoch} is led by ${before} and ${name}`)
    this.#leaders.set(epoch, name)
    for (let i = this.committed.length - 1; i >= 0; i--) {
      const batch = this.committed[i]
      if (batch.baseOffset < node.log.logStartOffset) break
      // A leader of an older epoch may be elected late; it commits nothing any more.
      if (this.#committedIn[i] > epoch) continue
      const own = node.log.at(batch.baseOffset)
      if (own?.name !== batch.name) this.fail(`leader ${node.id} of epoch ${epoch} lacks committed ${batch.name}`)
    }
    if (node.log.logStartOffset > this.committedEndOffset) this.fail('a log that starts above what has committed')
  }

  #activates(node: SimNode, epoch: number): void {
    this.reached.activations++
    if (this.#leaders.get(epoch) !== `${node.id}:${node.directory.directoryId}`)
      this.fail('active without being elected')
    if (!this.committed.some(batch => batch.leaderEpoch === epoch)) {
      this.fail(`node ${node.id} is active in epoch ${epoch}, of which nothing has committed`)
    }
  }

  #appends(node: SimNode, effect: QuorumEffect & { type: 'append' }): void {
    if (effect.batch.type === 'records') {
      if (node.activeEpoch !== effect.leaderEpoch) this.fail(`node ${node.id} appends without being active`)
      return
    }
    const before = votersInLog(node)
    for (const record of effect.batch.records) {
      if (record.type !== 'kraftVoters') continue
      const after = VoterSet.fromRecord(record.value)
      if (before === undefined) {
        this.#upgrades(node, after)
        continue
      }
      if (textOf(before) === textOf(after)) continue
      this.reached.voterChanges++
      if (!differByOneVoter(before, after)) this.fail(`voters ${textOf(before)} become ${textOf(after)} at once`)
      if (votersOffsetInLog(node) >= this.committedEndOffset) this.fail(`node ${node.id} has two open voter changes`)
      if (node.activeEpoch !== effect.leaderEpoch) this.fail(`node ${node.id} changes voters without being active`)
    }
  }

  /** From static voters to the same in the log, each with the directory that it has. */
  #upgrades(node: SimNode, after: VoterSet): void {
    const expected = node.world.staticVoters?.voters.map(({ id }) => {
      return `${id}:${this.#nodes.find(one => one.id === id)?.directory.directoryId}`
    })
    if (textOf(after) !== expected?.join(' ')) this.fail(`node ${node.id} upgrades to voters ${textOf(after)}`)
    if (node.activeEpoch === undefined) this.fail(`node ${node.id} upgrades without being active`)
  }

  /** A replica gives up what it has in [from, to). What has committed it must never give up. */
  #forgets(node: SimNode, from: number, to: number): void {
    const { epoch } = node.quorum!
    for (const batch of node.log.batches) {
      if (batch.lastOffset < from || batch.baseOffset >= to) continue
      const at = this.#placeOf(batch.baseOffset)
      // A leader elected late may lack what a newer one committed, and its followers with it: theirs did not count.
      if (this.committed[at]?.name === batch.name && this.#committedIn[at] <= epoch) {
        this.fail(`node ${node.id} gives up committed ${batch.name}`)
      }
    }
  }

  #commits(node: SimNode, offset: number): void {
    const before = this.#highWatermarks.get(node) ?? 0
    if (offset < before) this.fail(`the high watermark of node ${node.id} falls from ${before} to ${offset}`)
    this.#highWatermarks.set(node, offset)
    for (const batch of node.log.batches) {
      if (batch.lastOffset < node.appliedOffset) continue
      if (batch.lastOffset >= offset) break
      if (batch.baseOffset < this.committedEndOffset) {
        const committed = this.committedAt(batch.baseOffset)
        if (committed?.name !== batch.name) {
          this.fail(`node ${node.id} takes ${batch.name} for committed instead of ${committed?.name}`)
        }
      } else this.#commitsNew(node, batch, offset)
    }
  }

  #commitsNew(node: SimNode, batch: SimBatch, highWatermark: number): void {
    if (node.ledEpoch === undefined) this.fail(`node ${node.id} commits ${batch.name} without leading`)
    if (batch.lastOffset + 1 === highWatermark) {
      if (batch.leaderEpoch !== node.ledEpoch) this.fail(`node ${node.id} commits ${batch.name} of an older epoch`)
      this.#checkMajority(node, batch)
    }
    this.committed.push(batch)
    this.#committedIn.push(node.ledEpoch)
    this.reached.committed++
  }

  #checkMajority(leader: SimNode, batch: SimBatch): void {
    const voters = leader.quorum!.voters
    const holders = voters.voters.filter(voter => {
      const node = this.#nodes.find(({ id, directory: { directoryId } }) => isReplica(voter, { id, directoryId }))
      // A disk that was lost since it answered had it then.
      if (node === undefined) return true
      return node.log.durablyAt(batch.lastOffset)?.name === batch.name || node.log.logStartOffset > batch.lastOffset
    })
    if (holders.length < voters.majority) {
      this.fail(
        `node ${leader.id} commits ${batch.name}, which only ${holders.map(({ id }) => id)} of ${textOf(voters)} hold`,
      )
    }
  }
}

function votersInLog(node: SimNode): VoterSet | undefined {
  for (let i = node.log.batches.length - 1; i >= 0; i--) {
    for (const { record } of node.log.batches[i].controlRecords) {
      if (record.type === 'kraftVoters') return VoterSet.fromRecord(record.value)
    }
  }
  for (const record of [...node.log.snapshots.values()].at(-1)?.controlRecords ?? []) {
    if (record.type === 'kraftVoters') return VoterSet.fromRecord(record.value)
  }
  return undefined
}

function votersOffsetInLog(node: SimNode): number {
  for (let i = node.log.batches.length - 1; i >= 0; i--) {
    for (const { offset, record } of node.log.batches[i].controlRecords)
      if (record.type === 'kraftVoters') return offset
  }
  return -1
}

function textOf(voters: VoterSet): string {
  return voters.voters.map(({ id, directoryId }) => `${id}:${directoryId}`).join(' ')
}
