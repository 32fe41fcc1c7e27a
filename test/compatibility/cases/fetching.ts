import { ADDRCONFIG } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { ApiKey } from '../../../src/protocol/apis.ts'
import { decode } from '../../../src/protocol/codec.ts'
import { fetchRequest } from '../../../src/protocol/messages/fetch.ts'
import { checkOnce } from '../check-records.ts'
import { drive } from '../driver-process.ts'
import { freePorts } from '../free-port.ts'
import { MillraceProcess } from '../millrace-process.ts'
import type { Call } from '../tap.ts'
import { type Case, jobFor, leave, seen, settle } from './case.ts'

const WATCHED_MS = 10_000

/**
 * A4, A5, W14, W15: on an idle topic the broker holds a fetch as long as the client asks, and no longer; with data it
 * answers at once. `version` is the Fetch version at least that the client is known to use.
 */
function idle(client: string, version: number, settings: object = {}): Case {
  return {
    name: 'A4, A5: an idle topic, and then data',
    client,
    run: async world => {
      const command = await world.command(client)
      const topic = world.fresh('idle')
      const maker = await world.command('kcat')
      await world.produce(maker, [jobFor(topic)])
      const member = world.member(command, { topic, group: world.fresh('idle'), settings })
      const begun = world.tap.calls.length
      await settle([member])
      await seen([member], 40)
      await pause(1000)
      const quiet = await world.callsDuring(() => pause(WATCHED_MS))
      await world.produce(maker, [jobFor(topic, { first: 40 })])
      await seen([member], 80)
      await leave([member])
      const fetches = fetchesOf(world.tap.calls.slice(begun))
      return [
        ...tooMany(fetchesOf(quiet)),
        ...tooLate(fetches),
        ...(fetches.some(call => call.apiVersion >= version) ? [] : [`Fetch ${version} is not used`]),
        ...checkOnce(member.records, [jobFor(topic, { count: 80 })]),
      ]
    },
  }
}

function fetchesOf(calls: readonly Call[]): readonly Call[] {
  return calls.filter(call => call.apiKey === ApiKey.fetch)
}

function maxWaitMsOf({ apiVersion, body }: Call): number {
  return decode(fetchRequest, apiVersion, body).maxWaitMs
}

/** Of one connection there are about as many as fit. */
function tooMany(calls: readonly Call[]): string[] {
  const wrong: string[] = []
  for (const [connection, own] of Map.groupBy(calls, call => call.connection)) {
    const allowed = 1.2 * (WATCHED_MS / maxWaitMsOf(own[0]!)) + 2
    if (own.length > allowed) wrong.push(`connection ${connection} sent ${own.length} fetches, not ${allowed}`)
  }
  return calls.length === 0 ? ['there was no fetch'] : wrong
}

/** A fetch outlives what its client would wait by less than a second. */
function tooLate(calls: readonly Call[]): string[] {
  const now = performance.now()
  return calls.flatMap(call => {
    const tookMs = (call.answeredAt ?? now) - call.sentAt
    const isGone = call.answeredAt === undefined && call === calls.findLast(one => one.connection === call.connection)
    return isGone || tookMs < maxWaitMsOf(call) + 1000
      ? []
      : [`a fetch of version ${call.apiVersion} took ${tookMs} ms`]
  })
}

/** A23: `localhost` is reached whichever family the client tries first, and what is advertised is reached by both. */
function localhost(client: 'kafkajs' | 'kcat', family: 4 | 6): Case {
  return {
    name: `A23: localhost, IPv${family} first`,
    client,
    target: 'millrace',
    run: async world => {
      const [port] = await freePorts(1)
      const bootstrap = `localhost:${port}`
      const overrides = { listeners: `PLAINTEXT://${bootstrap}` }
      await using own = await MillraceProcess.start({
        dir: `${world.dir}/${world.fresh('localhost')}`,
        overrides,
        port,
      })
      const { command, args, env } = await world.command(client)
      // No second try with the other family.
      const node = [`--dns-result-order=ipv${family}first`, '--no-network-family-autoselection']
      const there = client === 'kafkajs' ? { command, args: [...node, ...args], env } : { command, args, env }
      const settings = { 'broker.address.family': (await resolves(family)) ? `v${family}` : 'any' }
      const jobs = [jobFor('both', { count: 5 })]
      await drive(there, 'produce', bootstrap, { jobs, settings })
      const argument = { topics: ['both'], from: 'start', count: 5, group: 'g', settings }
      const { records } = await drive(there, 'consume', bootstrap, argument)
      await own.stop()
      return checkOnce(records, jobs)
    },
  }
}

/** As librdkafka looks names up: a family of which this machine has no address but loopback's does not count. */
async function resolves(family: 4 | 6): Promise<boolean> {
  try {
    await lookup('localhost', { family, hints: ADDRCONFIG })
    return true
  } catch {
    return false
  }
}

export const fetchCases: readonly Case[] = [
  idle('java', 17, { 'fetch.max.wait.ms': '500' }),
  idle('kcat', 11, { 'fetch.wait.max.ms': '500' }),
  idle('franz-go', 17),
  idle('confluent-python', 11),
  idle('kafkajs', 11),
  idle('platformatic', 17),
  idle('kafka-python', 11),
  idle('aiokafka', 4),
  localhost('kafkajs', 6),
  localhost('kafkajs', 4),
  localhost('kcat', 6),
  localhost('kcat', 4),
]
