import { pbkdf2Sync } from 'node:crypto'
import { assert } from '../../base/assert.ts'
import type { Compute, ComputeJob, ComputeResult } from '../../io/compute.ts'
import { CompactionJobs } from '../../records/compaction/compaction-jobs.ts'
import type {
  CompactionJob,
  FilterBatchesJob,
  FilterBatchesResult,
  IndexKeysJob,
  IndexKeysResult,
} from '../../records/compaction/contract.ts'
import { compressSync } from '../../records/compression/compress.ts'
import { decompressSync } from '../../records/compression/decompress.ts'
import type { Life } from './life.ts'

const JOB_US = 500

/** Computes in one go when the drawn time has come, so that an input which is no longer the same shows. */
export class SimulatedCompute implements Compute {
  readonly #life: Life
  readonly #compaction = new CompactionJobs()
  /** Jobs of compaction are done one after the other, whatever their times are. */
  #lastCompaction: Promise<unknown> = Promise.resolve()

  constructor(life: Life) {
    this.#life = life
  }

  run(job: ComputeJob): Promise<ComputeResult> {
    return new Promise(resolve => {
      this.#life.schedule(`compute ${job.type}`, this.#life.random.delayUs(JOB_US), () => resolve(carryOut(job)))
    })
  }

  indexKeys(job: IndexKeysJob): Promise<IndexKeysResult> {
    return this.#compact({ ...job, batches: takenOver(job.batches) }, taken => this.#compaction.indexKeys(taken))
  }

  filterBatches(job: FilterBatchesJob): Promise<FilterBatchesResult> {
    const taken = { ...job, batches: takenOver(job.batches), output: takenOver(job.output) }
    return this.#compact(taken, () => this.#compaction.filterBatches(taken))
  }

  #compact<Job extends CompactionJob, Result>(job: Job, carryOut: (job: Job) => Result): Promise<Result> {
    const before = this.#lastCompaction
    const done = new Promise<Result>(resolve => {
      void before.then(() => {
        this.#life.schedule(`compute ${job.type}`, this.#life.random.delayUs(JOB_US), () => resolve(carryOut(job)))
      })
    })
    this.#lastCompaction = done
    return done
  }
}

/** As when another thread gets it: the caller's Buffer is empty from now on. */
function takenOver(bytes: Buffer): Buffer {
  const { byteOffset, length, buffer } = bytes
  assert(buffer instanceof ArrayBuffer, 'memory that is given up is not shared')
  return Buffer.from(buffer.transfer(), byteOffset, length)
}

function carryOut(job: ComputeJob): ComputeResult {
  try {
    switch (job.type) {
      case 'decompress':
        return decompressSync(job.codec, job.input, job.maxBytes)
      case 'compress':
        return { type: 'done', output: compressSync(job.codec, job.input, job.level) }
      case 'deriveKey':
        return { type: 'done', output: pbkdf2Sync(job.password, job.salt, job.iterations, job.keyBytes, job.hash) }
    }
  } catch (error) {
    return { type: 'corrupt', reason: error instanceof Error ? error.message : String(error) }
  }
}
