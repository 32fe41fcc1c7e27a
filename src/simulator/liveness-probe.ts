import { ErrorCode, errorName } from '../base/error-code.ts'
import type { SimulatedBroker } from './cluster/simulated-broker.ts'
import type { PlannedTopic } from './plan.ts'
import { poll } from './workload/read-partition.ts'
import { sendBatch } from './workload/send-batch.ts'
import { UniqueRecords } from './workload/unique-records.ts'
import type { PartitionTarget, Workplace } from './workload/workplace.ts'

/** Tries of one partition before it is said not to serve; what was refused before faults ended may take a moment to be mended. */
const maxTries = 30
const pauseMs = 200

type Answer = ErrorCode | undefined

/**
 * All faults are over, but for directories that have failed: those stay away until the broker is started again. What lies there
 * answers KAFKA_STORAGE_ERROR, and everything else is written and read as if nothing had happened (I53).
 */
export async function probeLiveness(
  at: Workplace,
  broker: SimulatedBroker,
  topics: readonly PlannedTopic[],
): Promise<void> {
  const probe = new LivenessProbe(at, broker)
  for (const { name } of topics.filter(topic => !topic.isMortal)) {
    const [topic] = (await at.client.topics([name])) ?? []
    for (let partition = 0; partition < (topic?.partitionCount ?? 0); partition++)
      await probe.look({ topic: topic!, partition })
  }
}

class LivenessProbe {
  readonly #at: Workplace
  readonly #broker: SimulatedBroker
  readonly #records: UniqueRecords

  constructor(at: Workplace, broker: SimulatedBroker) {
    this.#at = at
    this.#broker = broker
    const shape = { maxValueBytes: 50, maxRecordsPerBatch: 1, hasWildTimestamps: false }
    this.#records = new UniqueRecords(`${at.process}-probe`, at.random, shape)
  }

  async look(target: PartitionTarget): Promise<void> {
    await this.#expect(target, 'a write', () => this.#send(target))
    await this.#expect(target, 'a read', () => this.#read(target))
  }

  /** undefined when there is no such log to ask, or no broker. */
  #isOffline({ topic, partition }: PartitionTarget): boolean | undefined {
    return this.#broker.broker?.partitions.byId(topic.topicId, partition)?.log.isOffline
  }

  async #expect(target: PartitionTarget, what: string, ask: () => Promise<Answer>): Promise<void> {
    const answers: Answer[] = []
    for (let tries = 0; tries < maxTries; tries++) {
      const before = this.#isOffline(target)
      const answer = await ask()
      const isOffline = this.#isOffline(target)
      if (isOffline === undefined || isOffline !== before) return
      if (isOffline && answer !== undefined) return this.#expectStorageError(target, what, answer)
      if (answer === ErrorCode.none) return
      answers.push(answer)
      await this.#at.client.sleep(pauseMs)
    }
    const heard = [...new Set(answers)].map(answer => (answer === undefined ? 'nothing' : errorName(answer)))
    this.#at.complain('I53', `${what} of ${nameOf(target)} fails where no directory has: ${heard.join(', ')}`)
  }

  #expectStorageError(target: PartitionTarget, what: string, answer: ErrorCode): void {
    if (answer === ErrorCode.kafkaStorageError) return
    const text = `${what} of ${nameOf(target)}, whose directory is offline, is answered with ${errorName(answer)}`
    this.#at.complain('I53', text)
  }

  async #send(target: PartitionTarget): Promise<Answer> {
    const areKeyed = this.#at.isCompacted(target.topic.name)
    const batch = this.#records.draw(this.#broker.now.wallMs, { areKeyed })
    const result = await sendBatch(this.#at, target, batch, { acks: -1, codec: 0, attempt: 1 })
    return answerOf(result)
  }

  /** At the end of the log, where nothing is damaged. */
  async #read(target: PartitionTarget): Promise<Answer> {
    const { topic, partition } = target
    const offset = this.#broker.broker?.partitions.byId(topic.topicId, partition)?.log.logEndOffset
    if (offset === undefined) return undefined
    return answerOf(await poll(this.#at, target, { offset, maxWaitMs: 0, maxBytes: 1000 }))
  }
}

function answerOf(result: { readonly type: string; readonly errorCode?: ErrorCode }): Answer {
  if (result.type === 'lost') return undefined
  return result.errorCode ?? ErrorCode.none
}

function nameOf({ topic, partition }: PartitionTarget): string {
  return `${topic.name}-${partition}`
}
