import { pbkdf2 } from 'node:crypto'
import type { Compute, ComputeJob, ComputeResult } from '../compute.ts'
import type { Slots } from './slots.ts'
import type { TurnQueue } from './turn-queue.ts'

export class NodeCompute implements Compute {
  readonly #turns: TurnQueue
  readonly #slots: Slots

  constructor(turns: TurnQueue, slots: Slots) {
    this.#turns = turns
    this.#slots = slots
  }

  run(job: ComputeJob): Promise<ComputeResult> {
    void this.#turns
    return new Promise(resolve =>
      this.#slots.run(end => {
        if (job.type === 'deriveKey')
          pbkdf2(job.password, job.salt, job.iterations, job.keyBytes, job.hash, (_e, output) => {
            end()
            resolve({ type: 'done', output })
          })
        else end()
      }),
    )
  }
}
