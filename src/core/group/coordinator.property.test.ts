import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import type { Random } from '../../base/random.ts'
import type { Now } from '../../base/time.ts'
import { zeroUuid } from '../../base/uuid.ts'
import { seededRandom } from '../../protocol/seeded-random.ts'
import { recordBatchCodec } from '../state-machine/record-batch-codec.ts'
import type { GroupCommand } from './commands.ts'
import { GroupCoordinator } from './coordinator.ts'
import { GroupUnderTest, testConfig } from './group-under-test.ts'
import { groupRecords } from './records.ts'
import {
  type Identity,
  type MemberWorld,
  partitionCount,
  rebalanceTimeoutMs,
  SimulatedMember,
  sessionTimeoutMs,
} from './simulated-member.ts'

/**
 * Random members of random versions on a coordinator that is reloaded, refused, delayed and failed at random. After
 * every step: live durable state is what a replay gives (I38), deciding has changed nothing, no request is answered
 * twice. Throughout: an old generation changes nothing (I37), a generation has one assignment (I36), what was committed is
 * fetched. In the end: every request was answered, and live members come together and own every partition once.
 */

const groupIds = ['g1', 'g2']

/** Says so when deciding changes anything. */
class CheckedCoordinator extends GroupCoordinator {
  override decide(command: GroupCommand, now: Now) {
    const before = JSON.stringify(this.inspect())
    const decision = super.decide(command, now)
    assert.equal(JSON.stringify(this.inspect()), before, 'deciding changes nothing')
    return decision
  }
}

interface Settled {
  readonly generationId: number
  readonly leaderId: string | undefined
  readonly members: readonly { readonly memberId: string; readonly assignment: Buffer }[]
}

/** The parts of an inspection that are looked at here. */
interface Inspected {
  readonly durable: { readonly groups: readonly [string, Settled][] }
  readonly soft: { readonly live: readonly { readonly groupId: string; readonly group: Settled & { state: string } }[] }
}

/** What an offset may be: what was acknowledged last, and what was tried since and may have come through. */
interface Possible {
  readonly attempts: { requestId: number; value: number }[]
  value: number
}

class World implements MemberWorld {
  readonly chance: Random
  readonly group: GroupUnderTest
  readonly members: SimulatedMember[] = []
  /** Identities that someone once had. */
  readonly #old: { groupId: string; identity: Identity }[] = []
  /** The highest generation that anyone was told since the coordinator was loaded. */
  #lastRequestBeforeLoad = 0
  readonly #toldGeneration = new Map<string, number>()
  /** By group and generation: the assignment that members were given. */
  readonly #assignments = new Map<string, string>()
  readonly #possible = new Map<string, Possible>()
  readonly #requests = new Set<number>()
  readonly #unchecked: { check: () => boolean }[] = []
  #shadow = new GroupCoordinator(testConfig, seededRandom(0))
  #shadowBatches: Buffer[] = []
  readonly #happenings: readonly { readonly weight: number; readonly run: () => void }[]
  /** How often members leave and crash. */
  readonly restlessness: number
  #assignmentCount = 0

  constructor(seed: number) {
    this.chance = seededRandom(seed)
    const initialRebalanceDelayMs = pick(this.chance, [0, 0, 1000])
    const config = { initialRebalanceDelayMs, maxSize: pick(this.chance, [100, 3]) }
    this.group = new GroupUnderTest(config, this.chance, CheckedCoordinator)
    this.#happenings = this.#drawHappenings()
    this.restlessness = pick(this.chance, [0, 1, 4])
    for (let i = 0; i < 7; i++) {
      const groupInstanceId = this.chance.below(3) === 0 ? `i${i}` : null
      this.members.push(new SimulatedMember(this, pick(this.chance, groupIds), groupInstanceId))
    }
  }

  step(): void {
    let left = this.chance.below(this.#happenings.reduce((sum, { weight }) => sum + weight, 0))
    const happening = this.#happenings.find(({ weight }) => {
      left -= weight
      return left < 0
    })
    happening?.run()
    this.check()
  }

  /** What happens, and how often, differs from seed to seed. */
  #drawHappenings() {
    const { chance, group } = this
    const sometimes = () => pick(chance, [0, 1, 3])
    return [
      { weight: 30, run: () => pick(chance, this.members).step() },
      { weight: 3, run: () => group.advance(chance.below(3000)) },
      { weight: sometimes(), run: () => group.advance(chance.below(20_000)) },
      { weight: 2 * sometimes(), run: () => this.#zombie() },
      { weight: 2, run: () => this.#fetch() },
      { weight: sometimes(), run: () => this.#reload() },
      { weight: sometimes(), run: () => this.#failAppends() },
      { weight: sometimes(), run: () => this.#refuse() },
      { weight: 1, run: () => this.#administer() },
      { weight: sometimes(), run: () => this.#holdCommits() },
      { weight: 4, run: () => group.commit() },
    ]
  }

  check(): void {
    const { runner, log } = this.group
    const isContinued = this.#shadowBatches.every((batch, i) => log.batches[i] === batch)
    if (!isContinued) {
      this.#shadow = new GroupCoordinator(testConfig, this.chance)
      this.#shadowBatches = []
    }
    const codec = recordBatchCodec(groupRecords)
    for (const batch of log.batches.slice(this.#shadowBatches.length)) {
      const decoded = codec.decode(batch)
      assert.ok(decoded.type === 'data')
      for (const { offset, record } of decoded.records) this.#shadow.apply(record, { offset, producerId: -1 })
      this.#shadowBatches.push(batch)
    }
    assert.deepEqual(runner.inspect()?.durable, this.#shadow.inspect().durable)
    this.#checkStored()
    for (let i = this.#unchecked.length - 1; i >= 0; i--) {
      if (this.#unchecked[i].check()) this.#unchecked.splice(i, 1)
    }
  }

  /** A group that is settled is what the log says of it. */
  #checkStored(): void {
    const { durable, soft } = this.group.runner.inspect() as unknown as Inspected
    const stored = new Map(durable.groups)
    for (const { groupId, group } of soft.live) {
      const record = stored.get(groupId)
      if ((group.state !== 'Stable' && group.state !== 'Empty') || record === undefined) continue
      const settled = ({ generationId, leaderId, members }: Settled) => [
        generationId,
        leaderId,
        members.map(({ memberId, assignment }) => `${memberId} ${assignment}`),
      ]
      assert.deepEqual(settled(group), settled(record), 'a settled group is as it is stored')
    }
  }

  /** Healed: members go about their business until they agree, and everything that was asked is answered. */
  settle(): void {
    const { group } = this
    group.holdsCommits = false
    group.log.refusal = ErrorCode.none
    group.commit()
    for (let round = 0; round < 60; round++) {
      for (const member of this.members) member.step({ isSteady: true })
      group.advance(1000)
      this.check()
    }
    for (const groupId of groupIds) this.#assertSettled(groupId)
    assert.equal(group.runner.waitingAnswers, 0)
    group.advance(10 * 60_000)
    assert.equal(group.runner.openRequests, 0, 'every request was answered')
    for (const requestId of this.#requests) assert.ok(group.replyTo(requestId) !== undefined)
  }

  newAssignmentName(): string {
    return `a${this.#assignmentCount++}`
  }

  sent<P extends { readonly requestId: number }>(pending: P): P {
    this.#requests.add(pending.requestId)
    return pending
  }

  told(groupId: string, identity: Identity, requestId: number): void {
    this.#old.push({ groupId, identity })
    // An answer of before the last load may be of a generation that is gone.
    if (requestId <= this.#lastRequestBeforeLoad) return
    this.#toldGeneration.set(groupId, Math.max(identity.generationId, this.#toldGeneration.get(groupId) ?? -1))
  }

  /** A generation is assigned once; whoever is told something is told a part of it. */
  assigned(groupId: string, generationId: number, assignment: string): void {
    const [name] = assignment.split(':')
    const key = `${groupId} ${generationId}`
    const known = this.#assignments.get(key)
    if (name !== '') assert.ok(known === undefined || known === name, 'a generation has one assignment')
    if (name !== '') this.#assignments.set(key, name)
  }

  commitOffset(groupId: string, identity: Identity | undefined): void {
    const partition = this.chance.below(3)
    const value = this.chance.below(1_000_000)
    const told = this.#toldGeneration.get(groupId) ?? -1
    const fields = identity && {
      memberId: identity.memberId,
      generationIdOrMemberEpoch: identity.generationId,
      groupInstanceId: identity.groupInstanceId,
    }
    const commit = this.sent(this.group.offsetCommit(groupId, { [partition]: value }, fields ?? {}))
    const possible = this.#of(groupId, partition)
    possible.attempts.push({ requestId: commit.requestId, value })
    this.#unchecked.push({
      check: () => {
        if (!commit.isAnswered) return false
        const [errorCode] = commit.get()
        if (errorCode === ErrorCode.none) {
          if (identity !== undefined)
            assert.ok(identity.generationId >= told, 'an old generation commits nothing (I37)')
          this.#acknowledged(possible, commit.requestId)
        } else if (!isUncertain(errorCode)) {
          possible.attempts.splice(
            possible.attempts.findIndex(one => one.requestId === commit.requestId),
            1,
          )
        }
        return true
      },
    })
  }

  #fetch(): void {
    const { group } = this
    const groupId = pick(this.chance, groupIds)
    const partition = this.chance.below(3)
    const topics = [{ name: 't', topicId: zeroUuid, partitionIndexes: [partition] }]
    const groups = [{ groupId, memberId: null, memberEpoch: -1, topics }]
    const possible = this.#of(groupId, partition)
    const candidates = new Set([possible.value, ...possible.attempts.map(({ value }) => value)])
    const requestId = group.submit({ type: 'offsetFetch', apiVersion: 9, groups, requireStable: false })
    this.#requests.add(requestId)
    this.#unchecked.push({
      check: () => {
        const reply = group.replyTo(requestId)
        if (reply === undefined) return false
        assert.ok(reply.type === 'offsetFetch')
        if (reply.groups[0].errorCode !== ErrorCode.none) return true
        assert.ok(
          candidates.has(reply.groups[0].topics[0].partitions[0].committedOffset),
          'what was committed is fetched',
        )
        return true
      },
    })
  }

  #zombie(): void {
    if (this.#old.length === 0) return
    // Recent ones are likely to be of members that are still there.
    const { groupId, identity } = pick(this.chance, this.#old.slice(-10))
    const { memberId, generationId, groupInstanceId } = identity
    const fields = groupInstanceId === null ? {} : { groupInstanceId }
    const isOld = generationId < (this.#toldGeneration.get(groupId) ?? -1)
    const what = this.chance.below(5)
    if (what < 2) {
      this.commitOffset(groupId, identity)
    } else if (what === 2) {
      const errorCode = this.group.heartbeat(groupId, generationId, memberId, groupInstanceId)
      assert.ok(!isOld || errorCode !== ErrorCode.none, 'an old generation is not alive (I37)')
    } else if (what === 3 && isOld) {
      const sync = this.sent(this.group.sync(groupId, generationId, memberId, {}, fields))
      this.#unchecked.push({
        check: () => {
          assert.ok(!sync.isAnswered || sync.get().errorCode !== ErrorCode.none, 'nor is it assigned (I37)')
          return sync.isAnswered
        },
      })
    } else {
      this.sent(this.group.join(groupId, memberId, { groupInstanceId, sessionTimeoutMs, rebalanceTimeoutMs }))
    }
  }

  #refuse(): void {
    const { log } = this.group
    log.refusal = log.refusal === ErrorCode.none ? ErrorCode.notEnoughReplicas : ErrorCode.none
  }

  #holdCommits(): void {
    this.group.holdsCommits = !this.group.holdsCommits
  }

  #administer(): void {
    const groupId = pick(this.chance, groupIds)
    if (this.chance.below(2) === 0) {
      this.commitOffset(groupId, undefined)
      return
    }
    this.#requests.add(this.group.submit({ type: 'describeGroups', apiVersion: 6, groupIds }))
    this.#requests.add(this.group.submit({ type: 'listGroups', apiVersion: 5, statesFilter: [], typesFilter: [] }))
  }

  #reload(): void {
    this.group.reload()
    this.#forgetTold()
  }

  #failAppends(): void {
    this.group.log.failUncommitted()
    this.group.runner.appendFailed()
    this.group.load()
    this.#forgetTold()
  }

  #forgetTold(): void {
    this.#toldGeneration.clear()
    this.#lastRequestBeforeLoad = Math.max(0, ...this.#requests)
  }

  #of(groupId: string, partition: number): Possible {
    const key = `${groupId} ${partition}`
    const possible = this.#possible.get(key) ?? { value: -1, attempts: [] }
    this.#possible.set(key, possible)
    return possible
  }

  /** Attempts before it were overwritten or never happened. */
  #acknowledged(possible: Possible, requestId: number): void {
    const at = possible.attempts.findIndex(attempt => attempt.requestId === requestId)
    if (at === -1) return
    possible.value = possible.attempts[at].value
    possible.attempts.splice(0, at + 1)
  }

  #assertSettled(groupId: string): void {
    const live = this.members.filter(member => member.groupId === groupId)
    const stable = live.filter(member => member.state.type === 'stable')
    const expected = Math.min(live.length, this.group.config.maxSize)
    assert.equal(stable.length, expected, `${groupId}: live members come together`)
    if (stable.length === 0) return
    assert.equal(new Set(stable.map(member => member.generationId)).size, 1, 'all in one generation')
    const owned = stable.flatMap(member => (member.state.type === 'stable' ? member.state.owned : []))
    assert.deepEqual(
      owned.sort(),
      Array.from({ length: partitionCount }, (_, i) => i),
      'every partition is owned once',
    )
    assert.equal(this.group.describe(groupId).groupState, 'Stable')
  }
}

function pick<T>(chance: Random, values: readonly T[]): T {
  return values[chance.below(values.length)]
}

/** The commit may or may not be in the log. */
function isUncertain(errorCode: ErrorCode): boolean {
  const uncertain: ErrorCode[] = [ErrorCode.coordinatorNotAvailable, ErrorCode.notCoordinator]
  return uncertain.includes(errorCode)
}

for (let seed = 1; seed <= 30; seed++) {
  test(`members, failures and reloads of seed ${seed}`, () => {
    const world = new World(seed)
    for (let i = 0; i < 500; i++) world.step()
    world.settle()
  })
}
