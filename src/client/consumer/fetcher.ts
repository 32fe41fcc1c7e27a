import { ErrorCode, errorName, isRetriable, needsMetadata } from '../../base/error-code.ts'
import { zeroUuid } from '../../base/uuid.ts'
import type { Timer } from '../../io/clock.ts'
import type { FetchResponse, PartitionData } from '../../protocol/messages/fetch.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { NodeGate } from '../cluster/node-gate.ts'
import type { Closing } from '../cluster/waiting.ts'
import { brokerError, MillraceError, toMillraceError } from '../millrace-error.ts'
import type { AssignedPartition } from './assigned-partition.ts'
import type { ConsumerConfig } from './consumer-options.ts'
import { fetchApi, fetchBody, forEachPartition, lastVersionWithNames } from './fetch-messages.ts'
import { FetchSession, type WantedPartition } from './fetch-session.ts'
import { FetchedChunk } from './fetched-chunk.ts'
import type { Positions } from './positions.ts'

/** Fetches of one node at the same time, each on a connection of its own: while one waits for records, another brings those of partitions that have room again. */
const fetchesPerNode = 2
/** How much longer than it may wait a fetch may take before its broker is given up. */
const fetchGraceMs = 10_000

interface NodeFetch {
  readonly lane: string
  readonly gate: NodeGate
  readonly session: FetchSession
  isUnderWay: boolean
}

/** A partition in a fetch that is under way. */
interface Asked {
  readonly assigned: AssignedPartition
  readonly version: number
  readonly fetch: { readonly nodeId: number }
  readonly wanted: WantedPartition
}

export interface FetcherOptions {
  readonly cluster: Cluster
  readonly config: ConsumerConfig
  readonly closing: Closing
  readonly positions: Positions
  /** What is to be read, the partitions that have waited longest first. */
  readonly partitions: () => Iterable<AssignedPartition>
  /** There is something to take. */
  readonly arrived: () => void
  /** A partition cannot go on without the application. */
  readonly failed: (error: MillraceError) => void
}

/**
 * Keeps records of all assigned partitions at hand. It looks at all partitions once in a turn in which something happened:
 * those without a position have it looked up, those with room have records fetched, at most twice per node at a time.
 */
export class Fetcher {
  readonly #options: FetcherOptions
  readonly #cluster: Cluster
  readonly #config: ConsumerConfig
  readonly #nodes = new Map<number, NodeFetch[]>()
  readonly #lanes: readonly string[]
  #isScheduled = false
  #timer: Timer | undefined

  constructor(options: FetcherOptions) {
    this.#options = options
    this.#cluster = options.cluster
    this.#config = options.config
    this.#lanes = Array.from({ length: fetchesPerNode }, () => this.#cluster.newLane('fetch'))
    options.closing.onClose(() => {
      this.#timer?.cancel()
      for (const lane of this.#lanes) this.#cluster.closeLane(lane)
    })
  }

  /** Looks at the partitions at the end of this turn. */
  schedule(): void {
    if (this.#isScheduled || this.#options.closing.isClosed) return
    this.#isScheduled = true
    this.#cluster.io.clock.nextTurn(() => {
      this.#isScheduled = false
      if (!this.#options.closing.isClosed) this.#run()
    })
  }

  #run(): void {
    const nowMs = this.#cluster.nowMs
    this.#timer?.cancel()
    let nextMs = Number.POSITIVE_INFINITY
    let bufferedBytes = 0
    const waiting = { unpositioned: [], resetting: [], validating: [], fetching: [] } as Record<
      AssignedPartition['phase'],
      AssignedPartition[]
    >
    for (const partition of this.#options.partitions()) {
      bufferedBytes += partition.bufferedBytes
      const isOfDeletedTopic = this.#isOfDeletedTopic(partition)
      if (!isOfDeletedTopic) this.#notice(partition)
      if (partition.isBusy || partition.fetch !== undefined) continue
      if (partition.notBeforeMs > nowMs) nextMs = Math.min(nextMs, partition.notBeforeMs)
      else if (isOfDeletedTopic) this.#leaveDeletedTopic(partition)
      else waiting[partition.phase].push(partition)
    }
    const { positions } = this.#options
    positions.findCommitted(waiting.unpositioned)
    positions.lookUp(waiting.resetting)
    positions.validate(waiting.validating)
    this.#fetchFrom(waiting.fetching, bufferedBytes, nowMs)
    if (nextMs < Number.POSITIVE_INFINITY) {
      this.#timer = this.#cluster.io.clock.after(nextMs - nowMs, () => this.schedule())
    }
  }

  /** Whether a topic of the same name is there instead of the one that is read: offsets mean something else in it. */
  #isOfDeletedTopic({ topic, topicId }: AssignedPartition): boolean {
    const present = this.#cluster.metadata.topic(topic)?.topicId ?? zeroUuid
    return topicId !== undefined && present !== zeroUuid && present !== topicId
  }

  /** What was fetched ahead of the old topic is handed out first. Then the new one is begun. */
  #leaveDeletedTopic(partition: AssignedPartition): void {
    const { phase, fetched, position, name } = partition
    if (phase === 'fetching' && fetched?.offset !== position?.offset) return
    const text = `${name}: the topic was deleted and created anew; offset ${position?.offset} was one of the old topic`
    this.#cluster.io.log.write('warn', text, { topic: partition.topic, partition: partition.partition })
    partition.committedOffset = -1
    this.#options.positions.resetByPolicy(partition)
    this.schedule()
  }

  /** A leader that has changed may not have what was read, and makes a fetch from the old one pointless. */
  #notice(partition: AssignedPartition): void {
    if (partition.phase !== 'fetching') return
    const state = this.#cluster.metadata.partition(partition.topic, partition.partition)
    if (state === undefined || state.leaderId < 0) return
    const { fetch, preferredReplica } = partition
    if (fetch !== undefined && fetch.nodeId !== state.leaderId && fetch.nodeId !== preferredReplica?.nodeId) {
      partition.fetch = undefined
    }
    if (state.leaderEpoch <= partition.validatedEpoch) return
    if ((partition.fetched?.leaderEpoch ?? -1) < 0) {
      partition.validatedEpoch = state.leaderEpoch
      return
    }
    partition.phase = 'validating'
    partition.fetch = undefined
  }

  #fetchFrom(partitions: readonly AssignedPartition[], bufferedBytes: number, nowMs: number): void {
    if (bufferedBytes >= this.#config.bufferBytes) return
    const byNode = new Map<number, AssignedPartition[]>()
    for (const partition of partitions) {
      if (partition.isPaused || partition.bufferedBytes >= this.#config.partitionMaxBytes) continue
      const nodeId = this.#nodeOf(partition, nowMs)
      if (nodeId !== undefined) byNode.set(nodeId, [...(byNode.get(nodeId) ?? []), partition])
    }
    const maxBytes = Math.min(this.#config.fetchMaxBytes, this.#config.bufferBytes - bufferedBytes)
    for (const [nodeId, ofNode] of byNode) {
      const free = this.#fetchesOf(nodeId).find(({ isUnderWay }) => !isUnderWay)
      if (free?.gate.isOpen(nodeId)) void this.#fetch(nodeId, free, ofNode, maxBytes)
    }
  }

  #nodeOf(partition: AssignedPartition, nowMs: number): number | undefined {
    const { preferredReplica } = partition
    if (preferredReplica !== undefined && preferredReplica.untilMs > nowMs) return preferredReplica.nodeId
    partition.preferredReplica = undefined
    return this.#cluster.leaderOf(partition.topic, partition.partition)?.leaderId
  }

  #fetchesOf(nodeId: number): NodeFetch[] {
    let fetches = this.#nodes.get(nodeId)
    if (fetches === undefined) {
      fetches = this.#lanes.map(lane => ({
        lane,
        gate: new NodeGate(this.#cluster, lane, () => this.schedule()),
        session: new FetchSession(),
        isUnderWay: false,
      }))
      this.#nodes.set(nodeId, fetches)
    }
    return fetches
  }

  async #fetch(nodeId: number, by: NodeFetch, partitions: AssignedPartition[], maxBytes: number): Promise<void> {
    by.isUnderWay = true
    const asked = partitions.map(assigned => this.#ask(nodeId, assigned))
    const session = by.session.next(asked.map(({ wanted }) => wanted))
    const hasIds = asked.every(({ wanted }) => wanted.topicId !== zeroUuid)
    const body = fetchBody(session, this.#config, { maxBytes, rackId: this.#cluster.config.rackId })
    try {
      const answer = await this.#cluster.send(nodeId, fetchApi, body, {
        lane: by.lane,
        timeoutMs: this.#config.fetchMaxWaitMs + fetchGraceMs,
        ...(hasIds ? {} : { maxVersion: lastVersionWithNames }),
      })
      if (answer.errorCode === ErrorCode.none) {
        by.session.answered(answer.sessionId)
        this.#take(asked, answer)
      } else {
        by.session.failed()
        this.#refused(asked, answer.errorCode, session.sessionEpoch)
      }
    } catch (thrown) {
      by.session.failed()
      this.#lost(asked, toMillraceError(thrown))
    }
    by.isUnderWay = false
    for (const { assigned, fetch } of asked) if (assigned.fetch === fetch) assigned.fetch = undefined
    this.schedule()
  }

  #ask(nodeId: number, assigned: AssignedPartition): Asked {
    const { topic, partition, version, fetched } = assigned
    const fetch = { nodeId }
    assigned.fetch = fetch
    const topicId = this.#cluster.metadata.topic(topic)?.topicId ?? zeroUuid
    if (topicId !== zeroUuid) assigned.topicId = topicId
    const wanted = {
      topic,
      topicId,
      partition,
      fetchOffset: fetched?.offset ?? 0,
      currentLeaderEpoch: this.#cluster.metadata.partition(topic, partition)?.leaderEpoch ?? -1,
      partitionMaxBytes: this.#config.partitionMaxBytes,
    }
    return { assigned, version, fetch, wanted }
  }

  #take(asked: readonly Asked[], answer: FetchResponse): void {
    const byName = new Map(asked.map(one => [one.assigned.name, one]))
    const idNames = new Map(asked.map(({ wanted }) => [wanted.topicId, wanted.topic]))
    let hasArrived = false
    forEachPartition(
      answer,
      id => idNames.get(id),
      (topic, data) => {
        const one = byName.get(`${topic}-${data.partitionIndex}`)
        if (one === undefined || !isCurrent(one)) return
        if (data.errorCode === ErrorCode.none) hasArrived = this.#fetched(one, data) || hasArrived
        else this.#partitionFailed(one, data, answer)
      },
    )
    if (hasArrived) this.#options.arrived()
  }

  /** Returns whether there is something to take at once. */
  #fetched({ assigned, wanted }: Asked, data: PartitionData): boolean {
    assigned.failures = 0
    assigned.highWatermark = data.highWatermark
    assigned.lastStableOffset = data.lastStableOffset
    assigned.logStartOffset = data.logStartOffset
    if (data.preferredReadReplica >= 0) this.#prefer(assigned, data.preferredReadReplica)
    if (data.records === null || data.records.length === 0) return false
    const { isReadCommitted, checkCrcs, maxUncompressedBytes } = this.#config
    const chunk = FetchedChunk.scan({
      bytes: data.records,
      abortedTransactions: isReadCommitted ? (data.abortedTransactions ?? []) : undefined,
      checksCrcs: checkCrcs,
      maxUncompressedBytes,
    })
    if (!(chunk instanceof FetchedChunk)) {
      const reason = chunk?.reason ?? 'the broker sent no whole batch'
      this.#corrupt(assigned, chunk?.offset ?? wanted.fetchOffset, reason)
      return false
    }
    if (chunk.nextOffset <= wanted.fetchOffset) {
      this.#corrupt(assigned, wanted.fetchOffset, 'the broker sent only batches from before the offset asked for')
      return false
    }
    const buffered = assigned.add(chunk)
    const slow = chunk.slowBatches()
    if (slow.length === 0) buffered.ready()
    else
      void this.#unpack(assigned, chunk, slow)
        .then(() => buffered.ready())
        .then(this.#options.arrived)
    return slow.length === 0
  }

  async #unpack(assigned: AssignedPartition, chunk: FetchedChunk, slow: ReturnType<FetchedChunk['slowBatches']>) {
    const maxBytes = this.#config.maxUncompressedBytes
    for (const { at, codec, packed: input } of slow) {
      const result = await this.#cluster.io.compute.run({ type: 'decompress', codec, input, maxBytes })
      // What cannot be unpacked is found again, with its reason, when it is read.
      if (result.type === 'done') chunk.unpack(at, result.output)
      if (assigned.isLost) return
    }
  }

  #prefer(assigned: AssignedPartition, nodeId: number): void {
    if (this.#cluster.metadata.broker(nodeId) === undefined) return
    assigned.preferredReplica = { nodeId, untilMs: this.#cluster.nowMs + this.#cluster.config.metadataMaxAgeMs }
  }

  #partitionFailed(
    { assigned, wanted, fetch }: Asked,
    { errorCode, currentLeader, partitionIndex }: PartitionData,
    answer: FetchResponse,
  ): void {
    const wasReplica = assigned.preferredReplica?.nodeId === fetch.nodeId
    assigned.preferredReplica = undefined
    if (errorCode === ErrorCode.offsetOutOfRange) {
      // A replica may be behind, or have less; the leader knows.
      if (!wasReplica) this.#outOfRange(assigned)
      return
    }
    const isAboutLeader = needsMetadata(errorCode) || errorCode === ErrorCode.unknownLeaderEpoch
    const isCurable = isAboutLeader || isRetriable(errorCode) || errorCode === ErrorCode.unknownServerError
    if (errorCode === ErrorCode.corruptMessage) {
      this.#corrupt(assigned, wanted.fetchOffset, 'the broker cannot read it')
      return
    }
    if (!isCurable) {
      assigned.failed(this.#cluster.nowMs, () => giveUpPauseMs)
      this.#options.failed(brokerError(errorCode, assigned.name))
      return
    }
    if (this.#cluster.learnLeader(assigned.topic, partitionIndex, currentLeader, answer.nodeEndpoints)) return
    if (isAboutLeader) this.#cluster.requestRefresh()
    this.#again(assigned)
  }

  #outOfRange(assigned: AssignedPartition): void {
    const { fetched, position } = assigned
    // What was fetched ahead may still be handed out; the position itself is out of range only when all of it is.
    if (fetched?.offset !== position?.offset) {
      this.#again(assigned)
      return
    }
    const text = `${assigned.name}: offset ${position?.offset} is out of range: the log was cut, or its records expired`
    this.#cluster.io.log.write('warn', text, { topic: assigned.topic, partition: assigned.partition })
    this.#options.positions.resetByPolicy(assigned)
  }

  /** The session is unknown, or the whole request was refused. */
  #refused(asked: readonly Asked[], errorCode: ErrorCode, sessionEpoch: number): void {
    const isAboutSession =
      errorCode === ErrorCode.fetchSessionIdNotFound || errorCode === ErrorCode.invalidFetchSessionEpoch
    // A broker forgets sessions that it has no room for. One that refuses to open one is given time.
    if (isAboutSession && sessionEpoch > 0) return
    if (needsMetadata(errorCode) || isRetriable(errorCode)) this.#cluster.requestRefresh()
    else this.#options.failed(brokerError(errorCode, 'fetch'))
    for (const one of asked) if (isCurrent(one)) this.#again(one.assigned)
    this.#cluster.io.log.write('debug', `a fetch was refused: ${errorName(errorCode)}`)
  }

  #lost(asked: readonly Asked[], error: MillraceError): void {
    if (!error.retriable) this.#options.failed(error)
    for (const one of asked) {
      if (!isCurrent(one)) continue
      one.assigned.preferredReplica = undefined
      this.#again(one.assigned)
    }
  }

  #corrupt(assigned: AssignedPartition, offset: number, reason: string): void {
    assigned.failed(this.#cluster.nowMs, () => giveUpPauseMs)
    const text = `${assigned.name}: the batch at offset ${offset} cannot be read: ${reason}. Seek past it, or look at the broker's disk`
    this.#options.failed(
      new MillraceError('CORRUPT_MESSAGE', text, { errorCode: ErrorCode.corruptMessage, retriable: true }),
    )
  }

  #again(assigned: AssignedPartition): void {
    assigned.failed(this.#cluster.nowMs, failures => this.#cluster.retryDelayMs(failures))
  }
}

/** How often an application that does not mind is told that a partition cannot go on. */
const giveUpPauseMs = 5000

/** Whether the partition is still ours, and where it was when it was asked for. */
function isCurrent({ assigned, version, fetch }: Asked): boolean {
  return !assigned.isLost && assigned.version === version && assigned.fetch === fetch
}
