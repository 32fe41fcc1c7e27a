import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { DiskError } from '../../io/disk.ts'
import { Crew } from '../crew.ts'
import { History } from '../history/history.ts'
import { World } from '../io/world.ts'
import { drawPlan, type Plan } from '../plan.ts'
import { Violations } from '../violations.ts'
import { sendBatch } from '../workload/send-batch.ts'
import { createTopic } from '../workload/topic-admin.ts'
import { UniqueRecords } from '../workload/unique-records.ts'
import type { Workplace } from '../workload/workplace.ts'
import { SimulatedBroker } from './simulated-broker.ts'

const directory = '/disk/data-1'
const topic = { name: 'topic', partitions: 1, config: {}, isMortal: false }
const plan: Plan = { ...drawPlan(1), flush: 'ack', logDirs: [directory], overrides: [], topics: [topic] }

interface Scene {
  readonly broker: SimulatedBroker
  readonly violations: Violations
  /** Sends one record, and waits until it is acknowledged or refused; undefined: neither. */
  send(): Promise<ErrorCode | undefined>
  sleep(ms: number): Promise<void>
}

/** A broker that runs, with one topic, looked at after every event. */
async function onBroker(body: (scene: Scene) => Promise<void>): Promise<string[]> {
  const world = new World({ seed: 1 })
  const history = new History(() => world.nowMs)
  const violations = new Violations()
  const broker = new SimulatedBroker(world, plan, history, violations)
  const at = new Crew({ world, plan, history, violations, broker }).hire('client')
  const play = async () => {
    await broker.start()
    while ((await createTopic(at, topic)) !== ErrorCode.none) await world.sleep(100)
    await body({ broker, violations, send: () => send(at), sleep: ms => world.sleep(ms) })
  }
  let isOver = false
  const playing = play().finally(() => {
    isOver = true
  })
  await world.run(
    () => {
      broker.look()
      return isOver
    },
    { withinMs: 60_000, maxEvents: 100_000 },
  )
  await playing
  return violations.kept.map(({ invariant, text }) => `${invariant} ${text.split('\n')[0]}`)
}

async function send(at: Workplace): Promise<ErrorCode | undefined> {
  const [known] = (await at.client.topics([topic.name])) ?? []
  if (known === undefined) return undefined
  const shape = { maxValueBytes: 10, maxRecordsPerBatch: 1, hasWildTimestamps: false }
  const batch = new UniqueRecords(at.process, at.random, shape).draw(1000)
  const result = await sendBatch(at, { topic: known, partition: 0 }, batch, { acks: -1, codec: 0, attempt: 1 })
  if (result.type === 'refused') return result.errorCode
  return result.type === 'ok' ? ErrorCode.none : undefined
}

test('what is synced when no sync has failed is no broken promise', async () => {
  const told = await onBroker(async ({ send }) => assert.equal(await send(), ErrorCode.none))
  assert.deepEqual(told, [])
})

test('a log that is taken for synced after a sync has failed in its directory is told (I49)', async () => {
  const told = await onBroker(async ({ broker, violations, send }) => {
    assert.equal(await send(), ErrorCode.none)
    // As if the broker had not heard of it.
    broker.node.disk.faults.failed(new DiskError('io', 'sync', `${directory}/topic-0/00000000000000000000.log`))
    assert.equal(violations.count, 0)
    assert.equal(await send(), ErrorCode.none)
  })
  assert.equal(told[0], `I49 ${directory}/topic-0 is synced up to 2, after a sync had failed at 1`)
})

test('a directory that is given up while its disk is well is told (I49)', async () => {
  const told = await onBroker(async ({ broker, send }) => {
    broker.broker!.logs.directories[0]!.fail(new DiskError('io', 'read', directory))
    await send()
  })
  assert.match(told[0] ?? '', /^I49 the broker has stopped itself/)
})

test('what a broker had that has stopped itself has to be there when it is started again (I51)', async () => {
  const told = await onBroker(async ({ broker, send }) => {
    assert.equal(await send(), ErrorCode.none)
    broker.expectsFailure = true
    broker.broker!.logs.directories[0]!.fail(new DiskError('io', 'read', directory))
    assert.equal(broker.state, 'down')
    broker.node.start().disk.writeSmallFile(`${directory}/topic-0/00000000000000000000.log`, Buffer.alloc(0))
    broker.node.crash('kill')
    assert.equal(await broker.start(), true)
  })
  assert.deepEqual(told, ['I51 topic-0 ended at 1 and ends at 0 after a kill'])
})

test('a broker has to act on what a disk has refused (I53), once the disk does not stand still any more', async () => {
  const told = await onBroker(async ({ broker, violations, sleep }) => {
    broker.node.disk.stall(1500)
    broker.node.disk.faults.failed(new DiskError('readOnly', 'append', `${directory}/topic-0/00000000000000000000.log`))
    await sleep(2000)
    assert.equal(violations.count, 0)
    await sleep(1000)
  })
  assert.match(told.join(), /^I53 .*data-1 is not offline 1000 ms after it could not be changed/)
})

for (const [what, isFull] of [
  ['is excused when it began while the disk was full', true],
  ['is told (I51) when its disk was well', false],
] as const) {
  test(`a start that comes to nothing ${what}`, async () => {
    const told = await onBroker(async ({ broker }) => {
      await broker.close()
      let isBeginning = isFull
      broker.excuse = () => isBeginning
      broker.node.disk.faults.freeBytes = 0
      const starting = broker.start()
      isBeginning = false
      assert.equal(await starting, false)
    })
    assert.deepEqual(
      told.map(text => text.slice(0, 30)),
      isFull ? [] : ['I51 life 2 cannot start: Start'],
    )
  })
}
