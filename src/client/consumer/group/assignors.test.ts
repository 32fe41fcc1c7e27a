import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../../simulator/io/seeded-random.ts'
import type { TopicPartition } from '../../cluster/leader-requests.ts'
import type { Assignor, GroupAssignment, GroupMember } from './assignor.ts'
import { assignorsNamed, commonProtocol } from './assignors.ts'
import { cooperativeStickyAssignor } from './cooperative-sticky-assignor.ts'
import { rangeAssignor } from './range-assignor.ts'
import { roundRobinAssignor } from './round-robin-assignor.ts'
import { stickyAssignor } from './sticky-assignor.ts'

function member(memberId: string, topics: readonly string[], more: Partial<GroupMember> = {}): GroupMember {
  return { memberId, groupInstanceId: null, topics, ownedPartitions: [], generationId: -1, userData: null, ...more }
}

const counts = (of: Record<string, number>) => new Map(Object.entries(of))
const at = (...names: string[]): TopicPartition[] =>
  names.map(name => ({ topic: name.slice(0, -1), partition: Number(name.slice(-1)) }))

function named(assignment: GroupAssignment): Record<string, string[]> {
  const entries = [...assignment].map(([memberId, partitions]) => {
    return [memberId, partitions.map(({ topic, partition }) => `${topic}${partition}`).sort()]
  })
  return Object.fromEntries(entries)
}

test('range cuts each topic into runs, the first ones longer', () => {
  const members = [member('b', ['t', 'u']), member('a', ['t', 'u']), member('c', ['u'])]
  assert.deepEqual(named(rangeAssignor.assign(members, counts({ t: 3, u: 4 }))), {
    a: ['t0', 't1', 'u0', 'u1'],
    b: ['t2', 'u2'],
    c: ['u3'],
  })
})

test('static members keep their place whatever their member ids are', () => {
  const members = [member('a', ['t'], { groupInstanceId: 'z' }), member('b', ['t'], { groupInstanceId: 'y' })]
  assert.deepEqual(named(rangeAssignor.assign(members, counts({ t: 2 }))), { a: ['t1'], b: ['t0'] })
})

test('roundrobin goes through all partitions and passes over members that do not subscribe', () => {
  const members = [member('a', ['t']), member('b', ['t', 'u']), member('c', ['t', 'u', 'v'])]
  // The example in Kafka's documentation.
  assert.deepEqual(named(roundRobinAssignor.assign(members, counts({ t: 1, u: 2, v: 3 }))), {
    a: ['t0'],
    b: ['u0'],
    c: ['u1', 'v0', 'v1', 'v2'],
  })
})

test('a topic that does not exist is nobody’s, a member without topics gets nothing', () => {
  for (const assignor of assignorsNamed(['range', 'roundrobin', 'sticky', 'cooperative-sticky'])) {
    const assignment = assignor.assign([member('a', ['t', 'gone']), member('b', [])], counts({ t: 2 }))
    assert.deepEqual(named(assignment), { a: ['t0', 't1'], b: [] }, assignor.name)
  }
})

test('sticky members keep what their user data says that they had', () => {
  const had = (partitions: TopicPartition[], generationId = 3) => stickyAssignor.userData({ partitions, generationId })
  const members = [
    member('a', ['t'], { userData: had(at('t0', 't1', 't2')) }),
    member('b', ['t'], { userData: had(at('t3', 't4', 't5')) }),
    member('c', ['t']),
  ]
  const assigned = named(stickyAssignor.assign(members, counts({ t: 6 })))
  assert.equal(assigned.a.filter(name => ['t0', 't1', 't2'].includes(name)).length, 2)
  assert.equal(assigned.b.filter(name => ['t3', 't4', 't5'].includes(name)).length, 2)
  assert.equal(assigned.c.length, 2)
})

test('the user data is Kafka’s: topics with their partitions, then the generation', () => {
  const bytes = stickyAssignor.userData({ partitions: at('t1', 't2', 'u0'), generationId: 7 })
  assert.equal(bytes?.toString('hex'), `00000002${'0001740000000200000001'}00000002${'0001750000000100000000'}00000007`)
  assert.equal(cooperativeStickyAssignor.userData({ partitions: [], generationId: 7 })?.toString('hex'), '00000007')
  assert.equal(cooperativeStickyAssignor.userData(undefined)?.toString('hex'), 'ffffffff')
})

test('user data that is none does no harm', () => {
  const members = [
    member('a', ['t'], { userData: Buffer.from('ff', 'hex') }),
    member('b', ['t'], { userData: Buffer.alloc(0) }),
  ]
  const assigned = named(stickyAssignor.assign(members, counts({ t: 2 })))
  assert.deepEqual([assigned.a.length, assigned.b.length], [1, 1])
})

test('of two who claim a partition the later generation has it', () => {
  const members = [
    member('a', ['t'], { ownedPartitions: at('t0'), generationId: 4 }),
    member('b', ['t'], { ownedPartitions: at('t0'), generationId: 5 }),
  ]
  assert.deepEqual(named(cooperativeStickyAssignor.assign(members, counts({ t: 1 }))), { a: [], b: ['t0'] })
})

test('cooperative: what moves is nobody’s until its owner has given it up', () => {
  const [all, half] = [at('t0', 't1', 't2', 't3'), at('t0', 't1')]
  const first = [member('a', ['t'], { ownedPartitions: all, generationId: 1 }), member('b', ['t'])]
  const round1 = named(cooperativeStickyAssignor.assign(first, counts({ t: 4 })))
  assert.deepEqual([round1.a.length, round1.b], [2, []])
  const second = [
    member('a', ['t'], { ownedPartitions: half, generationId: 2 }),
    member('b', ['t'], { generationId: 2 }),
  ]
  assert.deepEqual(named(cooperativeStickyAssignor.assign(second, counts({ t: 4 }))), {
    a: ['t0', 't1'],
    b: ['t2', 't3'],
  })
})

test('the leader reads a generation in the user data when the subscription has none', () => {
  const old = { generationId: -1, userData: Buffer.from('00000009', 'hex') }
  const members = [
    member('a', ['t'], { ownedPartitions: at('t0'), generationId: 4 }),
    member('b', ['t'], { ownedPartitions: at('t0'), ...old }),
  ]
  assert.deepEqual(named(cooperativeStickyAssignor.assign(members, counts({ t: 1 }))), { a: [], b: ['t0'] })
})

test('a group is cooperative only if all of its assignors are', () => {
  assert.equal(commonProtocol(assignorsNamed(['cooperative-sticky'])), 'cooperative')
  assert.equal(commonProtocol(assignorsNamed(['range', 'cooperative-sticky'])), 'eager')
})

for (const assignor of assignorsNamed(['range', 'roundrobin', 'sticky', 'cooperative-sticky'])) {
  test(`${assignor.name}: every partition has one owner, who subscribes to it, over random groups`, () => {
    for (let seed = 1; seed <= 60; seed++) randomGroup(assignor, seed)
  })
}

/** A few rounds in a group whose members, subscriptions and topics change. */
function randomGroup(assignor: Assignor, seed: number): void {
  const random = new SeededRandom(`${seed}`, assignor.name)
  const topics = ['t', 'u', 'v', 'w']
  const isUniform = random.chance(0.5)
  let members: GroupMember[] = []
  for (let round = 1; round <= 8; round++) {
    const of = counts(Object.fromEntries(topics.map(topic => [topic, random.below(9)])))
    const subscription = () => topics.filter(() => random.chance(0.6))
    const common = subscription()
    members = members.filter(() => random.chance(0.8))
    while (members.length < 1 + random.below(5)) members.push(member(`m${seed}-${round}-${members.length}`, []))
    members = members.map(one => ({ ...one, topics: isUniform ? common : subscription() }))
    // Cooperative groups need further rounds until nothing moves any more.
    for (let settle = 0; settle < 4; settle++) members = nextGeneration(assignor, members, of, round * 10 + settle)
    check(assignor, members, of, isUniform)
  }
}

function nextGeneration(assignor: Assignor, members: GroupMember[], of: Map<string, number>, generationId: number) {
  const assignment = assignor.assign(members, of)
  return members.map(one => {
    const partitions = assignment.get(one.memberId)!
    return {
      ...one,
      ownedPartitions: partitions,
      generationId,
      userData: assignor.userData({ partitions, generationId }),
    }
  })
}

function check(assignor: Assignor, members: readonly GroupMember[], of: Map<string, number>, isUniform: boolean): void {
  const owners = new Map<string, string>()
  for (const { memberId, topics, ownedPartitions } of members) {
    for (const { topic, partition } of ownedPartitions) {
      assert.ok(topics.includes(topic), 'its owner subscribes to it')
      assert.ok(partition < of.get(topic)!, 'it exists')
      assert.equal(owners.has(`${topic}${partition}`), false, 'it has one owner')
      owners.set(`${topic}${partition}`, memberId)
    }
  }
  const subscribed = new Set(members.flatMap(({ topics }) => topics))
  const total = [...subscribed].reduce((sum, topic) => sum + of.get(topic)!, 0)
  assert.equal(owners.size, total, 'every partition has an owner')
  if (!isUniform || assignor.name === 'range') return
  const loads = members.map(({ ownedPartitions }) => ownedPartitions.length)
  assert.ok(Math.max(...loads) - Math.min(...loads) <= 1, 'it is balanced')
}

test('sticky assignment of a large group is made in good time, and little moves when one member leaves', () => {
  const size = 200
  const of = counts({ t: 2000 })
  let members = Array.from({ length: size }, (_, i) => member(`m${1000 + i}`, ['t']))
  members = nextGeneration(stickyAssignor, members, of, 1)
  const before = new Map(members.flatMap(one => one.ownedPartitions.map(p => [p.partition, one.memberId])))
  members = nextGeneration(stickyAssignor, members.slice(1), of, 2)
  const moved = members.flatMap(one => one.ownedPartitions.filter(p => before.get(p.partition) !== one.memberId))
  assert.ok(moved.length <= 20, `${moved.length}`)
})
