import { codecNamed } from '../../records/compression/codec.ts'
import { checkNames, checkNumbers, given } from '../client-options.ts'
import { invalidArgument } from '../millrace-error.ts'

export type Compression = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'

/** All times are milliseconds, all sizes bytes. */
export interface ProducerOptions {
  /** Who must have a record before `send` resolves: all in-sync replicas, the leader (1), or nobody (0). `all` unless given. */
  readonly acks?: 'all' | 1 | 0
  /** Each record once and in order, whatever is repeated. True unless given; needs acks=all. */
  readonly idempotent?: boolean
  /** `none` unless given. */
  readonly compression?: Compression
  /** The codec's own level, for gzip and zstd. */
  readonly compressionLevel?: number
  /**
   * How long records wait for others to share a batch with. Unless given, a record leaves at once while nothing of its
   * partition is on its way, and waits for at most 5 ms for what is.
   */
  readonly lingerMs?: number
  /** A batch is sent when it has so many bytes. 131,072 unless given. */
  readonly batchBytes?: number
  /** The most that one request carries, and the largest record. 1,048,576 unless given. */
  readonly maxRequestBytes?: number
  /** Records that are not acknowledged may take up so much; then `send` waits. 33,554,432 unless given. */
  readonly bufferBytes?: number
  /** How long `send` waits for room or for a topic to be there, but not longer than `deliveryTimeoutMs`. 60,000 unless given. */
  readonly maxBlockMs?: number
  /** From when there was room for the record until success or failure, repetitions included. 120,000 unless given. */
  readonly deliveryTimeoutMs?: number
  /** How long the broker may wait for in-sync replicas. 30,000 unless given. */
  readonly requestTimeoutMs?: number
  /** Requests on the way to one broker at the same time: 1 to 5. 5 unless given. */
  readonly maxInFlight?: number
  /** Ask brokers to create a topic that is missing, if they do such things. True unless given. */
  readonly createTopics?: boolean
}

export interface ProducerConfig
  extends Required<Omit<ProducerOptions, 'acks' | 'compression' | 'compressionLevel' | 'lingerMs'>> {
  readonly acks: -1 | 0 | 1
  readonly codec: number
  readonly compressionLevel: number | undefined
  /** undefined: as long as it costs nothing. */
  readonly lingerMs: number | undefined
}

/** The longest that a record waits for company when no time is given. */
export const defaultMaxLingerMs = 5

const defaults = {
  batchBytes: 128 * 1024,
  maxRequestBytes: 1024 * 1024,
  bufferBytes: 32 * 1024 * 1024,
  maxBlockMs: 60_000,
  deliveryTimeoutMs: 120_000,
  requestTimeoutMs: 30_000,
  maxInFlight: 5,
  createTopics: true,
}

/** Options whose default is not a plain value. */
const others = ['acks', 'idempotent', 'compression', 'compressionLevel', 'lingerMs']

/** Throws `INVALID_ARGUMENT` for options that cannot be. */
export function producerConfig(options: ProducerOptions): ProducerConfig {
  checkNames(options, [...Object.keys(defaults), ...others])
  const { acks = 'all', compression = 'none', idempotent, compressionLevel, lingerMs, ...rest } = options
  if (acks !== 'all' && acks !== 0 && acks !== 1) throw invalidArgument(`acks is 'all', 1 or 0, not ${String(acks)}`)
  if (idempotent === true && acks !== 'all') throw invalidArgument("an idempotent producer needs acks: 'all'")
  const codec = codecNamed(compression)
  if (codec === undefined) throw invalidArgument(`compression is none, gzip, snappy, lz4 or zstd, not ${compression}`)
  const config = { ...defaults, ...given(rest) } as Required<typeof rest>
  checkNumbers({ ...config, lingerMs })
  if (config.maxInFlight < 1 || config.maxInFlight > 5) throw invalidArgument('maxInFlight is 1 to 5')
  return {
    ...config,
    acks: acks === 'all' ? -1 : acks,
    idempotent: idempotent ?? acks === 'all',
    codec,
    compressionLevel,
    lingerMs,
  }
}
