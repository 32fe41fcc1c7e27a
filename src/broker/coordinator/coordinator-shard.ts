import { Backoff } from '../../base/backoff.ts'
import type { ErrorCode } from '../../base/error-code.ts'
import type { Random } from '../../base/random.ts'
import { type RunnerOptions, StateMachineRunner } from '../../core/state-machine/runner.ts'
import type { CommandBase } from '../../core/state-machine/state-machine.ts'
import type { Clock } from '../../io/clock.ts'
import type { LogSink } from '../../io/log-sink.ts'
import { batchSizeAt, readLastOffset } from '../../records/batch.ts'
import type { Deadline, Deadlines } from '../deadlines.ts'
import type { Partition, PartitionFollower } from '../partition.ts'
import { readBatches } from '../read-log.ts'
import { PartitionReplicatedLog } from './partition-replicated-log.ts'

/** Replay lets others run after this long. */
const sliceMs = 5
/** A load that has failed is tried again. What is damaged may be mended by the operator, and a disk may come back. */
const loadRetry = { firstMs: 1000, maxMs: 60_000 }

type MachineOptions<Command extends CommandBase, Rec, Soft, Reply, Effect, View> = Omit<
  RunnerOptions<Command, Rec, Soft, Reply, Effect, View>,
  'log' | 'reload' | 'unknownRecordType'
>

export interface CoordinatorShardOptions<Command extends CommandBase, Rec, Soft, Reply, Effect, View> {
  readonly partition: Partition
  readonly clock: Clock
  readonly random: Random
  readonly deadlines: Deadlines
  readonly log: LogSink
  readonly machine: MachineOptions<Command, Rec, Soft, Reply, Effect, View>
  /** What the machine sees of the image. */
  readonly view: () => View
  /** How much of the log is read at a time, unless a batch is larger. */
  readonly loadBufferBytes: number
  /** The machine has been loaded. */
  readonly loaded?: () => void
}

/**
 * One partition of a coordinator's topic with the machine that it replicates: loads the machine when this broker leads,
 * keeps its clock, tells it of commits, and drops it when leadership goes.
 */
export class CoordinatorShard<Command extends CommandBase, Rec, Soft, Reply, Effect, View>
  implements PartitionFollower
{
  readonly #options: CoordinatorShardOptions<Command, Rec, Soft, Reply, Effect, View>
  readonly #runner: StateMachineRunner<Command, Rec, Soft, Reply, Effect, View>
  #deadline: Deadline | undefined
  /** Counts loads: a replay that goes on after its load was given up notices. */
  #load = 0
  /** Loads that have failed since the last one that did not. */
  #failedLoads = 0
  readonly #backoff: Backoff
  #reload: Deadline | undefined
  #isClosed = false

  constructor(options: CoordinatorShardOptions<Command, Rec, Soft, Reply, Effect, View>) {
    this.#options = options
    const { partition, log, random } = options
    this.#backoff = new Backoff(random, loadRetry)
    this.#runner = new StateMachineRunner({
      ...options.machine,
      log: new PartitionReplicatedLog(partition),
      reload: () => this.load(),
      unknownRecordType: type => {
        log.write('warn', `${this.#name}: records of type ${type} are kept but not understood by this version`, {
          type,
        })
      },
    })
    partition.follow(this)
  }

  get isLoaded(): boolean {
    return this.#runner.state === 'loaded'
  }

  /** Grows whenever the machine that is there goes, or another begins to be loaded. */
  get loads(): number {
    return this.#load
  }

  inspect(): { readonly durable: unknown; readonly soft: unknown } | undefined {
    return this.#runner.inspect()
  }

  /** Replays the log, and again until that succeeds. Commands are answered COORDINATOR_LOAD_IN_PROGRESS meanwhile. */
  load(): void {
    if (this.#isClosed || this.#runner.state !== 'unloaded' || !this.#options.partition.isLeader) return
    this.#reload?.cancel()
    this.#runner.startLoading()
    this.#startReplay()
  }

  #startReplay(): void {
    const load = ++this.#load
    this.#replay(load).catch(error => {
      if (load === this.#load) this.#loadFailed(error)
    })
  }

  #loadFailed(error: unknown): void {
    const { clock, deadlines, log } = this.#options
    const reason = error instanceof Error ? error.message : String(error)
    const delayMs = this.#backoff.delayMs(++this.#failedLoads)
    const text = `${this.#name} cannot be loaded: ${reason}. Its groups wait; it is tried again`
    if (this.#failedLoads === 1) log.write('error', text, { error })
    // What was replayed is of no use: the next try begins anew.
    this.#runner.unload()
    this.#runner.startLoading()
    this.#reload = deadlines.add(clock.now().monotonicMs + delayMs, () => this.#startReplay())
  }

  get #name(): string {
    const { topic, index } = this.#options.partition
    return `${topic}-${index}`
  }

  /** Returns what the command was refused with, if it was; whoever waits has been answered so too. */
  submit(command: Command, answerTimeoutMs?: number): ErrorCode | undefined {
    const errorCode = this.#runner.submit(command, this.#options.clock.now(), answerTimeoutMs)
    this.#arm()
    return errorCode
  }

  close(): void {
    this.#isClosed = true
    this.leadershipLost()
    this.#options.partition.follow(undefined)
  }

  highWatermarkMoved(): void {
    this.#runner.committed()
    this.#arm()
  }

  appendsFailed(): void {
    this.#runner.appendFailed()
    this.#arm()
  }

  leadershipLost(): void {
    this.#load++
    this.#failedLoads = 0
    this.#reload?.cancel()
    this.#runner.unload()
    this.#arm()
  }

  async #replay(load: number): Promise<void> {
    const { partition, clock } = this.#options
    const { log } = partition
    let offset = log.logStartOffset
    let sliceEndMs = clock.now().monotonicMs + sliceMs
    while (offset < log.nextOffset) {
      const { nextOffset } = log
      const answer = await readBatches(log, {
        offset,
        maxBytes: this.#options.loadBufferBytes,
        isolation: 'logEndOffset',
      })
      if (load !== this.#load) return
      if (answer.type === 'refused') throw new Error(`the log answered with error ${answer.errorCode}`)
      const { bytes } = answer
      if (answer.isGapToEnd && log.nextOffset === nextOffset && log.logEndOffset === nextOffset) break
      for (let at = 0; at < bytes.length; ) {
        const size = batchSizeAt(bytes, at)
        this.#runner.replayBatch(bytes.subarray(at, at + size))
        offset = readLastOffset(bytes, at) + 1
        at += size
        if (clock.now().monotonicMs < sliceEndMs) continue
        await clock.yieldTurn()
        if (load !== this.#load) return
        sliceEndMs = clock.now().monotonicMs + sliceMs
      }
      if (bytes.length === 0) await clock.yieldTurn()
    }
    if (load !== this.#load) return
    if (this.#failedLoads > 0) this.#options.log.write('info', `${this.#name} loaded at last`)
    this.#failedLoads = 0
    this.#runner.loaded(clock.now(), this.#options.view())
    this.#options.loaded?.()
    this.#arm()
  }

  #arm(): void {
    const atMs = this.#isClosed ? undefined : this.#runner.nextDeadlineMs()
    if (atMs === this.#deadline?.atMs) return
    this.#deadline?.cancel()
    this.#deadline = atMs === undefined ? undefined : this.#options.deadlines.add(atMs, () => this.#timeout())
  }

  #timeout(): void {
    this.#deadline = undefined
    this.#runner.timeout(this.#options.clock.now())
    this.#arm()
  }
}
