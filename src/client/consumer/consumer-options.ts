import { checkNames, checkNumbers, given } from '../client-options.ts'
import { invalidArgument } from '../millrace-error.ts'
import type { Assignor } from './group/assignor.ts'
import { type AssignorName, assignorsNamed } from './group/assignors.ts'

/** All times are milliseconds, all sizes bytes. */
export interface ConsumerOptions {
  /** The group to share partitions and commit offsets with. Without one, offsets cannot be committed. */
  readonly groupId?: string
  /**
   * Where to begin where no offset is committed, or where the committed one is no longer there. `none`: reject with
   * `NO_OFFSET`. `latest` unless given.
   */
  readonly offsetReset?: 'earliest' | 'latest' | 'none'
  /** Only records of committed transactions, or all. `readUncommitted` unless given. */
  readonly isolationLevel?: 'readUncommitted' | 'readCommitted'
  /** Commit what the application is done with every `autoCommitIntervalMs`, and before partitions are given up. True with a group unless given. */
  readonly autoCommit?: boolean
  /** 5,000 unless given. */
  readonly autoCommitIntervalMs?: number
  /** Records in one batch, at most. 1,000 unless given. */
  readonly maxRecords?: number
  /** How long a broker may wait for records, and for how many bytes. 500 and 1 unless given. */
  readonly fetchMaxWaitMs?: number
  readonly fetchMinBytes?: number
  /** One answer, and one partition's part of it; a larger batch still comes whole. 50 MiB and 1 MiB unless given. */
  readonly fetchMaxBytes?: number
  readonly partitionMaxBytes?: number
  /** Fetching ahead stops when so much is waiting to be taken. 64 MiB unless given. */
  readonly bufferBytes?: number
  /** Verify the checksum of every batch. True unless given. */
  readonly checkCrcs?: boolean
  /** What one batch may unpack to. 128 MiB unless given. */
  readonly maxUncompressedBytes?: number
  /** Makes the member static: after a restart within the session timeout it gets back what it had. Unique in the group. */
  readonly groupInstanceId?: string
  /**
   * How partitions are shared out, the most wanted first; the group uses one that all members have.
   * `range` and `cooperative-sticky` unless given, as with Kafka's own client: members that know only one of them can join. Members
   * work on while they join only with `cooperative-sticky` alone.
   */
  readonly assignors?: readonly AssignorName[]
  /** Without a heartbeat for so long the member is out. 45,000 unless given. */
  readonly sessionTimeoutMs?: number
  /** 3,000 unless given. */
  readonly heartbeatIntervalMs?: number
  /** An application that works on one batch for longer loses its partitions; so long a rebalance waits for it. 300,000 unless given. */
  readonly maxPollIntervalMs?: number
  /** Ask brokers to create a subscribed topic that is missing. False unless given. */
  readonly createTopics?: boolean
}

export interface ConsumerConfig
  extends Required<Omit<ConsumerOptions, 'groupId' | 'isolationLevel' | 'groupInstanceId' | 'assignors'>> {
  readonly groupId: string | undefined
  readonly groupInstanceId: string | undefined
  readonly assignors: readonly Assignor[]
  readonly isReadCommitted: boolean
}

const mebibyte = 1024 * 1024
const defaults = {
  offsetReset: 'latest' as const,
  autoCommitIntervalMs: 5000,
  maxRecords: 1000,
  fetchMaxWaitMs: 500,
  fetchMinBytes: 1,
  fetchMaxBytes: 50 * mebibyte,
  partitionMaxBytes: mebibyte,
  bufferBytes: 64 * mebibyte,
  checkCrcs: true,
  maxUncompressedBytes: 128 * mebibyte,
  sessionTimeoutMs: 45_000,
  heartbeatIntervalMs: 3000,
  maxPollIntervalMs: 300_000,
  createTopics: false,
}

/** Options whose default is not a plain value. */
const others = ['groupId', 'groupInstanceId', 'assignors', 'isolationLevel', 'autoCommit']

/** Throws `INVALID_ARGUMENT` for options that cannot be. */
export function consumerConfig(options: ConsumerOptions): ConsumerConfig {
  checkNames(options, [...Object.keys(defaults), ...others])
  const { isolationLevel = 'readUncommitted', groupId, groupInstanceId, assignors, ...rest } = options
  if (groupId === '') throw invalidArgument('groupId cannot be empty; leave it out to read without a group')
  if (isolationLevel !== 'readUncommitted' && isolationLevel !== 'readCommitted') {
    throw invalidArgument(`isolationLevel is readUncommitted or readCommitted, not ${String(isolationLevel)}`)
  }
  const config = { autoCommit: groupId !== undefined, ...defaults, ...given(rest) }
  if (config.autoCommit && groupId === undefined) throw invalidArgument('autoCommit needs a groupId')
  if (!['earliest', 'latest', 'none'].includes(config.offsetReset)) {
    throw invalidArgument(`offsetReset is earliest, latest or none, not ${String(config.offsetReset)}`)
  }
  checkNumbers(config)
  if (!(config.maxRecords >= 1)) throw invalidArgument('maxRecords is at least 1')
  if (config.heartbeatIntervalMs * 2 > config.sessionTimeoutMs) {
    throw invalidArgument('heartbeatIntervalMs is at most half of sessionTimeoutMs; a third is usual')
  }
  return {
    ...config,
    groupId,
    groupInstanceId,
    assignors: assignorsNamed(assignors ?? ['range', 'cooperative-sticky']),
    isReadCommitted: isolationLevel === 'readCommitted',
  }
}
