import { getCompileCacheDir } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { CompactionJob, FailedJob } from '../../records/compaction/contract.ts'
import type { WorkerAnswer } from './compaction-worker.ts'
import { asSent, memoryOf } from './passed-memory.ts'

const defaultIdleMs = 5000

export interface CompactionThreadOptions {
  /** The program of the thread. */
  readonly file?: URL
  /** How long a thread without a job stays. */
  readonly idleMs?: number
}

interface Waiting {
  readonly job: CompactionJob
  answer(result: WorkerAnswer): void
}

/**
 * Runs jobs of compaction in a thread of their own, one at a time, in their order. The thread begins with the first job and ends
 * some seconds after the last. It keeps the process alive only while it works. When it dies, its job fails, and the next job
 * gets a new one.
 */
export class CompactionThread {
  readonly #file: URL
  readonly #idleMs: number
  #worker: Worker | undefined
  #running: Waiting | undefined
  readonly #waiting: Waiting[] = []
  #idleTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor({ file = workerFile(), idleMs = defaultIdleMs }: CompactionThreadOptions = {}) {
    this.#file = file
    this.#idleMs = idleMs
  }

  get isRunning(): boolean {
    return this.#worker !== undefined
  }

  run(job: CompactionJob): Promise<WorkerAnswer> {
    return new Promise(answer => {
      this.#waiting.push({ job, answer })
      this.#runNext()
    })
  }

  /** Ends the thread. Jobs that are not done fail, and all that come later. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#end('the thread was closed')
    this.#runNext()
  }

  #runNext(): void {
    if (this.#running !== undefined) return
    const next = this.#waiting.shift()
    if (next === undefined) return
    if (this.#isClosed) {
      next.answer(threadGone('the thread was closed'))
      return this.#runNext()
    }
    clearTimeout(this.#idleTimer)
    this.#running = next
    this.#worker ??= this.#start()
    const worker = this.#worker
    worker.ref()
    try {
      worker.postMessage(next.job, memoryOf(next.job))
    } catch (error) {
      this.#finish({ type: 'failed', reason: textOf(error) })
    }
  }

  #start(): Worker {
    const worker = new Worker(this.#file, { execArgv: threadFlags(), env: threadEnvironment(), name: 'compaction' })
    worker.on('message', (answer: WorkerAnswer) => this.#finish(asSent(answer)))
    worker.on('error', error => this.#died(worker, textOf(error)))
    worker.on('messageerror', error => this.#died(worker, textOf(error)))
    worker.on('exit', code => this.#died(worker, `the thread ended with code ${code}`))
    return worker
  }

  #finish(answer: WorkerAnswer): void {
    const done = this.#running
    this.#running = undefined
    done?.answer(answer)
    this.#runNext()
    if (this.#running === undefined) this.#rest()
  }

  #rest(): void {
    this.#worker?.unref()
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => void this.#end('the thread had nothing to do'), this.#idleMs)
    this.#idleTimer.unref()
  }

  /** An error is followed by the exit of the same thread, when another one may run already. */
  #died(worker: Worker, reason: string): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    void worker.terminate()
    this.#finish(threadGone(reason))
  }

  async #end(reason: string): Promise<void> {
    clearTimeout(this.#idleTimer)
    const worker = this.#worker
    if (worker === undefined) return
    this.#worker = undefined
    const ending = worker.terminate()
    if (this.#running !== undefined) this.#finish(threadGone(reason))
    clearTimeout(this.#idleTimer)
    await ending
  }
}

/** Beside this file, with the same ending: TypeScript in the repository, JavaScript where it is installed. */
function workerFile(): URL {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new URL(`compaction-worker.${ending}`, import.meta.url)
}

/** Of the process's own flags only those that say how a file is read: others may be for the main thread only. */
function threadFlags(): string[] {
  return process.execArgv.filter(flag => /^--(experimental-strip-types|disable-warning|no-warnings)/.test(flag))
}

/** A thread is told by this alone where compiled code is kept. Without it each one compiles, and in the repository strips types, anew. */
function threadEnvironment(): NodeJS.ProcessEnv {
  const cache = getCompileCacheDir()
  return cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: cache }
}

function threadGone(reason: string): FailedJob {
  return { type: 'failed', reason }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
