import type {
  FilterBatchesJob,
  FilterBatchesResult,
  IndexKeysJob,
  IndexKeysResult,
} from '../records/compaction/contract.ts'

/**
 * Work that is bounded but too long for the loop. Inputs are not changed and must stay valid until the answer.
 * `codec` is Kafka's number: 1 gzip, 2 snappy, 3 lz4, 4 zstd.
 */
export type ComputeJob =
  | { readonly type: 'decompress'; readonly codec: number; readonly input: Buffer; readonly maxBytes: number }
  | { readonly type: 'compress'; readonly codec: number; readonly level: number | undefined; readonly input: Buffer }
  | {
      readonly type: 'deriveKey'
      readonly hash: 'sha256' | 'sha512'
      readonly password: Buffer
      readonly salt: Buffer
      readonly iterations: number
      readonly keyBytes: number
    }

export type ComputeResult =
  | { readonly type: 'done'; readonly output: Buffer }
  | { readonly type: 'tooLarge' }
  /** The input is damaged, or a parameter is one that the library does not know (a compression level, say). */
  | { readonly type: 'corrupt'; readonly reason: string }

/** Runs jobs off the loop, a bounded number at a time, first come first served. Never rejects. */
export interface Compute {
  run(job: ComputeJob): Promise<ComputeResult>
  /**
   * The jobs of compaction run one at a time, in their order. They take memory over and give it back: see
   * `records/compaction/contract.ts`.
   */
  indexKeys(job: IndexKeysJob): Promise<IndexKeysResult>
  filterBatches(job: FilterBatchesJob): Promise<FilterBatchesResult>
}
