import { Checker } from './checker.ts'
import type { MakeController, SimController, TopicRules } from './cluster-controller.ts'
import { EventQueue } from './event-queue.ts'
import { SimBroker } from './sim-broker.ts'
import type { SimBatch, SimRecord } from './sim-log.ts'
import { SimRandom } from './sim-random.ts'

export interface WorldOptions {
  readonly seed: number
  readonly makeController: MakeController
  readonly rules: TopicRules
  /** Of each broker: `millrace.flush=ack`. */
  readonly flushBeforeAck: readonly boolean[]
  /** Whether a broker can tell the end of its process from a power cut, and so knows that it has lost nothing. */
  readonly knowsBoot: boolean
  readonly compaction?: CompactionPlan | undefined
}

/** A compacted topic: how often a broker looks whether there is something to do, and `delete.retention.ms`. */
export interface CompactionPlan {
  readonly meanGapMs: number
  readonly deleteRetentionMs: number
}

const keys = 12

/** Brokers, their controller (0), the network between them, and time. All that happens is an event of one queue. */
export class World {
  readonly random: SimRandom
  readonly rules: TopicRules
  readonly checker: Checker
  readonly brokers: SimBroker[] = []
  readonly controller: SimController
  /** Of each message between brokers. */
  lossProbability = 0
  duplicateProbability = 0
  damageProbability = 0
  maxDelayMs = 5
  /** Links `from>to` on which nothing arrives. */
  readonly blocked = new Set<string>()
  isControllerDown = false
  notControllerProbability = 0
  /** Of an answer of the controller, besides what is lost anyway. */
  lostAnswerProbability = 0
  /** What happens when a leader asks for other in-sync replicas: the driver's to say. */
  proposed: (leader: SimBroker, joining: number) => void = () => {}
  /** Of each write. */
  writeFailureProbability = 0
  readonly knowsBoot: boolean
  readonly compaction: CompactionPlan | undefined
  /** Apart from the other, so that a seed has the same faults whether the topic is compacted or not. */
  readonly contentRandom: SimRandom
  readonly lagTimeMaxMs: number
  readonly #queue = new EventQueue()
  readonly #bytes: (readonly SimBatch[])[] = []
  #trace = 0x811c9dc5
  #batches = 0

  constructor({ seed, makeController, rules, flushBeforeAck, knowsBoot, compaction }: WorldOptions) {
    this.random = new SimRandom(seed)
    this.contentRandom = new SimRandom(seed ^ 0xc0de)
    this.compaction = compaction
    this.rules = rules
    this.knowsBoot = knowsBoot
    this.lagTimeMaxMs = this.random.pick([250, 1200])
    this.controller = makeController(rules)
    this.checker = new Checker(this)
    for (const [index, id] of rules.replicas.entries()) {
      this.brokers.push(new SimBroker(this, id, flushBeforeAck[index]))
    }
    this.checker.stateChanged(undefined, this.controller.state)
    this.#tickController()
  }

  get nowMs(): number {
    return this.#queue.nowMs
  }
  get handledEvents(): number {
    return this.#queue.handled
  }
  /** A rolling hash over all that happened: equal for equal runs. */
  get trace(): string {
    return (this.#trace >>> 0).toString(16).padStart(8, '0')
  }

  broker(id: number): SimBroker | undefined {
    return this.brokers.find(broker => broker.id === id)
  }

  schedule(delayMs: number, run: () => void): void {
    this.#queue.schedule(delayMs, run)
  }

  runUntil(timeMs: number): void {
    this.#queue.runUntil(timeMs)
  }

  note(id: number, what: string): void {
    let hash = this.#trace ^ Math.floor(this.nowMs * 1000) ^ id
    for (let i = 0; i < what.length; i++) hash = Math.imul(hash ^ what.charCodeAt(i), 0x01000193)
    this.#trace = hash
  }

  /** The controller decides and commits in one go. */
  decide<T>(request: (controller: SimController) => T): T {
    const before = this.controller.state
    const answer = request(this.controller)
    const after = this.controller.state
    if (after !== before) {
      this.note(0, `${after.endOffset} ${after.partition.leaderEpoch} ${after.partition.isr}`)
      this.checker.stateChanged(before, after)
    }
    return answer
  }

  isLost(link: string): boolean {
    return this.blocked.has(link) || this.random.chance(this.lossProbability)
  }

  delay(): number {
    return this.random.between(0.1, this.maxDelayMs)
  }

  /** Brings a message to another broker, or twice, or not at all. Messages overtake one another. */
  carry(from: number, to: number, arrive: () => void): void {
    const copies = this.random.chance(this.duplicateProbability) ? 2 : 1
    for (let i = 0; i < copies; i++) if (!this.isLost(`${from}>${to}`)) this.schedule(this.delay(), arrive)
  }

  /** Whether losing what is committed can be right in this world. */
  get mayLoseCommitted(): boolean {
    return this.rules.allowsUnclean || !this.brokers.every(({ flushBeforeAck }) => flushBeforeAck)
  }

  /** It left in good order, and comes back some time. */
  stopped(broker: SimBroker): void {
    broker.stop()
    this.schedule(this.random.between(50, 3000), () => {
      if (!broker.isUp) broker.start()
    })
  }

  newName(): string {
    return `b${this.#batches++}`
  }

  newRecords(baseOffset: number, count: number): SimRecord[] {
    const { contentRandom: random } = this
    return Array.from({ length: count }, (_, index) => {
      return { offset: baseOffset + index, key: random.below(keys), isTombstone: random.chance(0.4) }
    })
  }

  /** Batches travel as a number: where to find them. */
  bytesOf(batches: readonly SimBatch[]): Buffer {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(this.#bytes.push(batches) - 1)
    return bytes
  }

  batchesOf(bytes: Buffer): readonly SimBatch[] {
    return this.#bytes[bytes.readInt32BE()]
  }

  #tickController(): void {
    this.schedule(this.random.between(100, 300), () => {
      if (!this.isControllerDown) this.decide(controller => controller.tick(this.nowMs))
      this.#tickController()
    })
  }
}
