import { ErrorCode } from '../base/error-code.ts'
import { checkLog } from './check/check-log.ts'
import { type PartitionTruth, partitionKey } from './check/partition-truth.ts'
import { SimulatedBroker } from './cluster/simulated-broker.ts'
import { History } from './history/history.ts'
import type { ReadRecord } from './history/operations.ts'
import type { SeededRandom } from './io/seeded-random.ts'
import type { LogLine } from './io/simulated-log.ts'
import type { SimulatedNode } from './io/simulated-node.ts'
import { World } from './io/world.ts'
import type { Plan } from './plan.ts'
import { type Violation, Violations } from './violations.ts'
import { WireClient } from './wire/wire-client.ts'
import { runAssignedConsumer } from './workload/assigned-consumer.ts'
import { createTopic } from './workload/create-topic.ts'
import { runIdempotentProducer } from './workload/idempotent-producer.ts'
import { runPlainProducer } from './workload/plain-producer.ts'
import { listOffset, poll } from './workload/read-partition.ts'
import type { PartitionTarget, Workplace } from './workload/workplace.ts'

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

/** One run of a plan, from the first start of its broker to the audit of what is left. */
export async function runPlan(plan: Plan): Promise<RunResult> {
  return await new Run(plan).result()
}

/** A run that takes more is stuck. */
const maxRunMs = 900_000
const maxEvents = 5_000_000

class Run {
  readonly #plan: Plan
  readonly #world: World
  readonly #history: History
  readonly #violations = new Violations()
  readonly #broker: SimulatedBroker
  readonly #nemesis: SeededRandom
  readonly #tasks: Promise<void>[] = []
  #isStopping = false
  readonly #clientNodes: SimulatedNode[] = []

  constructor(plan: Plan) {
    this.#plan = plan
    this.#world = new World({ seed: plan.seed })
    this.#history = new History(() => this.#world.nowMs)
    this.#nemesis = this.#world.random('nemesis')
    this.#broker = new SimulatedBroker(this.#world, plan, this.#history, this.#violations)
  }

  async result(): Promise<RunResult> {
    try {
      await this.#world.finish(this.#play(), { withinMs: maxRunMs, maxEvents })
    } catch (error) {
      this.#violations.add('run', error instanceof Error ? (error.stack ?? error.message) : String(error))
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

  async #play(): Promise<void> {
    this.#phase('quiet start')
    await this.#broker.start()
    const admin = this.#workplace('admin')
    for (const topic of this.#plan.topics) {
      while ((await createTopic(admin, topic)) !== ErrorCode.none) await this.#world.sleep(100)
    }
    this.#phase('safety')
    this.#startClients()
    await this.#harass()
    this.#phase('heal')
    if (this.#broker.state === 'down') await this.#broker.start()
    this.#isStopping = true
    this.#phase('drain')
    await Promise.all(this.#tasks)
    this.#phase('final reads')
    const truth = await this.#readAll(admin)
    checkLog({ history: this.#history, truth, violations: this.#violations, flush: this.#plan.flush })
  }

  #phase(name: string): void {
    this.#history.mark('phase', { name })
  }

  #workplace(process: string): Workplace {
    const node = this.#world.addNode(`client-${this.#clientNodes.length + 1}`)
    this.#clientNodes.push(node)
    const random = this.#world.random(process)
    const complain = (invariant: string, text: string) => this.#violations.add(invariant, `${process}: ${text}`)
    const client = new WireClient({
      io: node.start(),
      random,
      endpoint: this.#broker.endpoint,
      clientId: process,
      complain: text => complain('I58', text),
    })
    return {
      process,
      client,
      history: this.#history,
      random,
      topicNames: this.#plan.topics.map(topic => topic.name),
      isStopping: () => this.#isStopping,
      complain,
    }
  }

  #startClients(): void {
    const { clients } = this.#plan
    const shape = { maxValueBytes: 3000, maxRecordsPerBatch: 8, hasWildTimestamps: false }
    const codecs = [0, 0, 1, 2, 3, 4]
    for (let i = 1; i <= clients.idempotent; i++)
      this.#tasks.push(
        runIdempotentProducer(this.#workplace(`idempotent-${i}`), { shape, codecs, thinkMs: 60, repeatRate: 0.1 }),
      )
    for (let i = 1; i <= clients.plain; i++)
      this.#tasks.push(
        runPlainProducer(this.#workplace(`plain-${i}`), { shape, codecs, acks: [0, 1, -1, -1], thinkMs: 80 }),
      )
    for (let i = 1; i <= clients.assigned; i++) this.#tasks.push(runAssignedConsumer(this.#workplace(`reader-${i}`)))
  }

  /** Faults, until their time is over. */
  async #harass(): Promise<void> {
    const { faults, safetyMs } = this.#plan
    const random = this.#nemesis
    const endMs = this.#world.nowMs + safetyMs
    const all: { atMs: number; everyMs: number; act: () => Promise<void> }[] = []
    const add = (everyMs: number | undefined, act: () => Promise<void>) => {
      if (everyMs !== undefined) all.push({ everyMs, act, atMs: this.#world.nowMs + random.below(everyMs * 2) })
    }
    add(faults.killEveryMs, () => this.#crash('kill'))
    add(faults.powerCutEveryMs, () => this.#crash('power'))
    add(faults.restartEveryMs, async () => void (await this.#broker.close()))
    add(faults.resetEveryMs, async () => this.#resetConnections())
    for (;;) {
      const next = all.reduce<(typeof all)[number] | undefined>(
        (a, b) => (a === undefined || b.atMs < a.atMs ? b : a),
        undefined,
      )
      if (next === undefined || next.atMs >= endMs) break
      await this.#world.sleep(Math.max(0, next.atMs - this.#world.nowMs))
      next.atMs = this.#world.nowMs + random.below(next.everyMs * 2)
      await next.act()
      if (this.#broker.state === 'down') {
        await this.#world.sleep(random.below(2000))
        void this.#broker.start()
      }
    }
    await this.#world.sleep(Math.max(0, endMs - this.#world.nowMs))
  }

  #resetConnections(): void {
    for (const node of this.#clientNodes)
      if (this.#nemesis.chance(0.5)) this.#world.network.reset(node, this.#broker.node)
  }

  async #crash(kind: 'kill' | 'power'): Promise<void> {
    this.#broker.crash(kind)
  }

  async #readAll(admin: Workplace): Promise<Map<string, PartitionTruth>> {
    const truth = new Map<string, PartitionTruth>()
    let topics = await admin.client.topics(admin.topicNames)
    while (topics === undefined) {
      await this.#world.sleep(100)
      topics = await admin.client.topics(admin.topicNames)
    }
    for (const topic of topics)
      for (let partition = 0; partition < topic.partitionCount; partition++) {
        const read = await readWhole(admin, { topic, partition })
        if (read !== undefined) truth.set(partitionKey(topic.topicId, partition), read)
      }
    return truth
  }
}

async function readWhole(at: Workplace, target: PartitionTarget): Promise<PartitionTruth | undefined> {
  const start = await listOffset(at, target, -2)
  const end = await listOffset(at, target, -1)
  if (start === undefined || end === undefined) {
    at.complain('I65', `${target.topic.name}-${target.partition} does not say where it begins and ends`)
    return undefined
  }
  const records = new Map<number, ReadRecord>()
  let offset = start
  while (offset < end) {
    const result = await poll(at, target, { offset, maxWaitMs: 0, maxBytes: 1_000_000 })
    if (result.type !== 'read' || result.nextOffset === offset) {
      at.complain(
        'I65',
        `${target.topic.name}-${target.partition} cannot be read at ${offset}: ${JSON.stringify(result)}`,
      )
      return undefined
    }
    const call = at.history.callsOf('poll').at(-1)!
    for (const record of call.answer?.records ?? []) records.set(record.offset, record)
    offset = result.nextOffset
  }
  const { name, topicId } = target.topic
  return { topic: name, topicId, partition: target.partition, logStartOffset: start, logEndOffset: end, records }
}

function lineText({ timeMs, node, level, message, fields }: LogLine): string {
  const error = fields.error === undefined ? '' : `\n    ${String(fields.error)}`
  return `${timeMs.toFixed(3)} ms  ${node}  ${level}  ${message}${error}`
}
