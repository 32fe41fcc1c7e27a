import { ErrorCode, errorName } from '../base/error-code.ts'
import type { BrokerConfig } from '../config/broker-config.ts'
import type { ControllerReply } from '../core/metadata/controller/replies.ts'
import type { Clock } from '../io/clock.ts'
import type { LogSink } from '../io/log-sink.ts'
import { groupTopic } from './groups/group-coordinator.ts'
import type { ControllerRequest } from './metadata/metadata-node.ts'
import { RepeatedLines } from './repeated-lines.ts'

const timeoutMs = 30_000

export interface AutoTopicCreatorOptions {
  readonly controller: (request: ControllerRequest) => Promise<ControllerReply>
  readonly config: () => BrokerConfig
  readonly clock: Clock
  readonly log: LogSink
}

/** Creates topics that clients name and that are not there, each once however many ask at the same time. */
export class AutoTopicCreator {
  readonly #options: AutoTopicCreatorOptions
  readonly #failures: RepeatedLines
  readonly #creating = new Map<string, Promise<void>>()

  constructor(options: AutoTopicCreatorOptions) {
    this.#options = options
    this.#failures = new RepeatedLines(options.clock)
  }

  /** Resolves when those that could be created are served. What could not is told in the log. */
  async create(names: readonly string[]): Promise<void> {
    const fresh = [...new Set(names)].filter(name => !this.#creating.has(name))
    if (fresh.length > 0) {
      const work = this.#create(fresh).finally(() => {
        for (const name of fresh) this.#creating.delete(name)
      })
      for (const name of fresh) this.#creating.set(name, work)
    }
    await Promise.all(names.map(name => this.#creating.get(name)))
  }

  async #create(names: readonly string[]): Promise<void> {
    const topics = names.map(name => this.#settingsOf(name))
    const reply = await this.#options.controller({
      type: 'createTopics',
      request: { topics, timeoutMs, validateOnly: false },
    })
    if (reply.type !== 'createTopics') return
    for (const { name, errorCode, errorMessage } of reply.response.topics) {
      if (errorCode === ErrorCode.none || errorCode === ErrorCode.topicAlreadyExists) continue
      const reason = errorMessage ?? errorName(errorCode)
      const line = `topic ${name} could not be created automatically: ${reason}${remedyFor(name, errorCode)}`
      if (this.#failures.isNew(line)) this.#options.log.write('warn', line, { topic: name, errorCode })
    }
  }

  #settingsOf(name: string) {
    const config = this.#options.config()
    if (name !== groupTopic) return { name, numPartitions: -1, replicationFactor: -1, assignments: [], configs: [] }
    return {
      name,
      numPartitions: config.offsetsTopicNumPartitions,
      replicationFactor: config.offsetsTopicReplicationFactor,
      assignments: [],
      configs: [
        { name: 'cleanup.policy', value: 'compact' },
        { name: 'compression.type', value: 'producer' },
        { name: 'segment.bytes', value: String(config.offsetsTopicSegmentBytes) },
      ],
    }
  }
}

/** Kafka's default wants three brokers. */
function remedyFor(name: string, errorCode: ErrorCode): string {
  if (name !== groupTopic || errorCode !== ErrorCode.invalidReplicationFactor) return ''
  return ' Until then no group can be joined: start this broker with a lower offsets.topic.replication.factor'
}
