import { api } from '../../end-to-end/api.ts'
import type { RawClient } from '../../end-to-end/raw-client.ts'
import { assignment, type JoinOptions, join, joinBody, soleMember, subscription } from '../../end-to-end/requests.ts'
import type { Side } from '../side.ts'
import { range, type Scenarios } from './scenario.ts'

const unknownId = 'AAECAwQFBgcICQoLDA0ODw'

function joined(side: Side, label: string, groupId: string, options: JoinOptions = {}, client = side.client) {
  const version = options.version ?? 7
  return side.ask(label, api.joinGroup, version, joinBody(groupId, options), client)
}

interface About {
  readonly groupId: string
  readonly memberId: string
  readonly generationId: number
  readonly groupInstanceId?: string
}

function beat(side: Side, label: string, about: About, client = side.client) {
  return side.ask(label, api.heartbeat, 4, about, client)
}

function synced(side: Side, label: string, about: About, more: object = {}, version = 5, client = side.client) {
  const { memberId } = about
  return side.ask(
    label,
    api.syncGroup,
    version,
    {
      ...about,
      ...(version >= 5 ? { protocolType: 'consumer', protocolName: 'range' } : {}),
      assignments: [{ memberId, assignment: assignment({ orders: [0] }) }],
      ...more,
    },
    client,
  )
}

function left(side: Side, label: string, groupId: string, members: readonly object[], version = 5) {
  return side.ask(label, api.leaveGroup, version, { groupId, members: members as never })
}

function described(side: Side, label: string, groupId: string) {
  return side.ask(label, api.describeGroups, 6, { groups: [groupId] })
}

interface Commit {
  readonly version?: number
  readonly memberId?: string
  readonly generationId?: number
  readonly groupInstanceId?: string | null
  readonly topic?: string
  readonly topicId?: string
  readonly partition?: number
  readonly offset?: number
  readonly metadata?: string | null
}

function committed(side: Side, label: string, groupId: string, commit: Commit = {}) {
  const { version = 9, memberId = '', generationId = -1, partition = 0, offset = 5, metadata = 'm' } = commit
  return side.ask(label, api.offsetCommit, version, {
    ...{ groupId, memberId, generationIdOrMemberEpoch: generationId },
    ...(commit.groupInstanceId === undefined ? {} : { groupInstanceId: commit.groupInstanceId }),
    topics: [
      {
        ...(version >= 10 ? { topicId: commit.topicId ?? unknownId } : { name: commit.topic ?? side.named('orders') }),
        partitions: [{ partitionIndex: partition, committedOffset: offset, committedMetadata: metadata }],
      },
    ],
  })
}

/** A member of a group in which it is alone and everything is settled. */
async function settled(side: Side, name: string, options: JoinOptions = {}) {
  return await soleMember(side.client, side.named(name), options)
}

export const groupScenarios: Scenarios = {
  'JoinGroup: what is wrong, version by version': async side => {
    for (const version of range(0, 9)) {
      const ask = (label: string, options: JoinOptions, name = `${label.replaceAll(/[^a-z]/g, '-')}-${version}`) =>
        joined(side, `v${version}: ${label}`, side.named(name), { version, ...options })
      await ask('as it should be', {})
      await ask('a short session', { sessionTimeoutMs: 1 })
      await ask('a negative session', { sessionTimeoutMs: -1 })
      await ask('a long session', { sessionTimeoutMs: 1_800_001 })
      await ask('an unknown member', { memberId: 'stranger' })
      await ask('no protocols', { protocols: [] })
      await ask('no protocol type', { protocolType: '' })
      await ask('another protocol type', { protocolType: 'connect' })
      await ask('metadata that is none', { protocols: [{ name: 'range', metadata: Buffer.from('x') }] })
      await joined(side, `v${version}: no group`, '', { version })
      if (version >= 5) await ask('static', { groupInstanceId: 'i' })
      if (version >= 5) await ask('static with a member id', { groupInstanceId: 'i', memberId: 'stranger' })
      if (version >= 5) await ask('an empty instance', { groupInstanceId: '' })
    }
  },
  'JoinGroup: a second member that does not fit': async side => {
    const { groupId } = await settled(side, 'fits')
    const other = await side.anotherClient()
    const ask = (label: string, options: JoinOptions) => joined(side, label, groupId, { version: 3, ...options }, other)
    await ask('other protocols', { protocols: [{ name: 'sticky', metadata: subscription(['orders']) }] })
    await ask('other type', { protocolType: 'connect' })
    await ask('an unknown member', { memberId: 'stranger' })
    await described(side, 'as before', groupId)
  },
  'SyncGroup and Heartbeat: state by state': async side => {
    const groupId = side.named('states')
    const nobody = { groupId, memberId: 'stranger', generationId: 1 }
    await synced(side, 'sync, no group', nobody)
    await beat(side, 'beat, no group', nobody)
    const { memberId, generationId } = await join(side.client, groupId)
    const about = { groupId, memberId, generationId }
    await described(side, 'joined, not synced', groupId)
    await beat(side, 'beat before sync', about)
    await synced(side, 'sync, unknown member', { ...about, memberId: 'stranger' })
    await synced(side, 'sync, old generation', { ...about, generationId: 0 })
    await synced(side, 'sync, future generation', { ...about, generationId: 9 })
    await synced(side, 'sync, other protocol', about, { protocolName: 'sticky' })
    await synced(side, 'sync, other type', about, { protocolType: 'connect' })
    await synced(side, 'sync, no group id', { ...about, groupId: '' })
    await synced(side, 'sync with an assignment for another', about, {
      assignments: [{ memberId: 'stranger', assignment: Buffer.from('x') }],
    })
    await described(side, 'stable', groupId)
    await synced(side, 'sync again', about)
    for (const version of range(0, 5)) await synced(side, `sync, v${version}`, about, {}, version)
    await beat(side, 'beat', about)
    await beat(side, 'beat, unknown member', { ...about, memberId: 'stranger' })
    await beat(side, 'beat, no member', { ...about, memberId: '' })
    await beat(side, 'beat, old generation', { ...about, generationId: 0 })
    await beat(side, 'beat, future generation', { ...about, generationId: 2 })
    await beat(side, 'beat, negative generation', { ...about, generationId: -1 })
    await beat(side, 'beat, no group id', { ...about, groupId: '' })
    await beat(side, 'beat, instance of a dynamic member', { ...about, groupInstanceId: 'i' })
    const other = await side.anotherClient()
    const id = other.send(api.joinGroup.request, 3, joinBody(groupId, { version: 3 }))
    await untilState(side, groupId, 'PreparingRebalance')
    await beat(side, 'beat in a rebalance', about)
    await synced(side, 'sync in a rebalance', about)
    await committed(side, 'commit in a rebalance', groupId, { memberId, generationId })
    await described(side, 'in a rebalance', groupId)
    await joined(side, 'rejoined', groupId, { memberId })
    await side.hear('the second', api.joinGroup.response, 3, id, other)
    await beat(side, 'beat, former generation', about)
    await committed(side, 'commit, former generation', groupId, { memberId, generationId })
    await committed(side, 'commit, before sync', groupId, { memberId, generationId: 2 })
    await described(side, 'two, not synced', groupId)
    await left(side, 'one leaves', groupId, [{ memberId }])
    await described(side, 'after the leave', groupId)
  },
  'LeaveGroup: who, and of what': async side => {
    for (const version of range(0, 5)) {
      const { groupId, memberId } = await settled(side, `leaves-${version}`)
      const ask = (label: string, member: string, group = groupId) =>
        side.ask(`v${version}: ${label}`, api.leaveGroup, version, {
          groupId: group,
          ...(version >= 3 ? { members: [{ memberId: member }] } : { memberId: member }),
        })
      await ask('a stranger', 'stranger')
      await ask('nobody', '')
      await ask('no such group', memberId, side.named('nowhere'))
      await ask('no group', memberId, '')
      await ask('the member', memberId)
      await ask('again', memberId)
      await described(side, `v${version}: then`, groupId)
    }
    const { groupId, memberId } = await settled(side, 'batch', { groupInstanceId: 'i' })
    await left(side, 'none', groupId, [])
    await left(side, 'by instance, other member', groupId, [{ memberId: 'stranger', groupInstanceId: 'i' }])
    await left(side, 'unknown instance', groupId, [{ memberId: '', groupInstanceId: 'x' }])
    await left(side, 'several', groupId, [
      { memberId: 'stranger' },
      { memberId: '', groupInstanceId: 'x' },
      { memberId },
    ])
    await settled(side, 'batch', { groupInstanceId: 'i' })
    await left(side, 'by instance', groupId, [{ memberId: '', groupInstanceId: 'i' }])
    await left(side, 'by instance again', groupId, [{ memberId: '', groupInstanceId: 'i' }])
  },
  'static members: return, fencing and their requests': async side => {
    await side.createTopic('orders')
    const groupId = side.named('static')
    const options = { groupInstanceId: 'i' }
    const first = await joined(side, 'first', groupId, options)
    const about = { groupId, memberId: first!.memberId, generationId: first!.generationId, groupInstanceId: 'i' }
    await synced(side, 'sync', about)
    await joined(side, 'with its member id', groupId, { ...options, memberId: about.memberId })
    await synced(side, 'sync again', { ...about, generationId: 2 })
    for (const version of [5, 7, 9]) {
      const returned = await joined(side, `v${version}: returned`, groupId, { ...options, version })
      const now = { ...about, memberId: returned!.memberId, generationId: returned!.generationId }
      await synced(side, `v${version}: sync of the returned`, now)
      await beat(side, `v${version}: beat of the former`, about)
      await synced(side, `v${version}: sync of the former`, about)
      await joined(side, `v${version}: join of the former`, groupId, { ...options, version, memberId: about.memberId })
      await committed(side, `v${version}: commit of the former`, groupId, { ...about })
      await committed(side, `v${version}: commit of the returned`, groupId, now)
      await beat(side, `v${version}: beat of the returned`, now)
      await beat(side, `v${version}: beat under an unknown instance`, { ...now, groupInstanceId: 'x' })
      await described(side, `v${version}: described`, groupId)
    }
    await joined(side, 'with another protocol', groupId, {
      ...options,
      protocols: [{ name: 'sticky', metadata: subscription(['orders']) }],
    })
    await described(side, 'and then', groupId)
  },
  'OffsetCommit: by members, strangers and admins': async side => {
    const { topicId } = await side.createTopic('orders', { partitions: 2 })
    for (const version of range(2, 10)) {
      const ask = (label: string, name: string, commit: Commit = {}) =>
        committed(side, `v${version}: ${label}`, side.named(`${name}-${version}`), { version, topicId, ...commit })
      await ask('without members', 'simple')
      await ask('a member id without a group', 'simple', { memberId: 'stranger' })
      await ask('a generation without a group', 'simple', { generationId: 1 })
      await ask('a generation of a new group', 'other', { generationId: 1 })
      await ask('unknown topic', 'simple', { topic: side.named('nowhere'), topicId: unknownId })
      await ask('unknown partition', 'simple', { partition: 7 })
      await ask('negative partition', 'simple', { partition: -1 })
      await ask('negative offset', 'simple', { offset: -1 })
      await ask('very negative offset', 'simple', { offset: -5 })
      await ask('no metadata', 'simple', { metadata: null })
      await ask('much metadata', 'simple', { metadata: 'x'.repeat(4097) })
      await ask('as much as allowed', 'simple', { metadata: 'x'.repeat(4096) })
      const { groupId, memberId, generationId } = await settled(side, `members-${version}`)
      const inGroup = (label: string, commit: Commit) =>
        committed(side, `v${version}: ${label}`, groupId, { version, topicId, ...commit })
      await inGroup('by the member', { memberId, generationId })
      await inGroup('by the member, no generation', { memberId })
      await inGroup('by a stranger', { memberId: 'stranger', generationId })
      await inGroup('by nobody', {})
      await inGroup('by nobody with the generation', { generationId })
      await inGroup('old generation', { memberId, generationId: 0 })
      if (version >= 7) await inGroup('unknown instance', { memberId, generationId, groupInstanceId: 'x' })
    }
    await committed(side, 'no group', '')
    await side.ask('no topics', api.offsetCommit, 9, { groupId: side.named('none'), memberId: '', topics: [] })
    await committed(side, 'internal topic', side.named('internal'), { topic: '__consumer_offsets' })
  },
  'OffsetFetch: what there is and what there is not': async side => {
    const { topic, topicId } = await side.createTopic('orders', { partitions: 3 })
    const groupId = side.named('fetching')
    for (const partition of [0, 1]) await side.client.call(api.offsetCommit, 9, commitOf(groupId, topic, partition))
    const member = await settled(side, 'with-member')
    await side.client.call(api.offsetCommit, 9, {
      ...commitOf(member.groupId, topic, 0),
      memberId: member.memberId,
      generationIdOrMemberEpoch: 1,
    })
    for (const version of range(1, 10)) {
      const ask = (
        label: string,
        group: string,
        asked: readonly number[] | null,
        about: { name?: string; id?: string } = {},
      ) => {
        const name = about.name ?? topic
        const flags = version >= 7 ? { requireStable: true } : {}
        if (version < 8) {
          const topics = asked === null ? null : [{ name, partitionIndexes: asked }]
          return side.ask(`v${version}: ${label}`, api.offsetFetch, version, { groupId: group, topics, ...flags })
        }
        const named = version >= 10 ? { topicId: about.id ?? topicId } : { name }
        const topics = asked === null ? null : [{ ...named, partitionIndexes: asked }]
        return side.ask(`v${version}: ${label}`, api.offsetFetch, version, {
          groups: [{ groupId: group, topics }],
          ...flags,
        })
      }
      await ask('some', groupId, [0, 1, 2, 9])
      await ask('none', groupId, [])
      if (version >= 2) await ask('all', groupId, null)
      if (version >= 2) await ask('all of nothing', side.named('nowhere'), null)
      await ask('unknown group', side.named('nowhere'), [0])
      await ask('unknown topic', groupId, [0], { name: side.named('nowhere'), id: unknownId })
      await ask('no group', '', [0])
      await ask('of a group with members', member.groupId, [0])
      await ask('twice the same', groupId, [0, 0])
      if (version >= 9) {
        const asMember = (label: string, memberId: string, memberEpoch: number) =>
          side.ask(`v${version}: ${label}`, api.offsetFetch, version, {
            groups: [{ groupId: member.groupId, memberId, memberEpoch, topics: null }],
          })
        await asMember('as the member', member.memberId, 1)
        await asMember('as a stranger', 'stranger', 1)
        await asMember('as the member of another epoch', member.memberId, 7)
      }
    }
    await side.ask('several groups', api.offsetFetch, 8, {
      groups: [
        { groupId, topics: null },
        { groupId: member.groupId, topics: [{ name: topic, partitionIndexes: [0] }] },
        { groupId: side.named('nowhere'), topics: null },
      ],
    })
    await side.ask('no groups', api.offsetFetch, 8, { groups: [] })
    await side.ask('the same group twice', api.offsetFetch, 8, {
      groups: [
        { groupId, topics: null },
        { groupId, topics: null },
      ],
    })
  },
  'OffsetDelete: of groups with and without members': async side => {
    const { topic } = await side.createTopic('orders', { partitions: 2 })
    const groupId = side.named('simple')
    await side.client.call(api.offsetCommit, 9, commitOf(groupId, topic, 0))
    const member = await settled(side, 'subscribed', { topics: [topic] })
    await side.client.call(api.offsetCommit, 9, {
      ...commitOf(member.groupId, topic, 0),
      memberId: member.memberId,
      generationIdOrMemberEpoch: 1,
    })
    const ask = (label: string, group: string, name: string, partitions: readonly number[]) =>
      side.ask(label, api.offsetDelete, 0, {
        groupId: group,
        topics: [{ name, partitions: partitions.map(partitionIndex => ({ partitionIndex })) }],
      })
    await ask('unknown group', side.named('nowhere'), topic, [0])
    await ask('no group', '', topic, [0])
    await ask('unknown topic', groupId, side.named('nowhere'), [0])
    await ask('unknown partition', groupId, topic, [9])
    await ask('no offset', groupId, topic, [1])
    await ask('an offset', groupId, topic, [0])
    await ask('again', groupId, topic, [0])
    await ask('subscribed', member.groupId, topic, [0])
    await ask('not subscribed', member.groupId, side.named('nowhere'), [0])
    const connect = await settled(side, 'connect', {
      protocolType: 'consumer',
      protocols: [{ name: 'range', metadata: Buffer.from('x') }],
    })
    await ask('metadata that is none', connect.groupId, topic, [0])
  },
  'DescribeGroups, ListGroups and DeleteGroups': async side => {
    const { topic } = await side.createTopic('orders', { partitions: 2 })
    const stable = await settled(side, 'stable')
    const simple = side.named('simple')
    await side.client.call(api.offsetCommit, 9, commitOf(simple, topic, 0))
    const empty = await settled(side, 'empty')
    await side.client.call(api.leaveGroup, 5, { groupId: empty.groupId, members: [{ memberId: empty.memberId }] })
    await join(side.client, side.named('joining'))
    const connect = side.named('connect')
    await join(side.client, connect, { protocolType: 'connect' })
    const names = [stable.groupId, simple, empty.groupId, side.named('joining'), connect, side.named('nowhere'), '']
    for (const version of range(0, 6)) {
      for (const includeAuthorizedOperations of version >= 3 ? [false, true] : [false]) {
        const flags = version >= 3 ? { includeAuthorizedOperations } : {}
        for (const group of names)
          await side.ask(`v${version}: ${group.slice(side.prefix.length)}`, api.describeGroups, version, {
            groups: [group],
            ...flags,
          })
      }
    }
    await side.ask('several', api.describeGroups, 6, { groups: [simple, stable.groupId, simple] })
    await side.ask('none', api.describeGroups, 6, { groups: [] })
    for (const version of range(0, 5)) {
      await side.ask(`list v${version}`, api.listGroups, version, {})
      for (const statesFilter of version >= 4 ? [['Stable'], ['stable'], ['Empty', 'Dead'], ['Nonsense']] : []) {
        await side.ask(`list v${version} ${statesFilter}`, api.listGroups, version, { statesFilter })
      }
      for (const typesFilter of version >= 5 ? [['classic'], ['Classic'], ['consumer'], ['share'], ['nonsense']] : []) {
        await side.ask(`list v${version} ${typesFilter}`, api.listGroups, version, { typesFilter })
      }
    }
    for (const group of names)
      await side.ask(`delete ${group.slice(side.prefix.length)}`, api.deleteGroups, 3, { groupsNames: [group] })
    await side.ask('delete several', api.deleteGroups, 2, {
      groupsNames: [side.named('a'), side.named('b'), side.named('a')],
    })
    await side.ask('delete none', api.deleteGroups, 2, { groupsNames: [] })
    await side.ask('list after that', api.listGroups, 5, {})
  },
}

function commitOf(groupId: string, topic: string, partition: number) {
  const partitions = [
    { partitionIndex: partition, committedOffset: 5, committedLeaderEpoch: 0, committedMetadata: 'm' },
  ]
  return { groupId, memberId: '', topics: [{ name: topic, partitions }] }
}

async function untilState(side: Side, groupId: string, state: string): Promise<void> {
  const client: RawClient = side.client
  for (let tries = 0; tries < 200; tries++) {
    const { groups } = await client.call(api.describeGroups, 5, { groups: [groupId] })
    if (groups[0].groupState === state) return
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  throw new Error(`${groupId} does not become ${state}`)
}
