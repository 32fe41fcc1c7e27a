import type { FetchVerdict, FollowerFetch, ReplicationEffect } from '../events.ts'
import type { ClusterState } from './cluster-controller.ts'
import { ContentChecker } from './content-checker.ts'
import { checkJoined, checkShape } from './controller-checks.ts'
import { Ledger } from './ledger.ts'
import { nothingReached, Violation } from './outcome.ts'
import type { SimBroker } from './sim-broker.ts'
import { isLeftOut, type SimBatch } from './sim-log.ts'
import type { World } from './world.ts'

/**
 * Sees all replicas at once, and what has been committed since the beginning (I1, I2). Checks when it happens: that a batch has
 * one place and one predecessor for ever (I3), that what is committed is on all in-sync replicas and those are enough (I10),
 * that no follower shows more (I9), that those who may be elected have it all (I11), who joins (I13), who must not be in
 * sync (I14), the shape of the metadata (I12), and that nobody gives up what is committed, unless the ledger allows it.
 */
export class Checker {
  readonly states: ClusterState[] = []
  readonly ledger: Ledger
  readonly content: ContentChecker
  readonly reached = nothingReached()
  readonly #world: World
  /** Leaders of older epochs lack nothing that counts, but may still hold what is lost. */
  #firstEpochAfterLoss = 0
  readonly #epochsWithLoss = new Set<number>()
  /** By place (epoch and offset) the name of the batch, by name the name of the one before. */
  readonly #nameAt = new Map<string, string>()
  readonly #leaders = new Map<number, string>()
  /** Of each broker that leads: how far its followers have fetched in its epoch, each in the life that it knows. */
  readonly #fetched = new Map<SimBroker, Map<number, number>>()
  /** Of each broker that leads: what was committed when it was elected. */
  readonly #committedBefore = new Map<SimBroker, number>()

  constructor(world: World) {
    this.#world = world
    this.ledger = new Ledger(world.rules)
    this.content = new ContentChecker(world, this)
  }

  /** Whether some of what was committed may be lost rightly. */
  get hasLoss(): boolean {
    return this.#epochsWithLoss.size > 0
  }

  fail(what: string): never {
    throw new Violation(what)
  }

  /** The predecessor of a batch whose leader has nothing below it any more. */
  nameBefore(offset: number): string {
    return this.ledger.at(offset - 1)?.name ?? ''
  }

  ended(broker: SimBroker): void {
    this.#committedBefore.delete(broker)
    this.#fetched.delete(broker)
  }

  /** What the broker has written in the last life that was registered, and before, may be gone. */
  lossyFailure({ id }: SimBroker): void {
    this.ledger.failedLossily(id, this.#epochOf(id))
  }

  #epochOf(brokerId: number): number {
    return this.#world.controller.state.brokers.get(brokerId)?.epoch ?? -1
  }

  stateChanged(before: ClusterState | undefined, after: ClusterState): void {
    this.states.push(after)
    checkShape(this, this.#world.rules, before, after)
    if (before === undefined) return
    checkJoined(this, this.#world, before, after)
    this.#checkCandidates(after)
  }

  /** Whoever may be elected without loss, and runs in the life that the controller knows, has all that is committed. */
  #checkCandidates({ partition, brokers }: ClusterState): void {
    for (const id of [...partition.isr, ...partition.elr]) {
      const broker = this.#world.broker(id)!
      if (!broker.isUp || broker.brokerEpoch !== brokers.get(id)?.epoch || this.ledger.mayHaveLost(id)) continue
      const missing = this.ledger.firstMissing(broker.log)
      if (missing !== undefined && !this.ledger.mayLose(missing)) {
        this.fail(`${id} may be elected and lacks committed ${missing}`)
      }
    }
  }

  beforeEffect(broker: SimBroker, effect: ReplicationEffect): void {
    switch (effect.type) {
      case 'becameLeader':
        this.#leads(broker, effect.leaderEpoch)
        break
      case 'alterPartition':
        this.#proposes(
          broker,
          effect.isr.map(({ brokerId, brokerEpoch }) => [brokerId, brokerEpoch]),
        )
        break
      case 'fetch':
        if (broker.flushBeforeAck && broker.log.flushedOffset < effect.fetchOffset) {
          this.fail(`${broker.id} fetches at ${effect.fetchOffset}, which is not synced`)
        }
        break
      case 'truncate':
        this.reached.truncations++
        this.#forgets(broker, effect.endOffset)
        break
      case 'truncateFully':
        this.reached.startedAnew++
        if (effect.startOffset > this.ledger.endOffset && this.#epochsWithLoss.size === 0) {
          this.fail('a log begins above what is committed')
        }
        break
      case 'committedLost':
        if (this.#epochsWithLoss.size === 0) this.fail(`${broker.id} says that committed records are lost`)
        break
      default:
        break
    }
  }

  answers(broker: SimBroker, fetch: FollowerFetch, verdict: FetchVerdict): void {
    if (verdict.type === 'diverging') this.reached.divergences++
    const isOfEpoch = fetch.currentLeaderEpoch === broker.replication?.leaderEpoch
    if (verdict.type !== 'read' || !isOfEpoch || broker.broker(fetch.replicaId)?.epoch !== fetch.replicaEpoch) return
    const before = this.#fetched.get(broker)?.get(fetch.replicaId) ?? 0
    this.#fetched.get(broker)?.set(fetch.replicaId, Math.max(before, fetch.fetchOffset))
  }

  #leads(broker: SimBroker, leaderEpoch: number): void {
    this.reached.leaderships++
    const life = `${broker.id} in life ${broker.life}`
    const before = this.#leaders.get(leaderEpoch)
    if (before !== undefined) this.fail(`epoch ${leaderEpoch} is led by ${before} and by ${life}`)
    this.#leaders.set(leaderEpoch, life)
    this.#fetched.set(broker, new Map())
    this.checkEpochs(broker)
    this.#checkComplete(broker, leaderEpoch)
    this.#checkHighWatermark(broker, leaderEpoch)
    const isCurrent = leaderEpoch === this.#world.controller.state.partition.leaderEpoch
    this.#committedBefore.set(broker, isCurrent ? this.ledger.endOffset : 0)
    this.content.check(broker)
  }

  /** Where each epoch but the first of all began is known, also where compaction has left nothing of its first batches (I5). */
  checkEpochs({ id, log }: SimBroker): void {
    for (const { leaderEpoch, startOffset } of log.epochs.entries) {
      const at = log.at(startOffset)
      if (at === undefined || leaderEpoch === 0) continue
      const isBeginning = at.baseOffset === startOffset || startOffset === log.logStartOffset
      const isFirst = startOffset === log.logStartOffset || log.at(startOffset - 1)?.leaderEpoch !== leaderEpoch
      if (at.leaderEpoch !== leaderEpoch || !isBeginning || !isFirst)
        this.fail(`broker ${id} has epoch ${leaderEpoch} at ${startOffset}, where ${at.name} is`)
    }
  }

  /** A leader has everything that is committed; what it lacks is lost, which the ledger must allow. */
  #checkComplete({ id, log }: SimBroker, leaderEpoch: number): void {
    const missing = this.ledger.firstMissing(log, leaderEpoch)
    const isCurrent = leaderEpoch === this.#world.controller.state.partition.leaderEpoch
    if (missing === undefined) {
      if (isCurrent) this.#completeLeader(id, leaderEpoch)
      return
    }
    if (!this.ledger.mayLose(missing)) this.fail(`leader ${id} of epoch ${leaderEpoch} lacks committed ${missing}`)
    this.#epochsWithLoss.add(leaderEpoch)
    // Who learns late that it was elected, and is not leader any more, can commit nothing, so nothing is lost by it.
    if (!isCurrent) return
    this.reached.losses++
    this.content.lost()
    this.ledger.joined(id, this.#epochOf(id))
    this.ledger.lose(missing)
    this.#firstEpochAfterLoss = leaderEpoch
  }

  /** In sync and complete, however it came to lead. The one before may go on and commit what this one does not know. */
  #completeLeader(id: number, leaderEpoch: number): void {
    this.ledger.joined(id, this.#epochOf(id))
    if (!this.#world.controller.state.partition.isRecovering) return
    this.#epochsWithLoss.add(leaderEpoch)
    this.#firstEpochAfterLoss = leaderEpoch
  }

  /** A new leader shows no more than was committed; only after a loss may it know of what others have lost, which is back. */
  #checkHighWatermark({ id, log }: SimBroker, leaderEpoch: number): void {
    if (leaderEpoch !== this.#world.controller.state.partition.leaderEpoch) return
    for (;;) {
      const offset = Math.max(this.ledger.endOffset, log.copiedFrom)
      if (offset >= log.highWatermark) return
      const batch = log.at(offset)
      if (this.#epochsWithLoss.size === 0 || batch === undefined) this.fail(`leader ${id} shows more than is committed`)
      this.ledger.commit(batch, { inEpoch: leaderEpoch, holders: [id] })
      this.content.committed(batch)
    }
  }

  /** Who is to join has what the leader has, up to its high watermark and the beginning of its epoch. */
  #proposes(leader: SimBroker, isr: (readonly [number, number])[]): void {
    const { replication, log } = leader
    const isExpansion = isr.length > (replication?.isr.length ?? 0)
    this.reached[isExpansion ? 'expansions' : 'shrinks']++
    const { endOffset } = log.epochs.entries.at(-1)
      ? { endOffset: log.epochs.entries.at(-1)!.startOffset }
      : { endOffset: 0 }
    // What a deposed leader asks for is refused.
    if (replication?.leaderEpoch !== this.#world.controller.state.partition.leaderEpoch) return
    for (const [id, epoch] of isr) {
      const follower = this.#world.broker(id)!
      if (replication?.isr.includes(id) || this.#isAbandoned(leader)) continue
      if (!follower.isUp || follower.brokerEpoch !== epoch) continue
      const needed = Math.max(log.highWatermark, endOffset)
      if (follower.log.logEndOffset < needed) this.fail(`${id} is to join below ${needed}`)
      const last = log.at(needed - 1)
      if (last !== undefined && follower.log.logStartOffset < needed && follower.log.at(needed - 1)?.name !== last.name)
        this.fail(`${id} is to join with another log`)
    }
  }

  /** Batches on their way into a log: each has one predecessor, on every replica. */
  appends(broker: SimBroker, batches: readonly SimBatch[]): void {
    const { log } = broker
    if (batches.some(isLeftOut)) this.reached.gapsFollowed++
    // Below the start of a leader's log there is nothing to compare with.
    const startOffset = Math.max(...this.#world.brokers.map(other => other.log.logStartOffset))
    let previous = log.batches.at(-1)?.name
    let epoch = log.batches.at(-1)?.leaderEpoch ?? -1
    for (const batch of batches) {
      if (previous !== undefined && batch.previous !== previous && batch.baseOffset > startOffset) {
        this.fail(`${broker.id} appends ${batch.name} after ${previous} instead of ${batch.previous}`)
      }
      if (batch.leaderEpoch < epoch) this.fail(`${broker.id} appends epoch ${batch.leaderEpoch} after ${epoch}`)
      previous = batch.name
      epoch = batch.leaderEpoch
    }
  }

  /** What is written may be shown: offset and epoch name it for ever. */
  written({ log }: SimBroker): void {
    for (let i = log.batches.length - 1; i >= 0; i--) {
      const { name, baseOffset, lastOffset, leaderEpoch } = log.batches[i]
      if (lastOffset >= log.logEndOffset) continue
      const place = `${leaderEpoch}@${baseOffset}`
      const known = this.#nameAt.get(place)
      if (known === name) break
      if (known !== undefined) this.fail(`two batches at epoch and offset ${place}: ${known} and ${name}`)
      this.#nameAt.set(place, name)
    }
  }

  highWatermark(broker: SimBroker, offset: number): void {
    const { log, replication } = broker
    if (offset < log.highWatermark) this.fail(`the high watermark of ${broker.id} falls to ${offset}`)
    if (this.#isAbandoned(broker)) return
    for (let at = Math.max(log.highWatermark, log.logStartOffset); at < offset; ) {
      const batch = log.at(at)
      if (batch === undefined) this.fail(`${broker.id} shows ${at}, which it does not have`)
      if (at < this.ledger.endOffset) {
        const committed = this.ledger.at(at)
        // Below the log of the leader that was elected with a loss nobody knows what was committed.
        const isKnown = committed !== undefined || !this.hasLoss
        if (isKnown && committed?.name !== batch.name) {
          this.fail(`${broker.id} shows ${batch.name} at ${at}, where ${committed?.name} is committed`)
        }
      } else if (replication?.isLeader) this.#commits(broker, batch)
      else this.fail(`follower ${broker.id} shows ${batch.name}, which is not committed`)
      at = batch.lastOffset + 1
    }
    const before = this.#committedBefore.get(broker) ?? 0
    if (replication?.isHighWatermarkCurrent && offset < Math.min(before, this.ledger.endOffset)) {
      this.fail(`${broker.id} takes ${offset} for the high watermark, which was ${before} when it was elected`)
    }
  }

  /** It leads or follows in an epoch that is over, and of which records were lost, or whose leader lacks some. */
  #isAbandoned({ replication }: SimBroker): boolean {
    const leaderEpoch = replication?.leaderEpoch ?? -1
    const isCurrent = leaderEpoch === this.#firstEpochAfterLoss
    return leaderEpoch < this.#firstEpochAfterLoss || (!isCurrent && this.#epochsWithLoss.has(leaderEpoch))
  }

  #commits(leader: SimBroker, batch: SimBatch): void {
    const { rules, controller } = this.#world
    const isr = leader.replication!.isr
    const needed = Math.min(rules.minInsyncReplicas, rules.replicas.length)
    for (const id of isr) {
      const fetchedTo = id === leader.id ? batch.lastOffset + 1 : (this.#fetched.get(leader)?.get(id) ?? 0)
      if (fetchedTo <= batch.lastOffset)
        this.fail(`${leader.id} commits ${batch.name}, which ${id} has not fetched past`)
    }
    if (isr.length < needed) this.fail(`${leader.id} commits ${batch.name} with ${isr} in sync`)
    const { partition } = controller.state
    const isInForce = partition.leaderEpoch === leader.replication!.leaderEpoch
    const holders = new Set([...isr, ...(isInForce ? partition.isr : [])])
    for (const id of holders) {
      const holder = this.#world.broker(id)!
      const endOffset = holder.flushBeforeAck ? holder.log.flushedOffset : holder.log.logEndOffset
      const holds = batch.lastOffset < endOffset && holder.log.at(batch.lastOffset)?.name === batch.name
      if (!holds && !this.ledger.mayHaveLost(id) && holder.log.logStartOffset <= batch.lastOffset) {
        this.fail(`${leader.id} commits ${batch.name} at ${batch.baseOffset}, which ${id} does not hold`)
      }
    }
    this.ledger.commit(batch, { inEpoch: leader.replication!.leaderEpoch, holders: [...holders] })
    this.content.committed(batch)
    this.reached.committed++
    this.#checkCandidates(controller.state)
  }

  /** A broker gives up what it has from `endOffset` on. What is committed, as its leader knew, it must never give up. */
  #forgets(broker: SimBroker, endOffset: number): void {
    if (this.#isAbandoned(broker)) return
    const { batches } = broker.log
    for (let i = batches.length - 1; i >= 0 && batches[i].lastOffset >= endOffset; i--) {
      const { baseOffset, name } = batches[i]
      if (this.ledger.at(baseOffset, broker.replication?.leaderEpoch)?.name === name)
        this.fail(`${broker.id} gives up committed ${name} at ${baseOffset}`)
    }
  }

  /** Also where compaction has left nothing: offsets that were committed are not given to other records. */
  truncates(broker: SimBroker, endOffset: number): void {
    const { log, replication } = broker
    const heldTo = () => this.ledger.firstMissing(log, replication?.leaderEpoch) ?? Number.POSITIVE_INFINITY
    // Below its start it held nothing.
    const before = endOffset > log.logStartOffset ? heldTo() : 0
    log.truncate(endOffset)
    const after = heldTo()
    if (after < Math.min(before, endOffset) && !this.#isAbandoned(broker))
      this.fail(`${broker.id} ends at ${log.logEndOffset} when it is cut at ${endOffset}, and lacks committed ${after}`)
  }

  acknowledged(broker: SimBroker, batch: SimBatch): void {
    this.reached.acknowledged++
    if (!this.#isAbandoned(broker) && this.ledger.at(batch.baseOffset)?.name !== batch.name) {
      this.fail(`${batch.name} is acknowledged and not committed`)
    }
  }
}
