import type { SimulatedBroker } from './cluster/simulated-broker.ts'
import type { History } from './history/history.ts'
import type { SimulatedNode } from './io/simulated-node.ts'
import type { World } from './io/world.ts'
import type { Plan } from './plan.ts'
import type { Violations } from './violations.ts'
import { WireClient } from './wire/wire-client.ts'
import { runAssignedConsumer } from './workload/assigned-consumer.ts'
import { runCommittedReader } from './workload/committed-reader.ts'
import { runGroupMember } from './workload/group-member.ts'
import { runIdCollector, runIdempotentProducer } from './workload/idempotent-producer.ts'
import { runLibraryMember, runLibraryProducer, runLibraryReader } from './workload/library-client.ts'
import { runPlainProducer } from './workload/plain-producer.ts'
import { runTopicAdmin } from './workload/topic-admin.ts'
import type { Workplace } from './workload/workplace.ts'

type Work = (at: Workplace) => Promise<void>

/** A client host; its process may crash and another begin. */
interface Hand {
  readonly name: string
  readonly node: SimulatedNode
  readonly work: Work
  lives: number
  process: string
  isDone: boolean
}

export interface CrewParts {
  readonly world: World
  readonly plan: Plan
  readonly history: History
  readonly violations: Violations
  readonly broker: SimulatedBroker
}

const codecs = [0, 0, 1, 2, 3, 4]
const group = 'group-1'
const libraryGroup = 'group-2'

/** All clients of a run. */
export class Crew {
  readonly #parts: CrewParts
  readonly #hands: Hand[] = []
  readonly #seenTopics = new Set<string>()
  #isStopping = false

  constructor(parts: CrewParts) {
    this.#parts = parts
  }

  get nodes(): readonly SimulatedNode[] {
    return this.#hands.map(hand => hand.node)
  }

  get groups(): readonly string[] {
    return [group, libraryGroup]
  }

  /** A client that only does what it is told. */
  hire(name: string): Workplace {
    const node = this.#parts.world.addNode(name)
    return this.#workplace(name, node)
  }

  start(): void {
    const { clients, topics } = this.#parts.plan
    const { thinkMs, maxValueBytes, evenValueBytes, hasWildTimestamps, sessionTimeoutMs, admin } = clients
    const shape = { maxValueBytes, evenValueBytes, maxRecordsPerBatch: 8, hasWildTimestamps }
    const single = { ...shape, maxRecordsPerBatch: 1 }
    const library = { endpoint: this.#parts.broker.endpoint, shape: single, thinkMs }
    this.#add(
      'idempotent',
      clients.idempotent,
      () => at => runIdempotentProducer(at, { shape, codecs, thinkMs, repeatRate: 0.1 }),
    )
    this.#add('id-collector', clients.idCollectors ?? 0, () => runIdCollector)
    this.#add(
      'plain',
      clients.plain,
      () => at => runPlainProducer(at, { shape, codecs, acks: [0, 1, -1, -1], thinkMs }),
    )
    this.#add('reader', clients.assigned, () => runAssignedConsumer)
    this.#add('member', clients.members, number => at => {
      const instance = number <= clients.staticMembers ? `instance-${number}` : undefined
      const times = { sessionTimeoutMs, rebalanceTimeoutMs: sessionTimeoutMs * 2 }
      return runGroupMember(at, { group, instance, ...times, leaveRate: 0.03, pauseRate: 0.03, staleRate: 0.1 })
    })
    this.#add('library-producer', clients.libraryProducers, () => at => runLibraryProducer(at, library))
    this.#add('library-reader', clients.libraryReaders, () => at => runLibraryReader(at, library))
    this.#add(
      'library-member',
      clients.libraryMembers,
      () => at => runLibraryMember(at, { ...library, group: libraryGroup }),
    )
    const { transactions } = this.#parts.plan
    const { ledger } = this.#parts.broker
    if (transactions !== undefined) {
      const reading = {
        topic: transactions.topic.name,
        isDamaged: (id: string, index: number) => ledger.isDamaged(id, index),
      }
      this.#add('committed-reader', transactions.readers, () => at => runCommittedReader(at, reading))
    }
    if (admin === undefined) return
    const mortalTopics = topics.filter(topic => topic.isMortal)
    this.#add('topic-admin', 1, () => at => runTopicAdmin(at, { ...admin, mortalTopics }))
  }

  /** No new work; what was begun is brought to its end. */
  stop(): void {
    this.#isStopping = true
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  get isDone(): boolean {
    return this.#hands.every(hand => hand.isDone)
  }

  /** Who has not come to an end. */
  get late(): readonly string[] {
    return this.#hands.filter(hand => !hand.isDone).map(hand => hand.process)
  }

  /** Ends the process of one client, and begins another in its place. */
  crash(hand: number): void {
    const one = this.#hands[hand]!
    if (one.isDone) return
    one.node.crash('kill')
    this.#parts.history.crashed(one.process)
    this.#begin(one)
  }

  #add(name: string, count: number, work: (number: number) => Work): void {
    for (let number = 1; number <= count; number++) {
      const node = this.#parts.world.addNode(`${name}-${number}`)
      const hand: Hand = { name: node.name, node, work: work(number), lives: 0, process: '', isDone: false }
      this.#hands.push(hand)
      this.#begin(hand)
    }
  }

  #begin(hand: Hand): void {
    hand.lives++
    hand.process = hand.lives === 1 ? hand.name : `${hand.name}:${hand.lives}`
    const life = hand.lives
    const over = () => {
      if (hand.lives === life) hand.isDone = true
    }
    hand.work(this.#workplace(hand.process, hand.node)).then(over, error => {
      if (hand.lives !== life) return
      over()
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
      this.#parts.violations.add('run', `${hand.process} failed: ${text}`)
    })
  }

  #workplace(process: string, node: SimulatedNode): Workplace {
    const { world, plan, history, violations, broker } = this.#parts
    const random = world.random(process)
    const complain = (invariant: string, text: string) => violations.add(invariant, `${process}: ${text}`)
    const client = new WireClient({
      io: node.start(),
      random,
      endpoint: broker.endpoint,
      clientId: process,
      complain: text => complain('I58', text),
      sawTopic: ({ name, topicId }) => {
        if (this.#seenTopics.has(topicId)) return
        this.#seenTopics.add(topicId)
        history.mark('seenTopic', { topic: name, topicId })
      },
    })
    const topicNames = plan.topics.map(topic => topic.name)
    const isCompacted = (name: string) => plan.topics.some(topic => topic.name === name && topic.isCompacted === true)
    return { process, client, history, random, topicNames, isCompacted, isStopping: () => this.#isStopping, complain }
  }
}
