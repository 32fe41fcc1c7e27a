import { pbkdf2Sync } from 'node:crypto'
import type { Compute, ComputeJob, ComputeResult } from '../../io/compute.ts'
import { compressSync } from '../../records/compression/compress.ts'
import { decompressSync } from '../../records/compression/decompress.ts'
import type { Life } from './life.ts'

const JOB_US = 500

/** Computes in one go when the drawn time has come, so that an input which is no longer the same shows. */
export class SimulatedCompute implements Compute {
  readonly #life: Life

  constructor(life: Life) {
    this.#life = life
  }

  run(job: ComputeJob): Promise<ComputeResult> {
    return new Promise(resolve => {
      this.#life.schedule(`compute ${job.type}`, this.#life.random.delayUs(JOB_US), () => resolve(carryOut(job)))
    })
  }
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
