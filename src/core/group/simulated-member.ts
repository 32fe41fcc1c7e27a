import { ErrorCode } from '../../base/error-code.ts'
import type { Random } from '../../base/random.ts'
import type { GroupUnderTest, Pending } from './group-under-test.ts'
import type { JoinGroupBody, SyncGroupBody } from './replies.ts'

export const partitionCount = 8
export const sessionTimeoutMs = 10_000
export const rebalanceTimeoutMs = 15_000

/** What members have in common. */
export interface MemberWorld {
  readonly chance: Random
  readonly group: GroupUnderTest
  /** How often members leave and crash. */
  readonly restlessness: number
  /** A name that no assignment had before. */
  newAssignmentName(): string
  /** Every request has to be answered in the end. */
  sent<P extends { readonly requestId: number }>(request: P): P
  /** A member knows of a generation. */
  told(groupId: string, identity: Identity, requestId: number): void
  /** A member knows what it owns. */
  assigned(groupId: string, generationId: number, assignment: string): void
  commitOffset(groupId: string, identity: Identity): void
}

export interface Identity {
  readonly memberId: string
  readonly generationId: number
  readonly groupInstanceId: string | null
}

type MemberState =
  | { readonly type: 'out' }
  | { readonly type: 'joining'; readonly join: Pending<JoinGroupBody> }
  | { readonly type: 'joined'; readonly joined: JoinGroupBody }
  | { readonly type: 'syncing'; readonly sync: Pending<SyncGroupBody> }
  | { readonly type: 'stable'; readonly owned: readonly number[] }

/** A member that does what clients do. */
export class SimulatedMember {
  readonly groupId: string
  readonly #world: MemberWorld
  readonly #groupInstanceId: string | null
  readonly #joinVersion: number
  state: MemberState = { type: 'out' }
  memberId = ''
  generationId = -1

  constructor(world: MemberWorld, groupId: string, groupInstanceId: string | null) {
    this.#world = world
    this.groupId = groupId
    this.#groupInstanceId = groupInstanceId
    this.#joinVersion = groupInstanceId === null ? world.chance.below(10) : [5, 9][world.chance.below(2)]
  }

  get identity(): Identity {
    return { memberId: this.memberId, generationId: this.generationId, groupInstanceId: this.#groupInstanceId }
  }

  step({ isSteady = false } = {}): void {
    const { state } = this
    switch (state.type) {
      case 'out':
        this.state = { type: 'joining', join: this.#join() }
        break
      case 'joining':
        if (state.join.isAnswered) this.#joined(state.join.get(), state.join.requestId)
        break
      case 'joined':
        this.state = { type: 'syncing', sync: this.#sync(state.joined) }
        break
      case 'syncing':
        if (state.sync.isAnswered) this.#synced(state.sync.get())
        break
      case 'stable':
        this.#live(isSteady)
        break
    }
  }

  #join(): Pending<JoinGroupBody> {
    const { group, chance } = this.#world
    // Two ways to say the same: a member may have something new to say.
    const metadata = Buffer.from(`000000000001000174${['00000000', 'ffffffff'][chance.below(2)]}`, 'hex')
    const fields = {
      groupInstanceId: this.#groupInstanceId,
      sessionTimeoutMs,
      rebalanceTimeoutMs,
      protocols: [{ name: 'range', metadata }],
    }
    return this.#world.sent(group.join(this.groupId, this.memberId, fields, this.#joinVersion))
  }

  #joined(joined: JoinGroupBody, requestId: number): void {
    if (joined.errorCode === ErrorCode.none) {
      this.memberId = joined.memberId
      this.generationId = joined.generationId ?? -1
      this.#world.told(this.groupId, this.identity, requestId)
      this.state = { type: 'joined', joined }
      return
    }
    if (joined.errorCode === ErrorCode.memberIdRequired) this.memberId = joined.memberId
    this.#failed(joined.errorCode)
  }

  /** The leader gives each member its share, under a name that is used once. */
  #sync({ leader, members, skipAssignment }: JoinGroupBody): Pending<SyncGroupBody> {
    const assignments: Record<string, string> = {}
    if (leader === this.memberId && skipAssignment !== true) {
      const name = this.#world.newAssignmentName()
      members.forEach(({ memberId }, i) => {
        const share = Array.from({ length: partitionCount }, (_, p) => p).filter(p => p % members.length === i)
        assignments[memberId] = `${name}:${share.join(',')}`
      })
    }
    const fields = this.#groupInstanceId === null ? {} : { groupInstanceId: this.#groupInstanceId }
    const { group } = this.#world
    return this.#world.sent(group.sync(this.groupId, this.generationId, this.memberId, assignments, fields))
  }

  #synced({ errorCode, assignment }: SyncGroupBody): void {
    if (errorCode !== ErrorCode.none) {
      this.#failed(errorCode)
      return
    }
    const text = String(assignment)
    this.#world.assigned(this.groupId, this.generationId, text)
    const share = text.split(':')[1] ?? ''
    this.state = { type: 'stable', owned: share === '' ? [] : share.split(',').map(Number) }
  }

  #live(isSteady: boolean): void {
    const { chance, group } = this.#world
    const what = isSteady ? 0 : chance.below(10 + this.#world.restlessness)
    if (what < 6) {
      this.#heardBack(group.heartbeat(this.groupId, this.generationId, this.memberId, this.#groupInstanceId))
    } else if (what < 10) {
      this.#world.commitOffset(this.groupId, this.identity)
    } else if (what % 2 === 0) {
      const requestId = group.submit({
        type: 'leaveGroup',
        apiVersion: 3,
        request: {
          groupId: this.groupId,
          memberId: '',
          members: [{ memberId: this.memberId, groupInstanceId: this.#groupInstanceId, reason: null }],
        },
      })
      this.#world.sent({ requestId })
      this.#startAnew()
    } else {
      // Crashed and restarted: it has forgotten who it was.
      this.#startAnew()
    }
  }

  #heardBack(errorCode: ErrorCode): void {
    const goesOn: ErrorCode[] = [ErrorCode.none, ErrorCode.notCoordinator]
    if (!goesOn.includes(errorCode)) this.#failed(errorCode)
  }

  #failed(errorCode: ErrorCode): void {
    const losesId: ErrorCode[] = [ErrorCode.unknownMemberId, ErrorCode.fencedInstanceId]
    if (losesId.includes(errorCode)) this.#startAnew()
    else this.state = { type: 'out' }
  }

  #startAnew(): void {
    this.memberId = ''
    this.generationId = -1
    this.state = { type: 'out' }
  }
}
