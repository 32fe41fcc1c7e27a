import { tail, until } from '../broker-process.ts'
import { checkOnce } from '../check-records.ts'
import { DriverProcess, drive } from '../driver-process.ts'
import { type Assignor, expectedRecords, type Job } from '../job.ts'
import { PARTITIONS, type Subject } from './subject.ts'

/** Records sent each time that the group has come to rest. */
const ROUND = 60
const VALUE_BYTES = 100
const WAIT_MS = 45_000

/**
 * Three members share a topic; one leaves and the others take its partitions; a fourth joins and gets its share; all leave
 * and one comes back, alone. At each rest records are sent, and each is seen once, by one of the members there.
 */
export async function group(subject: Subject, assignor: Assignor): Promise<string[]> {
  const session = new GroupSession(subject, assignor)
  try {
    await subject.create([session.topic])
    // A broker that makes topics at first use makes this one now, before the members look for it.
    if (!subject.client.createsTopics) await session.send()
    const [first, second, third] = [session.join(), session.join(), session.join()]
    await session.settle('three members')
    await session.sendAndSee()
    await session.leave(second)
    await session.settle('two members')
    await session.sendAndSee()
    session.join()
    await session.settle('a new third member')
    await session.sendAndSee()
    for (const member of session.members) await session.leave(member)
    await session.send()
    session.join()
    await session.settle('a member that resumes')
    await session.seeAll()
    for (const member of session.members) await session.leave(member)
    subject.groups.push({ topic: session.topic, group: session.group, assignor, sent: session.sent })
    return [...session.check(), ...checkShare(first, third)]
  } finally {
    session.kill()
  }
}

/** After the broker was restarted: the groups go on where they were, and see what is sent now and nothing else. */
export async function resumeGroups(subject: Subject): Promise<string[]> {
  const wrong: string[] = []
  for (const resumed of subject.groups) {
    const session = new GroupSession(subject, resumed.assignor, resumed)
    try {
      session.join()
      await session.settle('a member after the restart')
      await session.sendAndSee()
      for (const member of session.members) await session.leave(member)
      wrong.push(...session.check())
      resumed.sent = session.sent
    } finally {
      session.kill()
    }
  }
  return wrong
}

/** Two members that were there all along have both been given records. */
function checkShare(...members: readonly DriverProcess[]): string[] {
  return members.some(member => member.records.length === 0) ? ['a member of three saw no record at all'] : []
}

class GroupSession {
  readonly topic: string
  readonly group: string
  sent: number
  readonly #subject: Subject
  readonly #assignor: Assignor
  readonly #first: number
  readonly #present = new Set<DriverProcess>()
  readonly #all: DriverProcess[] = []

  constructor(subject: Subject, assignor: Assignor, resumed?: { topic: string; group: string; sent: number }) {
    this.#subject = subject
    this.#assignor = assignor
    this.topic = resumed?.topic ?? `${subject.client.name}-group-${assignor}`
    this.group = resumed?.group ?? subject.newGroup(assignor)
    this.sent = resumed?.sent ?? 0
    this.#first = this.sent
  }

  get members(): readonly DriverProcess[] {
    return [...this.#present]
  }

  join(): DriverProcess {
    const argument = { topic: this.topic, group: this.group, assignor: this.#assignor }
    const member = new DriverProcess(this.#subject.command, 'member', this.#subject.broker.bootstrap, argument)
    this.#present.add(member)
    this.#all.push(member)
    return member
  }

  async leave(member: DriverProcess): Promise<void> {
    member.askToStop()
    await member.finish(WAIT_MS)
    this.#present.delete(member)
  }

  /** Every partition is with one member, and every member has one. */
  async settle(who: string): Promise<void> {
    await this.#until(`${who} to share the partitions`, () => {
      const shares = this.members.map(member => member.assigned)
      const held = shares.flat()
      return shares.every(share => share.length > 0) && held.length === PARTITIONS && new Set(held).size === PARTITIONS
    })
  }

  async send(): Promise<void> {
    const job = this.#job(this.sent, ROUND)
    await drive(this.#subject.command, 'produce', this.#subject.broker.bootstrap, { jobs: [job] })
    this.sent += ROUND
  }

  async sendAndSee(): Promise<void> {
    await this.send()
    await this.seeAll()
  }

  /** Waits until all that was sent is seen and, where the client tells, committed. */
  async seeAll(): Promise<void> {
    const wanted = expectedRecords(this.#jobs()).length
    await this.#until(`record ${this.sent} to be seen`, () => this.#seen().length >= wanted)
    if (!this.#subject.client.tellsCommits) return
    await this.#until(`all ${this.sent} records to be committed`, () => this.#committed() >= this.sent)
  }

  check(): string[] {
    const backwards = this.#all.flatMap(member => {
      const last = new Map<number, number>()
      return member.records.flatMap(({ partition, offset }) => {
        const before = last.get(partition) ?? -1
        last.set(partition, offset)
        return offset > before ? [] : [`a member saw offset ${offset} of partition ${partition} after ${before}`]
      })
    })
    return [...checkOnce(this.#seen(), this.#jobs()), ...backwards]
  }

  kill(): void {
    for (const member of this.#all) member.kill()
  }

  async #until(what: string, holds: () => boolean): Promise<void> {
    try {
      await until(what, () => this.#checkAlive() && holds(), { timeoutMs: WAIT_MS, everyMs: 10 })
    } catch (error) {
      const shares = this.members.map(member => `[${member.assigned}] ${member.records.length} records`)
      const said = this.members.flatMap(member => (member.said === '' ? [] : [`\none said: ${tail(member.said, 6)}`]))
      const state = `members hold ${shares.join(', ')}; ${this.#seen().length} were seen`
      throw new Error(`${(error as Error).message}; ${state}${said.join('')}`)
    }
  }

  /** A member that ended by itself fails the scenario at once. */
  #checkAlive(): boolean {
    const gone = this.members.find(member => member.ended)
    if (gone !== undefined) throw gone.failure()
    return true
  }

  #seen() {
    return this.#all.flatMap(member => member.records)
  }

  /** Sum over the partitions of the highest offset that the broker took. */
  #committed(): number {
    const highest = new Map<number, number>()
    for (const event of this.#all.flatMap(member => member.events)) {
      if (event.event !== 'committed') continue
      highest.set(event.partition, Math.max(event.offset, highest.get(event.partition) ?? 0))
    }
    return [...highest.values()].reduce((sum, offset) => sum + offset, 0)
  }

  #jobs(): Job[] {
    return [this.#job(this.#first, this.sent - this.#first)]
  }

  #job(first: number, count: number): Job {
    const kind = { codec: 'none', idempotent: true, prefix: 'group', valueBytes: VALUE_BYTES } as const
    return { topic: this.topic, ...kind, first, count }
  }
}
