import { setTimeout as pause } from 'node:timers/promises'
import { ApiKey } from '../../../src/protocol/apis.ts'
import { until } from '../broker-process.ts'
import { checkOnce } from '../check-records.ts'
import { storedBatches } from '../stored-batches.ts'
import { type Case, jobFor, leave, seen, settle } from './case.ts'

/** A3, W4: kafka-go 0.4.47 knows JoinGroup 1 and nothing newer, which Kafka 4.0.0 had removed. */
const oldJoin: Case = {
  name: 'A3: groups by JoinGroup 1',
  client: 'kafka-go',
  run: async world => {
    const command = await world.command('kafka-go')
    const topic = world.fresh('old-join')
    const group = world.fresh('old-join')
    await world.produce(await world.command('kcat'), [jobFor(topic)])
    const members = [0, 1].map(() => world.member(command, { topic, group }))
    const calls = await world.callsDuring(() => seen(members, 40))
    await leave(members)
    const versions = new Set(calls.filter(call => call.apiKey === ApiKey.joinGroup).map(call => call.apiVersion))
    const isOld = [...versions].join() === '1'
    const records = members.flatMap(member => member.records)
    return [...(isOld ? [] : [`JoinGroup versions ${[...versions]}`]), ...checkOnce(records, [jobFor(topic)])]
  },
}

/** W5: Sarama asks in the versions of the release that it is told, and not in those that the broker offers. */
function byRelease(version: string): Case {
  return {
    name: `W5: versions as of Kafka ${version}`,
    client: 'sarama',
    run: async world => {
      const command = await world.command('sarama')
      const topic = world.fresh('release')
      const group = world.fresh('release')
      await world.produce(command, [jobFor(topic)], { version })
      const members = [0, 1].map(() => world.member(command, { topic, group, version }))
      await settle(members)
      await seen(members, 40)
      await leave(members)
      const codecs = new Set(world.broker.logDirs.flatMap(logDir => storedBatches(logDir, topic)).map(one => one.codec))
      const isPacked = [...codecs].join() === 'snappy'
      const records = members.flatMap(member => member.records)
      return [...(isPacked ? [] : [`stored with ${[...codecs]}`]), ...checkOnce(records, [jobFor(topic)])]
    },
  }
}

/** A18, W21, W22: a static member that is back has what it had, nobody else hears of it, and its new settings are in force. */
function staticMember(client: 'java' | 'confluent-python'): Case {
  return {
    name: 'A18: a static member comes back with another session timeout',
    client,
    run: async world => {
      const command = await world.command(client)
      const topic = world.fresh('static')
      const group = world.fresh('static')
      await world.produce(await world.command('kcat'), [jobFor(topic)])
      const join = (instance: string, sessionMs: number) =>
        world.member(command, {
          ...{ topic, group },
          settings: { 'group.instance.id': instance, 'session.timeout.ms': String(sessionMs) },
        })
      const staying = join('staying', 45_000)
      const going = join('going', 45_000)
      await settle([staying, going])
      await seen([staying, going], 40)
      const held = going.assigned.join()
      const before = staying.events.filter(event => event.event === 'assigned').length
      going.kill()
      const back = join('going', 6000)
      await until('the member to be back', () => back.assigned.join() === held, { timeoutMs: 30_000 })
      // Kafka goes by the new timeout from the first heartbeat on.
      await pause(2000)
      const rebalances = staying.events.filter(event => event.event === 'assigned').length - before
      back.kill()
      // The broker notices after the new session timeout, long before the old one.
      const began = performance.now()
      await settleAlone(staying)
      const tookMs = performance.now() - began
      await leave([staying])
      return [
        ...(rebalances === 0 ? [] : [`the other member saw ${rebalances} rebalances`]),
        ...(tookMs < 30_000 ? [] : [`the session lasted ${tookMs} ms`]),
      ]
    },
  }
}

async function settleAlone(member: Parameters<typeof settle>[0][number]): Promise<void> {
  await settle([member])
}

export const groupCases: readonly Case[] = [
  oldJoin,
  byRelease('2.4.0'),
  byRelease('3.6.0'),
  staticMember('java'),
  staticMember('confluent-python'),
]
