import type { Call, History, Mark } from '../history/history.ts'
import type { CheckInput } from './check-history.ts'
import { Incarnations } from './incarnations.ts'

/** What groups promise: one owner in a generation, no word of an old one, and commits that stay (I36, I37, I38). */
export function checkGroups(input: CheckInput): void {
  checkOwnership(input)
  checkGenerations(input)
  new CommitCheck(input).run()
}

/** Within a generation no two members own the same partition. */
function checkOwnership({ history, violations }: CheckInput): void {
  const owners = new Map<string, string>()
  const numbering = new Numbering(history)
  const instances = new Map(history.callsOf('join').map(({ request, answer }) => [answer?.member, request.instance]))
  for (const { request, answer, invokedAt, endedAt } of history.callsOf('sync')) {
    const place = numbering.of(request.group, { from: invokedAt, to: endedAt })
    if (place === undefined) continue
    const generation = `${request.group} generation ${request.generation} (numbering ${place})`
    for (const partition of answer?.share ?? []) {
      const key = `${generation} ${partition}`
      // A static member that comes back has another member id, and is the same.
      const member = instances.get(request.member) ?? request.member
      const owner = owners.get(key) ?? member
      if (owner !== member) violations.add('I36', `${partition} belongs to ${owner} and to ${member} in ${generation}`)
      owners.set(key, owner)
    }
  }
}

/** Once somebody has joined a generation, nobody acts in the name of an earlier one. */
function checkGenerations({ history, violations }: CheckInput): void {
  const numbering = new Numbering(history)
  const joins = history
    .callsOf('join')
    .filter(call => call.answer !== undefined)
    .sort((a, b) => a.endedAt - b.endedAt)
  for (const f of ['commit', 'heartbeat', 'sync'] as const) {
    for (const call of history.callsOf(f)) {
      if (call.outcome !== 'ok') continue
      const { group, generation, member } = call.request
      if (generation < 0) continue
      const newer = joins.find(join => {
        const isEarlier = join.request.group === group && join.endedAt < call.invokedAt
        if (!isEarlier || (join.answer?.generation ?? 0) <= generation) return false
        return numbering.of(group, { from: join.invokedAt, to: call.endedAt }) !== undefined
      })
      if (newer === undefined) continue
      const text = `${f} ${call.id} of ${member} in generation ${generation} of ${group} was taken, though ${newer.answer?.generation} had begun (call ${newer.id})`
      violations.add('I37', text)
    }
  }
}

/**
 * Generations are numbered anew with a life of the broker, since a crash may have taken the last of them, and where the
 * history says so.
 */
class Numbering {
  readonly #lives: readonly number[]
  readonly #anew: readonly Mark<'numberedAnew'>[]

  constructor(history: History) {
    this.#lives = history.marksOf('started').map(mark => mark.at)
    this.#anew = history.marksOf('numberedAnew')
  }

  /** Under which numbering something happened in that time; undefined when that changed meanwhile. */
  of(group: string, { from, to }: { readonly from: number; readonly to: number }): number | undefined {
    const before = this.#count(group, from)
    return before === this.#count(group, to) ? before : undefined
  }

  #count(group: string, place: number): number {
    const lives = this.#lives.filter(at => at <= place).length
    const anew = this.#anew.filter(({ at, value }) => at <= place && (value.group ?? group) === group).length
    return lives + anew
  }
}

/** Commits of one group to one partition as a register: a read gives the last write, or one that may be yet to come. */
class CommitCheck {
  readonly #input: CheckInput
  readonly #topics: Incarnations
  /** When the power was cut at a partition of the groups' topic. */
  readonly #cuts: readonly number[]

  constructor(input: CheckInput) {
    this.#input = input
    this.#topics = new Incarnations(input.history)
    this.#cuts = input.history
      .marksOf('cut')
      .filter(mark => mark.value.topic === '__consumer_offsets')
      .map(mark => mark.at)
  }

  run(): void {
    const { history } = this.#input
    const commits = Map.groupBy(history.callsOf('commit'), call => this.#keyOf(call))
    for (const read of history.callsOf('fetchCommitted')) {
      if (read.answer === undefined) continue
      const key = this.#keyOf(read)
      if (key !== undefined) this.#checkRead(read, commits.get(key) ?? [], commits)
    }
  }

  #keyOf(call: Call<'commit'> | Call<'fetchCommitted'>): string | undefined {
    const { request, invokedAt, endedAt } = call
    const since = 'since' in request ? request.since : undefined
    const topicId = this.#topics.reached(request, { invokedAt: since ?? invokedAt, endedAt })
    return topicId && `${call.request.group} ${topicId} ${call.request.partition}`
  }

  #checkRead(
    read: Call<'fetchCommitted'>,
    commits: readonly Call<'commit'>[],
    all: ReadonlyMap<string | undefined, readonly Call<'commit'>[]>,
  ): void {
    const { violations } = this.#input
    const { token = '', offset = -1 } = read.answer ?? {}
    const place = `${read.request.group} at ${read.request.topic}-${read.request.partition} (call ${read.id})`
    // Commits of other clients, which do not mark theirs, cannot be told apart.
    if (offset >= 0 && token === '') return
    const written = token === '' ? undefined : commits.find(commit => commit.request.token === token)
    if (offset >= 0 && written === undefined) {
      const unclear = all.get(undefined) ?? []
      if (unclear.some(commit => commit.request.token === token)) return
      violations.add('I38', `${place} has ${token}, which was committed to another topic or by nobody`)
      return
    }
    if (written?.outcome === 'fail')
      violations.add('I37', `${place} has ${token}, whose commit was refused with ${written.error}`)
    if (written !== undefined && written.request.offset !== offset)
      violations.add('I38', `${place} has ${offset} by ${token}, which was ${written.request.offset}`)
    // With the topic its commits go.
    const topicId = this.#topics.reached(read.request, read)
    if (topicId !== undefined && this.#topics.mayBeDeleted(topicId, read.endedAt)) return
    const lost = commits.find(commit => this.#mustBeSeen(commit, written, read))
    if (lost !== undefined)
      violations.add(
        'I38',
        `${place} has ${offset} by ${token || 'nobody'}, after ${lost.request.offset} was committed by ${lost.request.token}`,
      )
  }

  /** A commit that ended before the read began, and that began after the one that was read had ended. */
  #mustBeSeen(commit: Call<'commit'>, written: Call<'commit'> | undefined, read: Call<'fetchCommitted'>): boolean {
    if (commit.outcome !== 'ok' || commit.endedAt >= read.invokedAt || commit === written) return false
    if (written !== undefined && written.endedAt >= commit.invokedAt) return false
    const isAck = this.#input.plan.flush === 'ack'
    return isAck || !this.#cuts.some(cut => cut >= commit.invokedAt && cut <= read.endedAt)
  }
}
