import { ErrorCode } from '../../base/error-code.ts'
import type { KnownTopic } from '../wire/wire-client.ts'
import {
  commit,
  fetchCommitted,
  findCoordinator,
  heartbeat,
  type Joined,
  type JoinOptions,
  join,
  leave,
  type Membership,
  sync,
} from './group-calls.ts'
import { listOffset, poll } from './read-partition.ts'
import { type PartitionTarget, think, type Workplace } from './workplace.ts'

export interface MemberOptions extends JoinOptions {
  readonly group: string
  /** The name of a static member. */
  readonly instance: string | undefined
  /** Chances, for each round of work. */
  readonly leaveRate: number
  readonly pauseRate: number
  /** Chance that a commit is sent in the name of a generation that is over. */
  readonly staleRate: number
}

const roundsPerLife = 60

/** A member of a group: joins, reads what it is given, commits, falls asleep, leaves, or is gone without a word. */
export async function runGroupMember(at: Workplace, options: MemberOptions): Promise<void> {
  const lives = new MemberLives(at, options)
  let member = ''
  while (!at.isStopping()) {
    await think(at, 100)
    member = await lives.run(member)
  }
}

class MemberLives {
  readonly #at: Workplace
  readonly #options: MemberOptions
  readonly #positions = new Map<string, number>()
  /** Who it was before it joined for the last time. */
  #previous: Membership | undefined
  #targets: readonly PartitionTarget[] = []

  constructor(at: Workplace, options: MemberOptions) {
    this.#at = at
    this.#options = options
  }

  /** From a join to the next one; answers the member id to use then. */
  async run(memberBefore: string): Promise<string> {
    const { group, instance } = this.#options
    const joined = await join(this.#at, { group, member: memberBefore, instance }, this.#options)
    if (joined.type === 'lost') return memberBefore
    if (joined.type === 'refused') return this.#afterRefusal(joined.errorCode, memberBefore)
    const synced = await this.#sync(joined.value)
    if (synced === undefined) return joined.value.member
    await this.#takeOver(synced)
    const member = await this.#work(joined.value)
    this.#previous = joined.value
    return member
  }

  async #afterRefusal(errorCode: ErrorCode, member: string): Promise<string> {
    if (needsCoordinator.has(errorCode)) await findCoordinator(this.#at, this.#options.group)
    return errorCode === ErrorCode.unknownMemberId || errorCode === ErrorCode.fencedInstanceId ? '' : member
  }

  async #sync(joined: Joined): Promise<readonly string[] | undefined> {
    // A leader that never says who gets what holds up the group until its session ends.
    if (joined.isLeader && this.#at.random.chance(0.03)) {
      await this.#at.client.sleep(this.#options.sessionTimeoutMs * 1.5)
      return undefined
    }
    const shares = joined.isLeader ? await this.#share(joined) : null
    const synced = await sync(this.#at, joined, shares)
    return synced.type === 'done' ? synced.value : undefined
  }

  /** What the leader decides: the partitions of all topics, dealt out in turn. */
  async #share({ members }: Joined): Promise<Record<string, string[]>> {
    const topics = (await this.#at.client.topics(this.#at.topicNames)) ?? []
    const shares: Record<string, string[]> = Object.fromEntries(members.map(member => [member, []]))
    let turn = 0
    for (const { name, topicId, partitionCount } of topics)
      for (let partition = 0; partition < partitionCount; partition++) {
        const member = members[turn++ % members.length]
        if (member !== undefined) shares[member]!.push([name, topicId, partition].join(' '))
      }
    return shares
  }

  async #takeOver(share: readonly string[]): Promise<void> {
    this.#positions.clear()
    this.#targets = share.map(text => {
      const [name = '', topicId = '', partition] = text.split(' ')
      const topic: KnownTopic = { name, topicId, partitionCount: 0, leaderEpochs: [] }
      return { topic, partition: Number(partition) }
    })
    for (const target of this.#targets) {
      const committed = await fetchCommitted(this.#at, this.#options.group, target)
      if (committed.type !== 'done') continue
      const offset = committed.value >= 0 ? committed.value : await listOffset(this.#at, target, -2)
      if (offset !== undefined) this.#positions.set(nameOf(target), offset)
    }
  }

  async #work(joined: Joined): Promise<string> {
    const { random } = this.#at
    for (let left = random.between(1, roundsPerLife); left > 0 && !this.#at.isStopping(); left--) {
      const beat = await heartbeat(this.#at, joined)
      if (beat.type === 'refused') {
        if (random.chance(0.3)) await this.#commitSome(joined)
        return this.#afterRefusal(beat.errorCode, joined.member)
      }
      for (const target of this.#targets) await this.#read(target)
      await this.#commitSome(joined)
      if (random.chance(this.#options.pauseRate)) await this.#fallAsleep(joined)
      else await think(this.#at, this.#options.sessionTimeoutMs / 10)
      if (random.chance(this.#options.leaveRate)) {
        await leave(this.#at, joined)
        await this.#commitSome(joined)
        return ''
      }
    }
    // Gone without a word, or back at once.
    return random.chance(0.5) ? '' : joined.member
  }

  async #read(target: PartitionTarget): Promise<void> {
    const { random } = this.#at
    const offset = this.#positions.get(nameOf(target))
    if (offset === undefined) return
    const result = await poll(this.#at, target, {
      offset,
      maxWaitMs: random.pick([0, 50]),
      maxBytes: random.pick([500, 100_000]),
    })
    if (result.type === 'read') this.#positions.set(nameOf(target), result.nextOffset)
    else if (result.type === 'refused' && result.errorCode === ErrorCode.offsetOutOfRange) {
      const start = await listOffset(this.#at, target, -2)
      if (start !== undefined) this.#positions.set(nameOf(target), start)
    } else if (result.type === 'refused') this.#positions.delete(nameOf(target))
  }

  async #commitSome(joined: Joined): Promise<void> {
    const { random } = this.#at
    for (const target of this.#targets) {
      const offset = this.#positions.get(nameOf(target))
      if (offset === undefined || random.chance(0.5)) continue
      const isStale = this.#previous !== undefined && random.chance(this.#options.staleRate)
      const membership = isStale ? this.#previous! : joined
      const token = `${this.#at.process}.${this.#at.history.length}`
      await commit(this.#at, membership, target, { offset, token })
    }
  }

  /** For longer than the session lasts; what is committed afterwards comes too late. */
  async #fallAsleep(joined: Joined): Promise<void> {
    const { sessionTimeoutMs } = this.#options
    await this.#at.client.sleep(sessionTimeoutMs + this.#at.random.below(sessionTimeoutMs))
    await this.#commitSome(joined)
  }
}

const needsCoordinator: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.notCoordinator,
  ErrorCode.coordinatorNotAvailable,
  ErrorCode.coordinatorLoadInProgress,
])

function nameOf({ topic, partition }: PartitionTarget): string {
  return `${topic.topicId} ${partition}`
}
