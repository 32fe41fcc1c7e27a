import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allSucceeded } from '../../src/client/index.ts'
import { DriverProcess } from '../compatibility/driver-process.ts'
import { fromJava } from '../compatibility/install.ts'
import { bootstrapServers, options, until, withTopic } from './cluster.ts'

for (const [assignor, chosen] of [
  ['default', 'range'],
  ['cooperative', 'cooperative-sticky'],
] as const) {
  test(`a Java consumer (${assignor}) shares a group with ours, whoever of them leads`, options, async t => {
    const { client, admin, topic } = await withTopic(t, 4)
    const groupId = `${topic}-group`
    const command = await fromJava('java')
    const seen: string[] = []
    const java = new DriverProcess(command, 'member', bootstrapServers(), { topic, group: groupId, assignor })
    t.after(() => java.kill())
    const join = () => {
      const consumer = client.consumer({ groupId, offsetReset: 'earliest', heartbeatIntervalMs: 300 })
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
    /** Sent while the group is at rest, and seen by its members, each record once. */
    const exchange = async () => {
      const values = Array.from({ length: 200 }, () => `${next++}`)
      await producer.sendMany(
        values.map(value => ({ topic, key: value, value, headers: [{ key: 'job', value: 'j' }] })),
      )
      const all = () => [...seen, ...java.records.map(({ value }) => value)]
      await until(
        () => `${all().length} of ${next} records are seen; Java said ${java.said}`,
        () => all().length >= next,
      )
      assert.deepEqual(
        all()
          .map(Number)
          .sort((a, b) => a - b),
        Array.from({ length: next }, (_, i) => i),
      )
    }
    const shared = async (ours: ReturnType<typeof join>) => {
      const shares = () => [ours.consumer.assignment.map(({ partition }) => partition), java.assigned]
      await until(
        () => `the members have ${JSON.stringify(shares())}; Java said ${java.said}`,
        () => shares().every(share => share.length === 2) && new Set(shares().flat()).size === 4,
      )
      const [group] = allSucceeded(await admin.describeGroups([groupId]))
      assert.deepEqual([group.state, group.assignor, group.members.length], ['Stable', chosen, 2])
    }
    // A JVM takes its time: ours is there first, and leads.
    const first = join()
    await shared(first)
    await exchange()
    await first.consumer.close()
    await first.running
    await until('Java to have all', () => java.assigned.length === 4)
    await exchange()
    // Java leads.
    const second = join()
    await shared(second)
    await exchange()
    java.askToStop()
    await java.finish()
    await until('ours to have all', () => second.consumer.assignment.length === 4)
    await exchange()
    await second.consumer.close()
    await second.running
  })
}
