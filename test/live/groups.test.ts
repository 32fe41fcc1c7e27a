import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allSucceeded, type Consumer } from '../../src/client/index.ts'
import { options, until, withTopic } from './cluster.ts'

for (const assignor of ['range', 'roundrobin', 'sticky', 'cooperative-sticky'] as const) {
  test(`${assignor}: three members share, one leaves, and every record is seen once`, options, async t => {
    const { client, admin, topic, all } = await withTopic(t, 6)
    const groupId = `${topic}-group`
    const seen: string[] = []
    const join = () => {
      const consumer = client.consumer({
        groupId,
        offsetReset: 'earliest',
        assignors: [assignor],
        heartbeatIntervalMs: 300,
        sessionTimeoutMs: 10_000,
      })
      consumer.subscribe([topic])
      const running = consumer.run({
        eachBatch: batch => {
          for (const { value } of batch) seen.push(String(value))
        },
      })
      return { consumer, running }
    }
    const producer = client.producer()
    let next = 0
    const send = async (count: number) => {
      const values = Array.from({ length: count }, () => `${next++}`)
      await producer.sendMany(values.map(value => ({ topic, key: value, value })))
    }
    const shared = async (members: readonly { consumer: Consumer }[]) => {
      const sizes = () => members.map(({ consumer }) => consumer.assignment.length)
      await until(
        () => `members have ${sizes()} partitions`,
        () => sizes().every(size => size === 6 / members.length),
      )
    }
    const members = [join()]
    await shared(members)
    await send(500)
    members.push(join(), join())
    await shared(members)
    const [description] = allSucceeded(await admin.describeGroups([groupId]))
    assert.deepEqual([description.state, description.assignor, description.members.length], ['Stable', assignor, 3])
    assert.equal(description.members.flatMap(({ assignment }) => assignment ?? []).length, 6)
    await send(500)
    await members[0].consumer.close()
    members.shift()
    await shared(members)
    await send(500)
    await until(
      () => `${seen.length} of ${next} records are seen`,
      () => seen.length >= next,
    )
    for (const { consumer, running } of members) {
      await consumer.close()
      await running
    }
    assert.deepEqual(
      seen.map(Number).sort((a, b) => a - b),
      Array.from({ length: next }, (_, i) => i),
    )
    const offsets = await admin.listGroupOffsets(groupId, { partitions: all })
    assert.equal(
      offsets.reduce((sum, { offset }) => sum + offset, 0),
      next,
    )
    assert.equal(allSucceeded(await admin.deleteGroups([groupId])).length, 1)
    await producer.close()
  })
}

test('a static member comes back to what it had, without a rebalance', options, async t => {
  const { client, admin, topic } = await withTopic(t, 2)
  const groupId = `${topic}-static`
  const join = (groupInstanceId: string) => {
    // A rebalance waits for every member, and each gives up what it has before it joins again.
    const options = { groupId, groupInstanceId, assignors: ['range'], heartbeatIntervalMs: 300 } as const
    const consumer = client.consumer({ ...options, sessionTimeoutMs: 20_000 })
    const events: string[] = []
    const listener = { assigned: () => void events.push('assigned'), revoked: () => void events.push('revoked') }
    consumer.subscribe([topic], listener)
    return { consumer, events, partitions: () => consumer.assignment.map(({ partition }) => partition) }
  }
  const one = join('one')
  const two = join('two')
  await until('both to share', () => [one, two].every(({ consumer }) => consumer.assignment.length === 1))
  const kept = one.partitions()
  const before = two.events.join()
  await one.consumer.close()
  const again = join('one')
  await until('the member to be back', () => again.consumer.assignment.length > 0)
  assert.deepEqual(again.partitions(), kept)
  assert.equal(two.events.join(), before)
  const removed = await admin.removeMembers(groupId, [{ groupInstanceId: 'one' }, { groupInstanceId: 'nobody' }])
  assert.deepEqual(
    removed.map(({ error }) => error?.code),
    [undefined, 'UNKNOWN_MEMBER_ID'],
  )
  await again.consumer.close({ leaveGroup: true })
  await two.consumer.close({ leaveGroup: true })
  await admin.deleteGroups([groupId])
})
