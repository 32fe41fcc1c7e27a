import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogConfig } from '../../core/log/partition-log.ts'
import { buildMarkerBatch } from '../../records/control.ts'
import type { CrashKind } from '../../simulator/io/simulated-disk.ts'
import { crashAtOperation, Host, tryAppend, written } from '../fixture.test.ts'
import type { SegmentedLog } from '../segmented-log.ts'
import { compact, compacted, filesOf, type Pair, pairsBatch, put, roll, textOf } from './compaction-fixture.test.ts'

const base: Partial<LogConfig> = { isCompacted: true, isDeleted: false, fileDeleteDelayMs: 50 }

/** What a run prepares: the log, all of it synced, with what is to be compacted. */
interface Scenario {
  readonly config: Partial<LogConfig>
  readonly prepare: (host: Host, log: SegmentedLog) => Promise<void>
}

/** Producers of both kinds and a transaction that aborted, in segments that become one. */
const oneGroup: Scenario = {
  config: base,
  async prepare(host, log) {
    const transactional = { producerId: 7, producerEpoch: 0, isTransactional: true }
    put(log, [
      ['a', '0'],
      ['b', '0'],
    ])
    put(log, [['t', 'aborted']], 1000, { ...transactional, baseSequence: 0 })
    await roll(host, log)
    const marker = buildMarkerBatch({ isCommit: false, coordinatorEpoch: 1 }, 1000, { producerId: 7, producerEpoch: 0 })
    tryAppend(log, Buffer.from(marker), { origin: 'coordinator' })
    put(log, [['b', null]], 1000, { producerId: 5, producerEpoch: 0, baseSequence: 0 })
    log.assignLeaderEpoch(3)
    await roll(host, log)
    const offset = tryAppend(
      log,
      Buffer.from(
        keyed([
          ['a', '1'],
          ['c', '1'],
        ]),
      ),
      { leaderEpoch: 3 },
    )
    assert.equal(typeof offset, 'number')
    await roll(host, log)
  },
}

/** Several groups, and segments behind the last batch of a group of which nothing is left. */
const emptiedSegments: Scenario = {
  config: { ...base, segmentBytes: 230 },
  async prepare(host, log) {
    put(log, [['k', 'first']])
    put(log, [['a', '0']])
    await roll(host, log)
    put(log, [['k', 'second']])
    await roll(host, log)
    put(log, [['k', null]])
    await roll(host, log)
    put(log, [['d', '0']])
    await roll(host, log)
    put(log, [['k', 'third']])
    put(log, [['d', '1']])
    await roll(host, log)
  },
}

function keyed(pairs: readonly Pair[]): Buffer {
  return pairsBatch(pairs)
}

for (const [name, scenario] of Object.entries({ oneGroup, emptiedSegments })) {
  for (const kind of ['kill', 'power'] as const) {
    test(`a crash (${kind}) at any operation of a pass leaves what readers saw, or what they were about to see: ${name}`, async () => {
      const seen = await statesOf(scenario)
      assert.ok(seen.length > 1, 'the pass changes something')
      for (let seed = 0; seed < (kind === 'power' ? 2 : 1); seed++) {
        let operation = 1
        while (await crashAt(scenario, { kind, operation, seed }, seen)) operation++
        assert.ok(operation > 20, `a pass has ${operation} operations`)
      }
    })
  }
}

test('a power cut while the files of an earlier one are put in order takes nothing of a compacted log', async () => {
  let operation = 1
  while (await crashTwice(emptiedSegments, operation)) operation++
  assert.ok(operation > 10, `putting in order has ${operation} operations`)
})

/** Answers false when there is no such operation. */
async function crashTwice(scenario: Scenario, operation: number): Promise<boolean> {
  const host = new Host({ seed: `twice-${operation}`, config: scenario.config })
  const log = await host.run(host.openLog())
  await host.run(scenario.prepare(host, log))
  await host.run(compacted(host, log))
  host.node.crash('power')
  const opened = await host.run(host.openLog())
  const before = await host.run(textOf(opened))
  const crash = crashAtOperation(host, operation, 'power')
  const inOrder = putInOrder(host, opened).then(() => 'in order' as const)
  inOrder.catch(() => undefined)
  const end = await host.run(Promise.race([inOrder, crash.happened]))
  crash.off()
  if (end === 'in order') return false
  const again = await host.run(host.openLog())
  const label = `operation ${operation}, ${crash.what()}`
  assert.deepEqual(host.faults.damage, [], label)
  assert.deepEqual((await host.run(textOf(again))).slice(0, before.length), before, label)
  return true
}

/** Until the recovery point is at the end: all segments have their files. */
async function putInOrder(host: Host, log: SegmentedLog): Promise<void> {
  const offset = tryAppend(log, keyed([['z', '1']]), { leaderEpoch: Math.max(0, log.latestEpoch) })
  assert.equal(typeof offset, 'number')
  await written(host, log)
  await log.flush()
  for (let turns = 0; log.recoveryPoint < log.logEndOffset; turns++) {
    assert.ok(turns < 100_000, `${log.recoveryPoint} of ${log.logEndOffset}, ${JSON.stringify(log.inspect().segments)}`)
    await host.io.clock.yieldTurn()
  }
}

test('a power cut at any operation of the start after a kill leaves the gaps of a compacted log what they are', async () => {
  const settle = async (host: Host, log: SegmentedLog) => {
    log.moveHighWatermark(log.logEndOffset)
    const last = put(log, [['last', '1']])
    await roll(host, log)
    put(log, [['active', '1']])
    while (log.inspect().recoveryPoint <= last) await host.io.clock.yieldTurn()
  }
  let operation = 1
  for (; ; operation++) {
    const { config, prepare } = emptiedSegments
    const host = new Host({ seed: `restart-${operation}`, config })
    const log = await host.run(host.openLog())
    await host.run(prepare(host, log))
    await host.run(compacted(host, log))
    await host.run(settle(host, log))
    const before = await host.run(textOf(log))
    host.node.crash('kill')
    await host.run(withoutRecoveryPoints(host))

    const crash = crashAtOperation(host, operation, 'power')
    const started = host.openLog().then(opened => settle(host, opened))
    started.catch(() => undefined)
    const end = await host.run(Promise.race([started.then(() => 'started' as const), crash.happened]))
    crash.off()
    if (end === 'started') break
    const opened = await host.run(host.openLog())
    const label = `power cut at operation ${operation}, ${crash.what()}`
    assert.deepEqual(host.faults.damage, [], label)
    assert.deepEqual((await host.run(textOf(opened))).slice(0, before.length), before, label)
  }
  assert.ok(operation > 20, `a start has ${operation} operations`)
})

/** As when the checkpoint, which is written once a minute, is from before the log. */
async function withoutRecoveryPoints(host: Host): Promise<void> {
  const { disk } = host.node.start()
  await disk.remove(`${host.paths[0]}/recovery-point-offset-checkpoint`)
  await disk.syncDirectory(host.paths[0]!)
  host.node.crash('kill')
}

/** What readers see before the pass, and after each change that it makes. */
async function statesOf(scenario: Scenario): Promise<string[][]> {
  const host = new Host({ seed: 'states', config: scenario.config })
  return host.run(
    (async () => {
      const log = await host.openLog()
      await scenario.prepare(host, log)
      const states = [await textOf(log)]
      let isOver = false
      const pass = compact(host, log).finally(() => {
        isOver = true
      })
      while (!isOver) {
        const state = await textOf(log)
        if (JSON.stringify(state) !== JSON.stringify(states.at(-1))) states.push(state)
        await host.io.clock.yieldTurn()
      }
      assert.equal((await pass).type, 'compacted')
      const last = await textOf(log)
      if (JSON.stringify(last) !== JSON.stringify(states.at(-1))) states.push(last)
      return states
    })(),
  )
}

/** Answers false when the pass has no such operation. */
async function crashAt(
  scenario: Scenario,
  { kind, operation, seed }: { kind: CrashKind; operation: number; seed: number },
  states: readonly string[][],
): Promise<boolean> {
  const host = new Host({ seed: `${kind}-${seed}-${operation}`, config: scenario.config })
  const log = await host.run(host.openLog())
  await host.run(scenario.prepare(host, log))
  const { producers, epochs } = log.inspect()
  const { logEndOffset } = log
  const crash = crashAtOperation(host, operation, kind)
  const passed = compact(host, log).then(
    () => 'passed' as const,
    () => 'failed' as const,
  )
  const end = await host.run(Promise.race([passed, crash.happened]))
  crash.off()
  if (end === 'passed') return false
  const label = `${kind} at operation ${operation}, ${crash.what()}, seed ${seed}`

  const opened = await host.run(host.openLog())
  const found = await host.run(textOf(opened))
  const index = states.findIndex(state => JSON.stringify(state) === JSON.stringify(found))
  assert.ok(index >= 0, `${label}: ${found.join(' ')}`)
  assert.deepEqual(host.faults.damage, [], label)
  assert.equal(opened.logEndOffset, logEndOffset, label)
  const after = opened.inspect()
  assert.deepEqual(after.epochs, epochs, label)
  assert.deepEqual(
    after.producers.map(([id, { producerEpoch, batches }]) => [id, producerEpoch, batches.at(-1)?.lastSequence]),
    producers.map(([id, { producerEpoch, batches }]) => [id, producerEpoch, batches.at(-1)?.lastSequence]),
    label,
  )
  const left = filesOf(host, opened).filter(file => /(cleaned|swap|deleted)$/.test(file))
  assert.deepEqual(left, [], label)
  opened.moveHighWatermark(opened.logEndOffset)
  await host.run(finishPass(host, opened))
  assert.deepEqual(await host.run(textOf(opened)), states.at(-1), label)
  return true
}

async function finishPass(host: Host, log: SegmentedLog): Promise<void> {
  // The file of an active segment is made with the first batch, so what was the last one may be active again.
  log.roll()
  await log.flush()
  if (log.cleanedOffset === log.logEndOffset) return
  await compacted(host, log)
}

/** Of each segment but the last compacted one nothing is left; nothing says yet that they are synced. */
async function logWithEmptySegments(host: Host): Promise<SegmentedLog> {
  const log = await host.openLog()
  for (const value of ['1', '2', '3']) {
    put(log, [['k', value]])
    await roll(host, log)
  }
  put(log, [['z', '1']])
  await log.flush()
  log.moveHighWatermark(log.logEndOffset)
  await compacted(host, log)
  return log
}

test('a power cut while a log is made whole after another one takes nothing of what lies behind a gap', async () => {
  for (let seed = 0; seed < 3; seed++) {
    let operation = 1
    while (await cutTwice(operation, seed)) operation++
    assert.ok(operation > 5, `${operation} operations`)
  }
})

async function cutTwice(operation: number, seed: number): Promise<boolean> {
  const host = new Host({ seed: `${seed}-${operation}`, config: { ...base, segmentBytes: 70 } })
  const log = await host.run(logWithEmptySegments(host))
  const before = await host.run(textOf(log))
  assert.deepEqual(before, ['2:k=3', '3:z=1'])
  host.node.crash('power')
  const opened = await host.run(host.openLog())
  const crash = crashAtOperation(host, operation, 'power')
  const whole = opened.compaction.need(0).then(
    () => 'passed' as const,
    () => 'failed' as const,
  )
  const end = await host.run(Promise.race([whole, crash.happened]))
  crash.off()
  if (end === 'passed') return false
  const again = await host.run(host.openLog())
  const label = `power cut at operation ${operation}, ${crash.what()}, seed ${seed}`
  assert.deepEqual(host.faults.damage, [], label)
  assert.deepEqual(await host.run(textOf(again)), before, label)
  assert.equal(again.logEndOffset, 4, label)
  return true
}
