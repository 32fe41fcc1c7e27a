import { setTimeout as pause } from 'node:timers/promises'
import { type BrokerProcess, until } from '../broker-process.ts'
import { CLIENTS } from '../clients.ts'
import { type DriverCommand, DriverProcess, drive } from '../driver-process.ts'
import { fromGo } from '../install.ts'
import type { Codec, Job } from '../job.ts'
import type { Call, Tap } from '../tap.ts'

export const brokerSettings = { 'num.partitions': '3' }
const PARTITIONS = 3
const WAIT_MS = 45_000

/** One report that became a test; the numbers are those of test/README.md. */
export interface Case {
  readonly name: string
  readonly client: string
  /** Where it can be run; both if absent. */
  readonly target?: 'millrace' | undefined
  /** What was wrong, if anything. */
  readonly run: (world: CaseWorld) => Promise<readonly string[]>
}

/** A broker behind a tap, and the clients. */
export class CaseWorld {
  readonly broker: BrokerProcess
  readonly tap: Tap
  readonly dir: string
  #names = 0

  constructor(broker: BrokerProcess, tap: Tap, dir: string) {
    this.broker = broker
    this.tap = tap
    this.dir = dir
  }

  /** A topic or group that nobody else uses. */
  fresh(kind: string): string {
    this.#names++
    return `${kind}-${this.#names}`
  }

  async command(client: string): Promise<DriverCommand> {
    const known = CLIENTS.find(({ name }) => name === client)
    return await (known === undefined ? fromGo(client) : known.install())
  }

  async create(command: DriverCommand, topics: readonly string[], partitions = PARTITIONS): Promise<void> {
    await drive(command, 'create', this.tap.bootstrap, { topics, partitions })
  }

  async produce(command: DriverCommand, jobs: readonly Job[], more: object = {}): Promise<DriverProcess> {
    return await drive(command, 'produce', this.tap.bootstrap, { jobs, ...more })
  }

  member(command: DriverCommand, argument: object): DriverProcess {
    return new DriverProcess(command, 'member', this.tap.bootstrap, { assignor: 'eager', ...argument })
  }

  /** The requests that go by while something is done. */
  async callsDuring(work: () => Promise<unknown>): Promise<readonly Call[]> {
    const first = this.tap.calls.length
    await work()
    return this.tap.calls.slice(first)
  }
}

export function jobFor(topic: string, more: Partial<Job> = {}): Job {
  const codec: Codec = 'none'
  return { topic, codec, idempotent: true, prefix: 'case', first: 0, count: 40, valueBytes: 100, ...more }
}

/** Every partition is with one of the members, and every member has one. */
export async function settle(members: readonly DriverProcess[]): Promise<void> {
  await until(
    'the members to share the partitions',
    () => {
      const gone = members.find(member => member.ended)
      if (gone !== undefined) throw gone.failure()
      const shares = members.map(member => member.assigned)
      const held = shares.flat()
      return shares.every(share => share.length > 0) && held.length === PARTITIONS && new Set(held).size === PARTITIONS
    },
    { timeoutMs: WAIT_MS },
  )
}

export async function seen(members: readonly DriverProcess[], count: number): Promise<void> {
  await until(
    `${count} records to be seen`,
    () => {
      const gone = members.find(member => member.ended)
      if (gone !== undefined) throw gone.failure()
      return members.flatMap(member => member.records).length >= count
    },
    { timeoutMs: WAIT_MS },
  )
  await pause(300) // and none comes twice
}

export async function leave(members: readonly DriverProcess[]): Promise<void> {
  for (const member of members) member.askToStop()
  for (const member of members) await member.finish(WAIT_MS)
}
