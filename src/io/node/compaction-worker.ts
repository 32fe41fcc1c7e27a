import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { assert } from '../../base/assert.ts'
import { CompactionJobs } from '../../records/compaction/compaction-jobs.ts'
import type { CompactionJob, FilterBatchesResult, IndexKeysResult } from '../../records/compaction/contract.ts'
import { asSent, memoryOf } from './passed-memory.ts'

/** What a `CompactionThread` runs: one job after the other, each answered by one message. */
export type WorkerAnswer = IndexKeysResult | FilterBatchesResult

assert(parentPort !== null, 'this file is what a worker thread begins with')
const port = parentPort
const jobs = new CompactionJobs()

/** As of `nice`: a tenth of the weight of a thread that serves, where there is not enough for all. */
const niceness = 10
giveWay()

/** Linux alone sets the priority of a thread; elsewhere it would be the whole process's. Compaction works without it too. */
function giveWay(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, niceness)
  } catch {
    // A sandbox may forbid it.
  }
}

port.on('message', (job: CompactionJob) => {
  const answer = answerTo(job)
  port.postMessage(answer, memoryOf(answer))
})

function answerTo(job: CompactionJob): WorkerAnswer {
  try {
    return jobs.run(asSent(job))
  } catch (error) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { type: 'failed', reason }
  }
}
