import { ErrorCode } from '../../../base/error-code.ts'
import type {
  FetchAnswer,
  FetchVerdict,
  FollowerFetch,
  ListedEpochEnd,
  ListedOffset,
  ReplicationEffect,
} from '../events.ts'
import type { SimBroker } from './sim-broker.ts'
import { isLeftOut, type SimBatch } from './sim-log.ts'

type Send = ReplicationEffect & { readonly type: 'fetch' | 'listOffset' | 'offsetForLeaderEpoch' }
type Answer = ReplicationEffect & { readonly type: 'answerFetch' }

interface Waiting {
  readonly fetch: FollowerFetch
  readonly deadlineMs: number
}

const noBatches: readonly SimBatch[] = []
const nothingAnswered = { correlationId: 0, batches: noBatches }
const maxWaitMs = 200
/** A request without an answer is given up after this time. */
const timeoutMs = 700

/** A broker's fetches, as the one who asks and as the one who answers. */
export class FetchServer {
  readonly #broker: SimBroker
  readonly #reply = new Map<number, (verdict: FetchVerdict, batches: readonly SimBatch[]) => void>()
  #waiting: Waiting[] = []
  #requests = 0
  /** What the newest request of this life that was answered was answered with, each time that it arrived. */
  #answered: { readonly correlationId: number; readonly batches: readonly SimBatch[] } = nothingAnswered

  constructor(broker: SimBroker) {
    this.#broker = broker
  }

  end(): void {
    this.#reply.clear()
    this.#waiting = []
    this.#answered = nothingAnswered
  }

  /** Batches that may still get into the log, as they were when they were read. Those of older requests are not taken. */
  get underWay(): readonly SimBatch[] {
    return this.#answered.batches
  }

  send(effect: Send): void {
    const broker = this.#broker
    const { world, life, brokerEpoch: replicaEpoch = -1, id: replicaId } = broker
    const { correlationId } = effect
    const target = world.broker(effect.leader)
    broker.later(timeoutMs, () => broker.handle({ type: 'requestFailed', correlationId }))
    if (target === undefined) return
    // The connection ends with the life that asked: an answer to it does not reach the next one, which counts anew.
    const deliver = broker.inThisLife((answer: () => void) => answer())
    const back = (answer: () => void) => world.carry(target.id, replicaId, () => deliver(answer))
    const arrive = () => {
      if (!target.isUp) return back(() => broker.handle({ type: 'requestFailed', correlationId }))
      target.inThisLife(() => {
        if (effect.type === 'listOffset') {
          const answer = target.fetches.listOffset(effect)
          back(() => broker.handle({ type: 'offsetListed', correlationId, answer }))
          return
        }
        if (effect.type === 'offsetForLeaderEpoch') {
          const answer = target.fetches.offsetForLeaderEpoch(effect)
          back(() => broker.handle({ type: 'epochEndListed', correlationId, answer }))
          return
        }
        const { type: _type, correlationId: _id, leader: _leader, ...position } = effect
        const fetch = { replicaId, replicaEpoch, ...position }
        target.fetches.receive(fetch, (answer, batches) => {
          if (broker.life === life) this.#isUnderWay(correlationId, batches)
          back(() => this.#receive(correlationId, answer, batches))
        })
      })()
    }
    world.carry(replicaId, target.id, arrive)
  }

  #isUnderWay(correlationId: number, batches: readonly SimBatch[]): void {
    const { correlationId: newestId, batches: others } = this.#answered
    if (correlationId > newestId) this.#answered = { correlationId, batches }
    else if (correlationId === newestId) this.#answered = { correlationId, batches: [...others, ...batches] }
  }

  /**
   * What the shell makes of the bytes: whole batches, checked, up to the epoch that this replica knows, and up to a newer one
   * that does not follow at once.
   */
  #receive(correlationId: number, answer: Omit<FetchAnswer, 'records'>, batches: readonly SimBatch[]): void {
    const { world, replication } = this.#broker
    const known = runOf(batches.filter(batch => batch.leaderEpoch <= (replication?.leaderEpoch ?? -1)))
    const first = known.find(batch => !isLeftOut(batch))
    let records: FetchAnswer['records']
    if (first !== undefined) {
      const last = known.at(-1)!
      const { baseOffset } = first
      const isDamaged = world.random.chance(world.damageProbability)
      const { lastOffset, leaderEpoch: lastLeaderEpoch } = last
      const leaderEpochs = { firstLeaderEpoch: first.leaderEpoch, lastLeaderEpoch }
      records = isDamaged ? 'damaged' : { baseOffset, lastOffset, ...leaderEpochs, bytes: world.bytesOf(known) }
    }
    this.#broker.handle({ type: 'fetched', correlationId, answer: { ...answer, records } })
  }

  receive(
    fetch: Omit<FollowerFetch, 'requestId'>,
    reply: (answer: Omit<FetchAnswer, 'records'>, batches: readonly SimBatch[]) => void,
  ): void {
    const requestId = ++this.#requests
    const { replication, log } = this.#broker
    this.#reply.set(requestId, (verdict, batches) => {
      const isRead = verdict.type === 'read'
      reply(
        {
          errorCode: verdict.type === 'refused' ? verdict.errorCode : ErrorCode.none,
          highWatermark: verdict.type === 'refused' ? -1 : log.highWatermark,
          logStartOffset: verdict.type === 'refused' ? -1 : log.logStartOffset,
          divergingEpoch: verdict.type === 'diverging' ? verdict : { epoch: -1, endOffset: -1 },
        },
        isRead ? batches : noBatches,
      )
    })
    const unknown = ErrorCode.unknownTopicOrPartition
    if (replication === undefined) this.#finish(requestId, { type: 'refused', errorCode: unknown }, noBatches)
    else this.#broker.handle({ type: 'fetch', requestId, ...fetch })
  }

  answer({ fetch, verdict }: Answer): void {
    const { log, world } = this.#broker
    this.#broker.world.checker.answers(this.#broker, fetch, verdict)
    if (verdict.type !== 'read' || fetch.fetchOffset < log.logEndOffset) {
      this.#finish(fetch.requestId, verdict, this.#read(fetch))
      return
    }
    this.#waiting.push({ fetch, deadlineMs: world.nowMs + maxWaitMs })
    this.#broker.later(maxWaitMs, () => this.wake())
  }

  /** Offsets have moved, or time has passed, or this broker leads no more. */
  wake(): void {
    const { replication, world, log } = this.#broker
    const waiting = this.#waiting
    this.#waiting = []
    for (const one of waiting) {
      const { fetch, deadlineMs } = one
      const isLed = replication?.isLeader === true && replication.leaderEpoch === fetch.currentLeaderEpoch
      const errorCode = ErrorCode.notLeaderOrFollower
      if (!isLed) this.#finish(fetch.requestId, { type: 'refused', errorCode }, noBatches)
      else if (fetch.fetchOffset < log.logEndOffset || world.nowMs >= deadlineMs || world.random.chance(0.1)) {
        this.#finish(fetch.requestId, { type: 'read' }, this.#read(fetch))
      } else this.#waiting.push(one)
    }
  }

  listOffset({ currentLeaderEpoch, timestamp }: Send & { readonly type: 'listOffset' }): ListedOffset {
    const { log } = this.#broker
    const errorCode = this.#checkLeads(currentLeaderEpoch)
    if (errorCode !== ErrorCode.none) return { errorCode, offset: -1 }
    return { errorCode, offset: timestamp === -1 ? log.logEndOffset : log.logStartOffset }
  }

  offsetForLeaderEpoch(asked: Send & { readonly type: 'offsetForLeaderEpoch' }): ListedEpochEnd {
    const errorCode = this.#checkLeads(asked.currentLeaderEpoch)
    if (errorCode !== ErrorCode.none) return { errorCode, leaderEpoch: -1, endOffset: -1 }
    return { errorCode, ...this.#broker.log.endOffsetForEpoch(asked.leaderEpoch) }
  }

  #checkLeads(currentLeaderEpoch: number): ErrorCode {
    const { replication } = this.#broker
    const leaderEpoch = replication?.leaderEpoch ?? -1
    if (currentLeaderEpoch < leaderEpoch) return ErrorCode.fencedLeaderEpoch
    if (currentLeaderEpoch > leaderEpoch) return ErrorCode.unknownLeaderEpoch
    return replication?.isLeader === true ? ErrorCode.none : ErrorCode.notLeaderOrFollower
  }

  #read({ fetchOffset }: FollowerFetch): readonly SimBatch[] {
    return this.#broker.log.read(fetchOffset, 1 + this.#broker.world.random.below(20))
  }

  #finish(requestId: number, verdict: FetchVerdict, batches: readonly SimBatch[]): void {
    const reply = this.#reply.get(requestId)
    this.#reply.delete(requestId)
    reply?.(verdict, batches)
  }
}

/** As `checkBatchRun` ends it: what was left out at its end travels with what follows. */
function runOf(batches: readonly SimBatch[]): readonly SimBatch[] {
  let length = 0
  for (let i = 0; i < batches.length; i++) {
    if (isLeftOut(batches[i])) continue
    const before = batches[length - 1]
    const isGap = before !== undefined && batches[i].baseOffset > before.lastOffset + 1
    if (isGap && batches[i].leaderEpoch > before.leaderEpoch) break
    length = i + 1
  }
  return batches.slice(0, length)
}
