import { ErrorCode } from '../base/error-code.ts'
import { auditDisk } from './audit/audit-disk.ts'
import type { KnownProducers } from './audit/audit-log.ts'
import { imageText } from './audit/audit-metadata.ts'
import { checkHistory } from './check/check-history.ts'
import { partitionKey } from './check/partition-truth.ts'
import { SimulatedBroker } from './cluster/simulated-broker.ts'
import { Crew } from './crew.ts'
import { readAll } from './final-reads.ts'
import { History } from './history/history.ts'
import type { LogLine } from './io/simulated-log.ts'
import { World } from './io/world.ts'
import { probeLiveness } from './liveness-probe.ts'
import { Nemesis } from './nemesis.ts'
import { type Plan, plannedTopics } from './plan.ts'
import { type Violation, Violations } from './violations.ts'
import { fetchCommitted } from './workload/group-calls.ts'
import { createTopic } from './workload/topic-admin.ts'
import { runTransactions } from './workload/transactions.ts'
import type { Workplace } from './workload/workplace.ts'

export interface RunResult {
  readonly seed: string
  readonly hash: string
  readonly events: number
  readonly simulatedMs: number
  readonly calls: number
  readonly violations: readonly Violation[]
  readonly violationCount: number
  readonly history: History
  readonly log: readonly string[]
  /** The broker's disk in the end, for whoever looks into a failed run. */
  readonly files: readonly { readonly path: string; readonly bytes: Buffer }[]
}

/** A run that takes more is stuck. */
const maxRunMs = 900_000
const maxEvents = 5_000_000
/** How long clients may take to come to an end once all faults are over (I65, I66). */
const maxDrainMs = 120_000

/** One run of a plan, from the first start of its broker to the audit of what is left. */
export async function runPlan(plan: Plan): Promise<RunResult> {
  return await new Run(plan).result()
}

class Run {
  readonly #plan: Plan
  readonly #world: World
  readonly #history: History
  readonly #violations = new Violations()
  readonly #broker: SimulatedBroker
  readonly #crew: Crew
  #afterEvent: () => void = () => undefined

  constructor(plan: Plan) {
    this.#plan = plan
    this.#world = new World({ seed: plan.seed })
    this.#history = new History(() => this.#world.nowMs)
    const parts = { world: this.#world, plan, history: this.#history, violations: this.#violations }
    this.#broker = new SimulatedBroker(parts.world, plan, parts.history, parts.violations)
    this.#crew = new Crew({ ...parts, broker: this.#broker })
  }

  async result(): Promise<RunResult> {
    const rejected = (error: unknown) => this.#violations.add('run', `unhandled: ${textOf(error)}`)
    process.on('unhandledRejection', rejected)
    try {
      await this.#untilOver(this.#play())
    } catch (error) {
      this.#violations.add('run', textOf(error))
    } finally {
      process.off('unhandledRejection', rejected)
    }
    return {
      seed: this.#plan.seed,
      hash: this.#world.trace.hash,
      events: this.#world.trace.events,
      simulatedMs: this.#world.nowMs,
      calls: this.#history.calls.length,
      violations: this.#violations.kept,
      violationCount: this.#violations.count,
      history: this.#history,
      files: this.#broker.node.disk.files(),
      log: this.#world.log.lines.map(lineText),
    }
  }

  async #untilOver(play: Promise<void>): Promise<void> {
    let isOver = false
    const over = () => {
      isOver = true
    }
    play.then(over, over)
    const look = () => {
      this.#broker.look()
      this.#afterEvent()
      return isOver
    }
    await this.#world.run(look, { withinMs: maxRunMs, maxEvents })
    await play
  }

  async #play(): Promise<void> {
    this.#phase('quiet start')
    await this.#broker.start()
    const admin = this.#crew.hire('admin')
    await this.#createTopics(admin)
    this.#phase('safety')
    this.#crew.start()
    this.#beginTransactions()
    const nemesis = new Nemesis({
      world: this.#world,
      plan: this.#plan,
      history: this.#history,
      broker: this.#broker,
      crew: this.#crew,
    })
    await nemesis.run()
    this.#phase('liveness')
    await probeLiveness(admin, this.#broker, this.#plan.topics)
    await nemesis.heal()
    this.#phase('drain')
    await this.#drain()
    await this.#findOut(admin)
  }

  #phase(name: string): void {
    this.#history.mark('phase', { name })
  }

  async #createTopics(admin: Workplace): Promise<void> {
    for (const topic of plannedTopics(this.#plan))
      while ((await createTopic(admin, topic)) !== ErrorCode.none) await this.#world.sleep(100)
  }

  #beginTransactions(): void {
    const { transactions: planned } = this.#plan
    if (planned === undefined) return
    void runTransactions({
      ...{ world: this.#world, broker: this.#broker, planned },
      isStopping: () => this.#crew.isStopping,
      complain: text => this.#violations.add('I52', text),
    })
  }

  async #drain(): Promise<void> {
    this.#crew.stop()
    const endMs = this.#world.nowMs + maxDrainMs
    while (!this.#crew.isDone && this.#world.nowMs < endMs) await this.#world.sleep(100)
    if (!this.#crew.isDone) this.#violations.add('I66', `these have not come to an end: ${this.#crew.late.join(', ')}`)
  }

  /** Reads all that is left, closes, audits, and starts once more. */
  async #findOut(admin: Workplace): Promise<void> {
    this.#phase('final reads')
    const truth = await readAll(admin)
    await this.#readCommitted(admin)
    const image = this.#broker.broker?.metadata.image
    const groups = this.#followGroups()
    const liveProducers = this.#liveProducers()
    this.#phase('cold audit')
    if (!(await this.#broker.close())) {
      this.#violations.add('I65', 'the broker could not be closed in the end')
      return
    }
    this.#afterEvent = () => undefined
    // A stop in good order takes the broker out of service.
    const liveImage = image && imageText(image)
    await auditDisk({
      ...{ world: this.#world, plan: this.#plan, broker: this.#broker, violations: this.#violations },
      ...{ truth, liveImage, liveProducers },
    })
    this.#phase('last start')
    await this.#broker.start()
    await this.#compareGroups(groups)
    await this.#readCommitted(admin)
    checkHistory({ history: this.#history, truth, violations: this.#violations, plan: this.#plan })
  }

  async #readCommitted(admin: Workplace): Promise<void> {
    for (const topic of (await admin.client.topics(admin.topicNames)) ?? [])
      for (let partition = 0; partition < topic.partitionCount; partition++)
        for (const group of this.#crew.groups) await fetchCommitted(admin, group, { topic, partition })
  }

  #liveProducers(): Map<string, KnownProducers> {
    const known = new Map<string, KnownProducers>()
    for (const log of this.#broker.broker?.logs.logs ?? [])
      if (!log.isOffline) known.set(partitionKey(log.topicId, log.partition), log.inspect().producers)
    return known
  }

  /** The durable state of each group coordinator, up to its last event: members go also while the broker closes. */
  #followGroups(): ReadonlyMap<number, string> {
    const state = new Map<number, string>()
    const { shards } = this.#broker.broker?.groups ?? {}
    this.#afterEvent = () => {
      for (const [index, shard] of shards ?? [])
        if (shard.isLoaded) state.set(index, stateText(shard.inspect()?.durable))
    }
    this.#afterEvent()
    return state
  }

  /** Live state is what a replay gives (I38). */
  async #compareGroups(before: ReadonlyMap<number, string>): Promise<void> {
    for (const [index, live] of before) {
      const shard = this.#broker.broker?.groups.shards.get(index)
      for (let tries = 0; shard?.isLoaded === false && tries < 100; tries++) await this.#world.sleep(10)
      const replayed = shard?.isLoaded === true ? stateText(shard.inspect()?.durable) : 'not loaded'
      if (replayed !== live)
        this.#violations.add(
          'I38',
          `groups of partition ${index} were\n  ${live}\nand are after a replay\n  ${replayed}`,
        )
    }
  }
}

function stateText(state: unknown): string {
  return JSON.stringify(state, (_, value) => {
    if (typeof value === 'bigint') return String(value)
    return value instanceof Map ? [...value] : value instanceof Set ? [...value] : value
  })
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function lineText({ timeMs, node, level, message, fields }: LogLine): string {
  const error = fields.error === undefined ? '' : `\n    ${String(fields.error)}`
  return `${timeMs.toFixed(3)} ms  ${node}  ${level}  ${message}${error}`
}
