import type { Input } from '../../../src/protocol/schema.ts'
import { api } from '../../end-to-end/api.ts'
import type { Call, RawClient } from '../../end-to-end/raw-client.ts'
import { assignment, subscription } from '../../end-to-end/requests.ts'
import type { Side } from '../side.ts'
import type { Dice } from './dice.ts'

const playerCount = 3
const topics = ['orders', 'other']
/** An answer that has not come by then waits for something else to happen. */
const answerMs = 200

interface Outstanding {
  readonly kind: 'join' | 'sync'
  readonly version: number
  readonly correlationId: number
}

/** One client of a group, with what it was told. */
class Player {
  readonly client: RawClient
  memberId = ''
  /** Given out with MEMBER_ID_REQUIRED. */
  pendingId = ''
  generationId = -1
  members: readonly string[] = []
  outstanding: Outstanding | undefined

  constructor(client: RawClient) {
    this.client = client
  }
}

const sent = { join: api.joinGroup, sync: api.syncGroup }

/**
 * One group and some clients that do what comes to their minds, each a step at a time. After each step all that has been
 * answered is told, and how the group is described.
 */
export class GroupPlay {
  readonly #side: Side
  readonly #dice: Dice
  readonly #groupId: string
  readonly #timeoutMs: number
  readonly #players: Player[] = []
  #step = 0

  constructor(side: Side, dice: Dice, timeoutMs = 120_000) {
    this.#timeoutMs = timeoutMs
    this.#side = side
    this.#dice = dice
    this.#groupId = side.named('group')
  }

  async run(steps: number): Promise<void> {
    for (const topic of topics) await this.#side.createTopic(topic, { partitions: 2 })
    for (let index = 0; index < playerCount; index++) {
      this.#players.push(new Player(await this.#side.anotherClient(`client-${index}`)))
    }
    for (this.#step = 0; this.#step < steps; this.#step++) {
      await this.#turn()
      if (this.#timeoutMs < 60_000 && this.#step % 15 === 14) {
        await new Promise(resolve => setTimeout(resolve, 3.6 * this.#timeoutMs))
        await this.#hear(`step ${this.#step}, later`)
        await this.#describe(`step ${this.#step}, later`)
      }
    }
  }

  async #turn(): Promise<void> {
    const idle = this.#players.filter(player => player.outstanding === undefined)
    const index = this.#players.indexOf(idle.length > 0 ? this.#dice.of(idle) : this.#players[0])
    const player = this.#players[index]
    const action = this.#dice.weighted(idle.length > 0 ? actions : outsiders) as Action
    const label = `step ${this.#step}, ${index} ${action}`
    switch (action) {
      case 'join':
        this.#join(player)
        break
      case 'sync':
        this.#sync(player)
        break
      case 'beat':
        await this.#side.ask(label, api.heartbeat, this.#dice.from(3, 4), this.#about(player), player.client)
        break
      case 'leave':
        await this.#leave(label, player)
        break
      case 'commit':
        await this.#commit(label, player)
        break
      case 'fetch': {
        const all = { groupId: this.#groupId, topics: null }
        const { topics } = await this.#side.client.call(api.offsetFetch, this.#dice.from(2, 7), all)
        const offsets = topics.flatMap(({ name, partitions }) => partitions.map(one => ({ name, ...one })))
        const keyOf = ({ name, partitionIndex }: (typeof offsets)[number]) => `${name}/${partitionIndex}`
        this.#side.tell(
          label,
          offsets.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)),
        )
        break
      }
      case 'deleteOffsets':
        await this.#deleteOffsets(label)
        break
      case 'deleteGroup':
        await this.#ask(label, api.deleteGroups, 2, { groupsNames: [this.#groupId] })
        break
      case 'list':
        await this.#ask(label, api.listGroups, 5, {
          statesFilter: this.#dice.of([[], ['Stable'], ['Empty', 'stable']]),
        })
        break
    }
    await this.#hear(label)
    await this.#describe(label)
  }

  async #describe(label: string): Promise<void> {
    const { groups } = await this.#side.client.call(api.describeGroups, 6, { groups: [this.#groupId] })
    // Kafka shows where a member was when it first joined, Millrace where it is.
    const members = groups[0].members
      .toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
      .map(({ clientId, ...rest }) => rest)
    this.#side.tell(`${label}, then`, { ...groups[0], members })
  }

  #ask<Q extends object>(label: string, call: Call, version: number, body: Q): Promise<unknown> {
    return this.#side.ask(label, call, version, body as Input<typeof call.request>)
  }

  #anyMemberId(player: Player): string {
    const dice = this.#dice
    const own = player.memberId || player.pendingId
    if (dice.chance(0.8)) return player.pendingId || own
    return dice.of(['', 'stranger', own, this.#players[0].memberId, this.#players[1].memberId, player.pendingId])
  }

  #instance(player: Player): string | null {
    const index = this.#players.indexOf(player)
    // The last is a dynamic member.
    const own = index === playerCount - 1 ? null : `instance-${index}`
    return this.#dice.chance(0.93) ? own : this.#dice.of([null, 'instance-0', 'instance-1', ''])
  }

  #join(player: Player): void {
    const dice = this.#dice
    const version = dice.from(0, 9)
    const names = dice.weighted({ range: 6, 'range,robin': 3, 'robin,range': 3, robin: 1 })
    const metadata = dice.weighted({ orders: 8, other: 1, 'orders,other': 1, none: 0.5 })
    const body = {
      groupId: this.#groupId,
      sessionTimeoutMs: this.#timeoutMs,
      ...(version >= 1 ? { rebalanceTimeoutMs: this.#timeoutMs } : {}),
      memberId: this.#anyMemberId(player),
      ...(version >= 5 ? { groupInstanceId: this.#instance(player) } : {}),
      protocolType: dice.chance(0.97) || player.memberId === '' ? 'consumer' : 'connect',
      protocols: names
        .split(',')
        .filter(Boolean)
        .map(name => ({
          name,
          metadata:
            metadata === 'none'
              ? Buffer.from('x')
              : subscription(metadata.split(',').map(one => this.#side.named(one))),
        })),
    }
    player.outstanding = {
      kind: 'join',
      version,
      correlationId: player.client.send(api.joinGroup.request, version, body),
    }
  }

  #about(player: Player) {
    const generation = player.generationId
    return {
      groupId: this.#groupId,
      memberId: this.#anyMemberId(player),
      generationId: this.#dice.chance(0.9) ? generation : this.#dice.of([generation - 1, generation + 1, -1, 0]),
      groupInstanceId: this.#instance(player),
    }
  }

  #sync(player: Player): void {
    const dice = this.#dice
    const version = dice.from(3, 5)
    const members = dice.chance(0.9) ? player.members : player.members.slice(1)
    const body = {
      ...this.#about(player),
      ...(version >= 5
        ? {
            protocolType: dice.chance(0.97) ? 'consumer' : 'connect',
            protocolName: dice.of(['range', 'range', 'range', 'robin']),
          }
        : {}),
      assignments: members.map((memberId, index) => ({ memberId, assignment: assignment({ orders: [index] }) })),
    }
    player.outstanding = {
      kind: 'sync',
      version,
      correlationId: player.client.send(api.syncGroup.request, version, body),
    }
  }

  async #leave(label: string, player: Player): Promise<void> {
    const dice = this.#dice
    if (dice.chance(0.3)) {
      const version = dice.from(0, 2)
      await this.#side.ask(
        label,
        api.leaveGroup,
        version,
        { groupId: this.#groupId, memberId: this.#anyMemberId(player) },
        player.client,
      )
      return
    }
    const instance = this.#instance(player)
    const members = dice.of([
      [{ memberId: this.#anyMemberId(player), groupInstanceId: instance }],
      [{ memberId: this.#anyMemberId(player), groupInstanceId: instance }],
      [{ memberId: '', groupInstanceId: instance }],
      this.#players.map(one => ({ memberId: one.memberId, groupInstanceId: this.#instance(one) })),
      [{ memberId: player.pendingId, groupInstanceId: null }],
      [],
    ])
    await this.#side.ask(label, api.leaveGroup, dice.from(3, 5), { groupId: this.#groupId, members }, player.client)
  }

  async #commit(label: string, player: Player): Promise<void> {
    const dice = this.#dice
    const version = dice.from(7, 9)
    const { generationId, ...about } = this.#about(player)
    const asAdmin = dice.chance(0.2)
    const body = {
      ...about,
      ...(asAdmin ? { memberId: '', groupInstanceId: null } : {}),
      generationIdOrMemberEpoch: asAdmin ? -1 : generationId,
      topics: [
        {
          name: this.#side.named(dice.of([...topics, ...topics, 'nowhere'])),
          partitions: [
            {
              partitionIndex: dice.from(0, 2),
              committedOffset: dice.from(0, 9),
              committedMetadata: dice.of(['m', null]),
            },
          ],
        },
      ],
    }
    await this.#side.ask(label, api.offsetCommit, version, body, player.client)
  }

  async #deleteOffsets(label: string): Promise<void> {
    const partitions = [{ partitionIndex: 0 }, { partitionIndex: 1 }]
    const name = this.#side.named(this.#dice.of(topics))
    await this.#ask(label, api.offsetDelete, 0, { groupId: this.#groupId, topics: [{ name, partitions }] })
  }

  /** All that was answered meanwhile, in the order of the players; names of members first. */
  async #hear(label: string): Promise<void> {
    const heard: { readonly player: Player; readonly index: number; readonly kind: string; readonly answer: Answer }[] =
      []
    const deadline = Date.now() + answerMs
    do {
      // A question that is answered after them if they are answered at all.
      await this.#side.client.call(api.describeGroups, 5, { groups: [this.#groupId] })
      for (const [index, player] of this.#players.entries()) {
        const { outstanding } = player
        if (outstanding === undefined || !player.client.hasFrame) continue
        const { kind, version, correlationId } = outstanding
        player.outstanding = undefined
        const answer = (await player.client.answer(
          sent[kind].response as never,
          version,
          correlationId,
        )) as unknown as Answer
        heard.push({ player, index, kind, answer })
      }
      await new Promise(resolve => setTimeout(resolve, 10))
    } while (Date.now() < deadline)
    heard.sort((one, other) => one.index - other.index)
    for (const { index, answer } of heard) this.#side.tell(`${label}, ${index} is`, answer.memberId ?? null)
    for (const { player, index, kind, answer } of heard) {
      this.#side.tell(`${label}, ${index} heard of its ${kind}`, answer)
      take(player, kind, answer)
    }
  }
}

function nameOf({ groupInstanceId, clientId }: { groupInstanceId: string | null; clientId: string }): string {
  return groupInstanceId ?? clientId
}

interface Answer {
  readonly errorCode: number
  readonly memberId?: string
  readonly generationId?: number
  readonly members?: readonly { readonly memberId: string }[]
}

function take(player: Player, kind: string, answer: Answer): void {
  const { errorCode, memberId = '', generationId = -1, members = [] } = answer
  if (errorCode === 79) player.pendingId = memberId
  else if (errorCode === 25 || errorCode === 82) {
    player.memberId = ''
    player.pendingId = ''
  } else if (kind === 'join' && errorCode === 0) {
    player.memberId = memberId
    player.pendingId = ''
    player.generationId = generationId
    player.members = members.map(member => member.memberId).sort()
  }
}

const actions = {
  ...{ join: 10, sync: 8, beat: 3, leave: 2, commit: 3, fetch: 0.5, deleteOffsets: 0.5, deleteGroup: 0.3, list: 0.3 },
} as const
/** What needs no member. */
const outsiders = { fetch: 1, deleteOffsets: 1, deleteGroup: 1, list: 1 } as const
type Action = keyof typeof actions

/** In which members are not heard of now and then. */
export class TimedGroupPlay extends GroupPlay {
  constructor(side: Side, dice: Dice) {
    super(side, dice, 10_000)
  }
}
