export type Codec = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'
export type Assignor = 'eager' | 'cooperative'

/** Records that one producer sends to one topic; `clients/README.md` says what record n of it is. */
export interface Job {
  readonly topic: string
  readonly codec: Codec
  readonly idempotent: boolean
  readonly prefix: string
  readonly first: number
  readonly count: number
  readonly valueBytes: number
}

export interface ExpectedRecord {
  readonly topic: string
  readonly n: number
  readonly key: string
  readonly value: string
  readonly prefix: string
}

export function expectedRecords(jobs: readonly Job[]): ExpectedRecord[] {
  return jobs.flatMap(({ topic, prefix, first, count, valueBytes }) =>
    Array.from({ length: count }, (_, index) => {
      const n = first + index
      return { topic, n, key: `k${n % 10}`, value: `${prefix}-${n}`.padEnd(valueBytes, '.'), prefix }
    }),
  )
}
