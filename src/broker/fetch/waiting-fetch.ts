import { ErrorCode } from '../../base/error-code.ts'
import type { AbortedTransaction, LogRead, ReadIsolation, ReadRefusal } from '../../core/log/partition-log.ts'
import type { FileRange } from '../../io/disk.ts'
import { freeBytes } from '../../records/compression/free-bytes.ts'
import type { Deadline } from '../deadlines.ts'
import type { Partition, PartitionWatch, PartitionWatcher } from '../partition.ts'
import type { FetchPartition } from './fetch-session.ts'

const noBytes = Buffer.alloc(0)

/** What one partition gave. */
export interface FetchResult {
  readonly wanted: FetchPartition
  readonly errorCode: ErrorCode
  /** This broker does not have the partition, nor should it. */
  readonly isAbsent: boolean
  readonly highWatermark: number
  readonly lastStableOffset: number
  readonly logStartOffset: number
  readonly abortedTransactions: readonly AbortedTransaction[] | null
  readonly records: Buffer | { readonly byteLength: number; readonly parts: readonly (Buffer | FileRange)[] }
  readonly byteLength: number
  readonly divergingEpoch: { readonly epoch: number; readonly endOffset: number } | undefined
  /** The next fetch gets more, without any append. */
  readonly isBehind: boolean
  /** Where to go instead; undefined when it is here. */
  readonly currentLeader: { readonly leaderId: number; readonly leaderEpoch: number } | undefined
}

export interface FetchParameters {
  readonly isolation: ReadIsolation
  readonly maxWaitMs: number
  readonly minBytes: number
  readonly maxBytes: number
  /** Who follows the partitions with this fetch; negative for a consumer. */
  readonly replicaId: number
  /** The answer has words for a diverging epoch. What a session remembers may have been said in a version that had. */
  readonly saysDivergence: boolean
  /** Memory is short: what is sent had better be ranges of files. */
  readonly sparesMemory: () => boolean
}

export interface FetchSource {
  /** undefined when this broker does not have it. */
  find(wanted: FetchPartition): Partition | undefined
  /** Why it does not. */
  absence(wanted: FetchPartition): ErrorCode
}

/**
 * One fetch from arrival to answer: reads its partitions in order within one byte limit, and when that gives fewer bytes than
 * the client wants, and not because one read goes no further, waits to be woken by one of them, or for the time limit. It
 * never polls.
 */
export class WaitingFetch implements PartitionWatcher {
  readonly #parameters: FetchParameters
  readonly #wanted: readonly FetchPartition[]
  readonly #source: FetchSource
  readonly #finish: (results: FetchResult[]) => void
  #results: FetchResult[] = []
  #byteLength = 0
  #mustAnswer = false
  #isRunning = false
  #isWoken = false
  #isDone = false
  #watched: { readonly partition: Partition; readonly watch: PartitionWatch }[] = []
  deadline: Deadline | undefined

  constructor(
    parameters: FetchParameters,
    wanted: readonly FetchPartition[],
    source: FetchSource,
    finish: (results: FetchResult[]) => void,
  ) {
    this.#parameters = parameters
    this.#wanted = wanted
    this.#source = source
    this.#finish = finish
  }

  get isDone(): boolean {
    return this.#isDone
  }

  run(): void {
    this.#isRunning = true
    this.#isWoken = false
    this.#dropResults()
    this.#readFrom(0)
  }

  partitionChanged(): void {
    if (this.#isDone || this.#isWoken) return
    this.#isWoken = true
    if (!this.#isRunning) queueMicrotask(() => this.#wake())
  }

  /** The time is up: answers with what there is. */
  expire(): void {
    if (this.#isDone) return
    this.#mustAnswer = true
    if (!this.#isRunning) this.run()
  }

  /** The connection has gone. */
  abandon(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.deadline?.cancel()
    this.#unwatch()
    this.#dropResults()
  }

  #wake(): void {
    if (!this.#isDone && !this.#isRunning) this.run()
  }

  #readFrom(start: number): void {
    for (let i = start; i < this.#wanted.length; i++) {
      const answer = this.#read(this.#wanted[i])
      if (answer instanceof Promise) {
        // From here on others run: what they append to partitions that have been read must wake this.
        this.#watch()
        void answer.then(result => {
          if (this.#isDone) release(result)
          else {
            this.#add(result)
            this.#readFrom(i + 1)
          }
        })
        return
      }
      this.#add(answer)
    }
    this.#isRunning = false
    this.#readAll()
  }

  #add(result: FetchResult): void {
    this.#results.push(result)
    this.#byteLength += result.byteLength
    if (result.errorCode !== ErrorCode.none || result.divergingEpoch !== undefined || result.isBehind)
      this.#mustAnswer = true
  }

  #readAll(): void {
    const { minBytes, maxWaitMs } = this.#parameters
    const isEnough = this.#byteLength >= minBytes || maxWaitMs <= 0 || this.#wanted.length === 0
    if (this.#mustAnswer || isEnough) {
      this.#isDone = true
      this.deadline?.cancel()
      this.#unwatch()
      this.#finish(this.#results)
    } else if (this.#isWoken) this.run()
    else this.#watch()
  }

  #watch(): void {
    if (this.#watched.length > 0) return
    for (const wanted of this.#wanted) {
      const partition = this.#source.find(wanted)
      if (partition === undefined) continue
      this.#watched.push({ partition, watch: partition.watch(this) })
    }
  }

  #unwatch(): void {
    for (const { partition, watch } of this.#watched) partition.unwatch(watch)
    this.#watched = []
  }

  #dropResults(): void {
    for (const result of this.#results) release(result)
    this.#results = []
    this.#byteLength = 0
  }

  #read(wanted: FetchPartition): FetchResult | Promise<FetchResult> {
    const partition = this.#source.find(wanted)
    if (partition === undefined) {
      const errorCode = this.#source.absence(wanted)
      if (errorCode === ErrorCode.kafkaStorageError) return failed(wanted, errorCode)
      return { ...failed(wanted, errorCode), isAbsent: true, abortedTransactions: [] }
    }
    const refused = checkLeader(wanted, partition, this.#parameters.replicaId)
    if (refused !== undefined) return refused
    const { log } = partition
    const diverging = this.#parameters.saysDivergence ? divergence(wanted, partition) : undefined
    if (diverging === 'unknown') return failed(wanted, ErrorCode.offsetOutOfRange)
    if (diverging !== undefined) return { ...empty(wanted, partition, ErrorCode.none), divergingEpoch: diverging }
    const limit = log[this.#parameters.isolation]
    if (wanted.fetchOffset < log.logStartOffset || wanted.fetchOffset > log.logEndOffset) {
      return failed(wanted, ErrorCode.offsetOutOfRange)
    }
    if (wanted.fetchOffset >= limit) return empty(wanted, partition, ErrorCode.none, this.#noAborted())
    return this.#readLog(wanted, partition)
  }

  #noAborted(): readonly AbortedTransaction[] | null {
    return this.#parameters.isolation === 'lastStableOffset' ? [] : null
  }

  #readLog(wanted: FetchPartition, partition: Partition): FetchResult | Promise<FetchResult> {
    const maxBytes = Math.min(wanted.maxBytes, Math.max(0, this.#parameters.maxBytes - this.#byteLength))
    const answer = partition.log.read({
      offset: wanted.fetchOffset,
      maxBytes,
      minOneBatch: this.#byteLength === 0,
      isolation: this.#parameters.isolation,
      sparesMemory: this.#parameters.sparesMemory(),
    })
    if (answer instanceof Promise) return answer.then(read => resultOf(wanted, partition, read, maxBytes))
    return resultOf(wanted, partition, answer, maxBytes)
  }
}

function release(result: FetchResult): void {
  if (Buffer.isBuffer(result.records)) return
  for (const part of result.records.parts) {
    if (Buffer.isBuffer(part)) freeBytes(part)
    else part.file.release()
  }
}

function resultOf(
  wanted: FetchPartition,
  partition: Partition,
  read: LogRead<FileRange> | ReadRefusal,
  maxBytes: number,
): FetchResult {
  if (read.type === 'refused') return failed(wanted, read.errorCode)
  // As in Kafka: of a batch that is larger than what may be returned nothing is said at all.
  const isTooLarge = read.byteLength === 0 && maxBytes > 0 && read.isGapToEnd !== true
  const aborted = isTooLarge ? null : (read.abortedTransactions ?? null)
  const base = empty(wanted, partition, ErrorCode.none, aborted)
  if (read.byteLength === 0) return base
  const { byteLength, parts, isBehind = false } = read
  return { ...base, records: { byteLength, parts }, byteLength, isBehind }
}

function empty(
  wanted: FetchPartition,
  { log }: Partition,
  errorCode: ErrorCode,
  abortedTransactions: readonly AbortedTransaction[] | null = null,
): FetchResult {
  return {
    wanted,
    errorCode,
    isAbsent: false,
    highWatermark: log.highWatermark,
    lastStableOffset: log.lastStableOffset,
    logStartOffset: log.logStartOffset,
    abortedTransactions,
    records: noBytes,
    byteLength: 0,
    divergingEpoch: undefined,
    isBehind: false,
    currentLeader: undefined,
  }
}

export function failed(wanted: FetchPartition, errorCode: ErrorCode): FetchResult {
  return {
    wanted,
    errorCode,
    isAbsent: false,
    highWatermark: -1,
    lastStableOffset: -1,
    logStartOffset: -1,
    abortedTransactions: null,
    records: noBytes,
    byteLength: 0,
    divergingEpoch: undefined,
    isBehind: false,
    currentLeader: undefined,
  }
}

function checkLeader(wanted: FetchPartition, partition: Partition, replicaId: number): FetchResult | undefined {
  const { leaderId, leaderEpoch } = partition.state
  const asked = wanted.currentLeaderEpoch
  let errorCode: ErrorCode | undefined
  if (partition.log.isOffline) errorCode = ErrorCode.kafkaStorageError
  else if (asked >= 0 && asked < leaderEpoch) errorCode = ErrorCode.fencedLeaderEpoch
  else if (asked > leaderEpoch) errorCode = ErrorCode.unknownLeaderEpoch
  else if (!partition.isLeader || isStranger(partition, replicaId)) errorCode = ErrorCode.notLeaderOrFollower
  if (errorCode === undefined) return undefined
  const result = failed(wanted, errorCode)
  const tellsLeader = errorCode === ErrorCode.notLeaderOrFollower || errorCode === ErrorCode.fencedLeaderEpoch
  return tellsLeader ? { ...result, currentLeader: { leaderId, leaderEpoch } } : result
}

/**
 * KIP-595: the fetcher's last epoch ends earlier here than where it fetches from, so it must truncate first. `unknown`: the
 * epoch is newer than all here, or what it fetches is gone; it must begin at what is left.
 */
function divergence(
  { lastFetchedEpoch, fetchOffset }: FetchPartition,
  { log }: Partition,
): { epoch: number; endOffset: number } | 'unknown' | undefined {
  if (lastFetchedEpoch < 0) return undefined
  const { leaderEpoch, endOffset } = log.endOffsetForEpoch(lastFetchedEpoch)
  if (leaderEpoch < 0 || endOffset < 0 || fetchOffset < log.logStartOffset) return 'unknown'
  if (leaderEpoch === lastFetchedEpoch && endOffset >= fetchOffset) return undefined
  return { epoch: leaderEpoch, endOffset }
}

/** A broker that says it follows a partition of which it is no follower. */
function isStranger({ state: { leaderId, replicas } }: Partition, replicaId: number): boolean {
  return replicaId >= 0 && (replicaId === leaderId || !replicas.includes(replicaId))
}
