import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type BrokerProcess, until } from '../broker-process.ts'
import type { Client } from '../clients.ts'
import { type Acked, type DriverCommand, drive } from '../driver-process.ts'
import type { Assignor, Codec, Job } from '../job.ts'

export const PARTITIONS = 6
/** Records that each job sends in each of its two halves. */
const HALF = 40
const VALUE_BYTES = 300
/** From a partition's folder to its being served. */
const SETTLING_MS = 200

/** One client against one broker, and what it has been found to have sent so far. */
export class Subject {
  readonly client: Client
  readonly command: DriverCommand
  readonly broker: BrokerProcess
  readonly codecs: readonly Codec[]
  readonly assignors: readonly Assignor[]
  /** First record of each job is sent not before this, unix milliseconds. */
  beganAt = 0
  /** The first half was sent before it, the second after it, by a clear margin. */
  halfTimeAt = 0
  /** Where the client was told that its records are, if it tells. */
  acked: readonly Acked[] = []
  /** The groups that were used and left, to be resumed after the broker has been restarted. */
  readonly groups: { readonly topic: string; readonly group: string; readonly assignor: Assignor; sent: number }[] = []
  #groups = 0

  constructor(client: Client, command: DriverCommand, broker: BrokerProcess, sample: boolean) {
    this.client = client
    this.command = command
    this.broker = broker
    this.codecs = sample ? ['none', client.sampleCodec] : client.codecs
    this.assignors = sample ? client.assignors.slice(0, 1) : client.assignors
  }

  /** One job for each codec, idempotent and not, each to a topic of its own: its batches in the files can then be told apart. */
  jobs(half: 'first' | 'second'): Job[] {
    const first = half === 'first' ? 0 : HALF
    return this.codecs.flatMap(codec =>
      [false, true].map(idempotent => {
        const prefix = `${codec}-${idempotent ? 'idempotent' : 'plain'}`
        const topic = `${this.client.name}-${prefix}`
        return { topic, codec, idempotent, prefix, first, count: HALF, valueBytes: VALUE_BYTES }
      }),
    )
  }

  get topics(): string[] {
    return this.jobs('first').map(({ topic }) => topic)
  }

  /** A group that nobody has used yet. */
  newGroup(purpose: string): string {
    this.#groups++
    return `${this.client.name}-${purpose}-${this.#groups}`
  }

  async create(topics: readonly string[]): Promise<void> {
    if (!this.client.createsTopics) return
    await drive(this.command, 'create', this.broker.bootstrap, { topics, partitions: PARTITIONS })
    // Kafka answers when the controller has decided, and makes the partitions just after. A client that retries without
    // idempotence would then rightly leave its records there twice.
    const folders = topics.flatMap(topic => Array.from({ length: PARTITIONS }, (_, index) => `${topic}-${index}`))
    const isThere = (folder: string): boolean => this.broker.logDirs.some(logDir => existsSync(join(logDir, folder)))
    await until('the new partitions to be there', () => folders.every(isThere))
    await pause(SETTLING_MS)
  }
}
