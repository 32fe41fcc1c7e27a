import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, MillraceError } from '../../src/client/index.ts'
import { SeededRandom } from '../../src/records/seeded-random.ts'
import { startBroker } from '../../src/testing/index.ts'
import { freePorts } from '../compatibility/free-port.ts'
import { Patience, withPatience } from '../compatibility/patience.ts'
import { fuzzSeeds, runsFixedSeeds } from './fuzz-seeds.ts'
import { HostileProxy } from './hostile-proxy.ts'

/** See fuzz-seeds.ts for how to run others. */
const cases = 12
const timeouts = { requestTimeoutMs: 300, apiTimeoutMs: 1500, retryBackoffMs: 5, retryBackoffMaxMs: 20 }
const backoff = { reconnectBackoffMs: 5, reconnectBackoffMaxMs: 20 }
/** Shorter than patience: a broker may say that it is not to be asked anything for days, and is obeyed. */
const delivery = { deliveryTimeoutMs: 3000, maxBlockMs: 1500, requestTimeoutMs: 300 }
const patienceMs = 20_000

test('whatever a broker answers, our client says what is wrong or gets over it, and works again with a broker that is well', async () => {
  const [port] = await freePorts(1)
  await using broker = await startBroker({
    topics: { fuzzed: 2 },
    overrides: { 'offsets.topic.num.partitions': '1', 'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}` },
  })
  await using proxy = await HostileProxy.start({ port, brokerPort: broker.port })
  let refused = 0
  for (const seed of fuzzSeeds(cases)) {
    const client = createClient({ bootstrapServers: `127.0.0.1:${port}`, ...timeouts, ...backoff })
    proxy.random = new SeededRandom(seed)
    for (const outcome of await Promise.allSettled(
      work(client, seed).map((one, index) => inTime(one, `${seed}, work ${index}`)),
    )) {
      if (outcome.status === 'fulfilled') continue
      refused++
      assert.ok(outcome.reason instanceof MillraceError, `seed ${seed}: ${outcome.reason?.stack}`)
    }
    proxy.random = undefined
    proxy.reset()
    await works(client, `seed ${seed}`)
    await inTime(client.close(), `${seed}, close`)
  }
  assert.ok(proxy.damagedCount > 3 * cases || !runsFixedSeeds, `${proxy.damagedCount} answers were damaged`)
  assert.ok(refused > 0 || !runsFixedSeeds, 'some of it was told')
})

function work(client: ReturnType<typeof createClient>, seed: number): Promise<unknown>[] {
  const admin = client.admin()
  const producing = async () => {
    const producer = client.producer(delivery)
    const sent = Array.from({ length: 10 }, (_, n) => producer.send({ topic: 'fuzzed', value: `${seed}-${n}` }))
    const outcomes = await Promise.allSettled(sent)
    await producer.close()
    const failed = outcomes.find(outcome => outcome.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }
  const consuming = async () => {
    const consumer = client.consumer({ groupId: `g-${seed}` })
    try {
      consumer.subscribe(['fuzzed'])
      for (let i = 0; i < 5; i++) await consumer.poll({ timeoutMs: 100 })
    } finally {
      await consumer.close({ timeoutMs: 2000 })
    }
  }
  const asking = async () => {
    for (let i = 0; i < 5; i++) {
      await admin.listTopics()
      await admin.listGroups()
    }
  }
  return [producing(), consuming(), asking(), admin.describeVersions()]
}

/** With answers as they should be, all goes well. */
async function works(client: ReturnType<typeof createClient>, about: string): Promise<void> {
  using patience = new Patience(patienceMs)
  for (;;) {
    const producer = client.producer(delivery)
    try {
      await producer.send({ topic: 'fuzzed', value: 'well' })
      return
    } catch (error) {
      // What it still believes from before may take it a moment.
      if (patience.isOver) throw new Error(about, { cause: error })
    } finally {
      await producer.close()
    }
  }
}

async function inTime<T>(work: Promise<T>, about: string): Promise<T> {
  return await withPatience(`seed ${about}`, work, patienceMs)
}
