import { pbkdf2 } from 'node:crypto'
import type {
  FilterBatchesJob,
  FilterBatchesResult,
  IndexKeysJob,
  IndexKeysResult,
} from '../../records/compaction/contract.ts'
import { compressOffLoop, decompressOffLoop } from '../../records/compression/off-loop.ts'
import type { Compute, ComputeJob, ComputeResult } from '../compute.ts'
import { CompactionThread } from './compaction-thread.ts'
import type { Slots } from './slots.ts'
import type { TurnQueue } from './turn-queue.ts'

/**
 * Computes in Node's thread pool, or in slices between turns where the pool has no function for it; compacts in a thread of
 * its own.
 */
export class NodeCompute implements Compute {
  readonly #slots: Slots
  readonly #yieldTurn: () => Promise<void>
  readonly #compaction = new CompactionThread()

  constructor(slots: Slots, turns: TurnQueue) {
    this.#slots = slots
    this.#yieldTurn = () => new Promise(resolve => turns.next(resolve))
  }

  run(job: ComputeJob): Promise<ComputeResult> {
    return new Promise(resolve => {
      this.#slots.run(end => {
        const finish = (result: ComputeResult) => {
          end()
          resolve(result)
        }
        this.#carryOut(job).then(finish, error => finish(refusal(error)))
      })
    })
  }

  indexKeys(job: IndexKeysJob): Promise<IndexKeysResult> {
    return this.#compaction.run(job) as Promise<IndexKeysResult>
  }

  filterBatches(job: FilterBatchesJob): Promise<FilterBatchesResult> {
    return this.#compaction.run(job) as Promise<FilterBatchesResult>
  }

  /** Ends the thread, if there is one. It would not outlive the process, and ends by itself when it has nothing to do. */
  close(): Promise<void> {
    return this.#compaction.close()
  }

  async #carryOut(job: ComputeJob): Promise<ComputeResult> {
    switch (job.type) {
      case 'decompress':
        return decompressOffLoop(job.codec, job.input, job.maxBytes, this.#yieldTurn)
      case 'compress':
        return { type: 'done', output: await compressOffLoop(job.codec, job.input, job.level) }
      case 'deriveKey':
        return { type: 'done', output: await deriveKey(job) }
    }
  }
}

function deriveKey(job: ComputeJob & { type: 'deriveKey' }): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    pbkdf2(job.password, job.salt, job.iterations, job.keyBytes, job.hash, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}

/** A level or a number of iterations that the library does not take. */
function refusal(error: unknown): ComputeResult {
  return { type: 'corrupt', reason: error instanceof Error ? error.message : String(error) }
}
