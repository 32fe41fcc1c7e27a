import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SeededRandom } from '../../simulator/io/seeded-random.ts'
import { Host, onHost, topicId, written } from '../fixture.test.ts'
import type { SegmentedLog } from '../segmented-log.ts'
import {
  compact,
  compacted,
  filesOf,
  type Pair,
  pairsOf,
  put,
  roll,
  type StoredPair,
  textOf,
} from './compaction-fixture.test.ts'
import type { PassResult } from './pass-end.ts'

const config = {
  isCompacted: true,
  isDeleted: false,
  fileDeleteDelayMs: 100,
  segmentBytes: 600,
  indexIntervalBytes: 200,
}
const smallChunks = { ioBufferBytes: 4096 }

/** Everything that was written to a log, and what the log may have forgotten of it. */
class Model {
  readonly written: StoredPair[] = []

  put(log: SegmentedLog, pairs: readonly Pair[]): void {
    const offset = put(log, pairs, 1000 + log.nextOffset)
    for (const [index, [key, value]] of pairs.entries()) this.written.push({ offset: offset + index, key, value })
  }

  cut(endOffset: number): void {
    while ((this.written.at(-1)?.offset ?? -1) >= endOffset) this.written.pop()
  }

  /** What is there was written there; of each key the last record is there, unless it lies below the start. */
  check(found: readonly StoredPair[], log: SegmentedLog, what: string, endOffset = log.logEndOffset): void {
    const byOffset = new Map(this.written.map(pair => [pair.offset, pair]))
    for (const pair of found) assert.deepEqual(pair, byOffset.get(pair.offset), what)
    const offsets = found.map(pair => pair.offset)
    assert.deepEqual(
      offsets,
      offsets.toSorted((a, b) => a - b),
      what,
    )
    const last = new Map(this.written.map(pair => [pair.key, pair]))
    for (const pair of last.values()) {
      if (pair.offset < log.logStartOffset || pair.offset >= endOffset) continue
      assert.ok(offsets.includes(pair.offset), `${what}: ${pair.key} at ${pair.offset} is lost`)
    }
  }
}

function fill(host: Host, log: SegmentedLog, model: Model, random: SeededRandom, count: number): void {
  for (let index = 0; index < count; index++) {
    const pairs = Array.from({ length: random.between(1, 3) }, (): Pair => {
      return [`key-${random.below(12)}`, random.chance(0.1) ? null : `${host.world.nowMs}-${index}`.padEnd(40)]
    })
    model.put(log, pairs)
  }
}

interface Race {
  readonly host: Host
  readonly log: SegmentedLog
  readonly model: Model
  readonly random: SeededRandom
}

/** A pass begins; the action, after some turns, comes in between. Answers what became of the pass. */
async function race(
  seed: string,
  act: (race: Race) => Promise<void>,
  settings = {},
): Promise<Race & { result: PassResult }> {
  const host = new Host({ seed, config: { ...config, ...settings } })
  return host.run(
    (async () => {
      const log = await host.openLog()
      const random = host.world.random('race')
      const model = new Model()
      for (let round = 0; round < 5; round++) {
        fill(host, log, model, random, 8)
        await roll(host, log)
      }
      fill(host, log, model, random, 3)
      // What a pass waits for before it begins.
      if (random.chance(0.8)) await log.compaction.need(host.io.clock.now().wallMs)
      const pass = compact(host, log, smallChunks)
      await host.world.sleep(random.between(0, random.pick([20, 100, 400])))
      await act({ host, log, model, random })
      return { host, log, model, random, result: await pass }
    })(),
  )
}

async function forSeeds(count: number, body: (seed: string) => Promise<void>): Promise<void> {
  for (let seed = 0; seed < count; seed++) await body(String(seed))
}

function leftovers(host: Host, log: SegmentedLog): string[] {
  return filesOf(host, log).filter(name => /\.(cleaned|swap)$/.test(name))
}

test('readers, searches and the scrub see the log whole while it is compacted, and producers go on', () =>
  forSeeds(12, async seed => {
    const { host, log, model, result } = await race(seed, async ({ host, log, model, random }) => {
      for (let step = 0; step < 12; step++) {
        fill(host, log, model, random, 1)
        const end = log.logEndOffset
        const [found, byTime, newest] = await Promise.all([
          pairsOf(log),
          log.findByTimestamp(0n),
          log.findMaxTimestamp(),
          log.scrub(undefined, 10_000),
        ])
        model.check(found, log, `seed ${seed}, step ${step}`, end)
        assert.ok(byTime !== undefined && byTime.type === undefined, `seed ${seed}`)
        assert.ok(newest !== undefined && newest.type === undefined)
        if (random.chance(0.2)) await roll(host, log)
      }
    })
    assert.equal(result.type, 'compacted')
    assert.deepEqual(host.faults.damage, [])
    assert.deepEqual(host.faults.events, [])
    await host.run(
      (async () => {
        model.check(await pairsOf(log), log, `seed ${seed}`)
        model.check(await pairsOf(await host.reopen()), log, `seed ${seed}, opened again`)
      })(),
    )
  }))

test('a log that is cut while it is compacted holds what was left of it', () =>
  forSeeds(25, async seed => {
    let before: StoredPair[] = []
    const { host, log, model } = await race(seed, async ({ host, log, model, random }) => {
      while (log.logEndOffset < log.nextOffset) await host.io.clock.yieldTurn()
      before = await pairsOf(log)
      const endOffset = random.between(log.logStartOffset, log.logEndOffset)
      if (random.chance(0.2)) {
        await log.truncateFullyAndStartAt(log.logEndOffset + 5)
        model.cut(0)
      } else {
        await log.truncate({ endOffset })
        // What lay behind the last batch may have been compacted away for what is cut now.
        model.cut(((await pairsOf(log)).at(-1)?.offset ?? -1) + 1)
      }
      assert.ok((log.cleanedOffset ?? 0) <= log.logEndOffset)
      log.moveHighWatermark(log.logEndOffset)
      model.put(log, [['after', 'the cut']])
    })
    assert.deepEqual(leftovers(host, log), [], `seed ${seed}`)
    await host.run(
      (async () => {
        while (log.logEndOffset < log.nextOffset) await host.io.clock.yieldTurn()
        const found = await pairsOf(log)
        // Of what was compacted away for a record that is cut now, nothing comes back.
        const byOffset = new Map(model.written.map(pair => [pair.offset, pair]))
        for (const pair of found) assert.deepEqual(pair, byOffset.get(pair.offset), `seed ${seed}`)
        assert.deepEqual(found.at(-1)?.value, 'the cut')
        // What was cut has not taken the place of anything.
        for (const pair of new Map(model.written.map(one => [one.key, one])).values()) {
          const wasThere = before.some(one => one.offset === pair.offset)
          assert.ok(!wasThere || found.some(one => one.offset === pair.offset), `seed ${seed}: ${pair.key} is lost`)
        }
        assert.deepEqual(await pairsOf(await host.reopen()), found, `seed ${seed}, opened again`)
      })(),
    )
    assert.deepEqual(host.faults.damage, [])
  }))

test('retention and deleted records beside a pass', () =>
  forSeeds(20, async seed => {
    const { host, log, model } = await race(
      seed,
      async ({ host, log, model, random }) => {
        for (let step = 0; step < 4; step++) {
          if (random.chance(0.5)) await log.moveLogStart(random.between(log.logStartOffset, log.highWatermark))
          await log.applyRetention(host.io.clock.now().wallMs)
          model.check(await pairsOf(log), log, `seed ${seed}, step ${step}`)
          await host.world.sleep(random.between(0, 20))
        }
      },
      { isDeleted: true, retentionMs: -1, retentionBytes: 3000 },
    )
    assert.deepEqual(leftovers(host, log), [], `seed ${seed}`)
    await host.run(
      (async () => {
        model.check(await pairsOf(log), log, `seed ${seed}`)
        model.check(await pairsOf(await host.reopen()), log, `seed ${seed}, opened again`)
      })(),
    )
    assert.deepEqual(host.faults.damage, [])
    assert.deepEqual(host.faults.events, [])
  }))

test('a topic that is deleted and made anew while its log is compacted begins empty', () =>
  forSeeds(20, async seed => {
    const { host, result } = await race(seed, async ({ host, log }) => {
      host.directories.delete(log)
      const made = host.directories.create({ topic: 'topic', topicId: otherId, partition: 0, config: host.config })
      assert.equal(made.type, 'created')
      put(made.log, [['new', 'value']])
    })
    assert.ok(result.type === 'stopped' || result.type === 'compacted', `seed ${seed}: ${JSON.stringify(result)}`)
    await host.run(
      (async () => {
        await host.world.sleep(1000)
        const made = host.directories.get(otherId, 0)
        assert.ok(made !== undefined)
        assert.deepEqual(
          (await pairsOf(made)).map(({ key }) => key),
          ['new'],
        )
        assert.equal(made.cleanedOffset, undefined)
        assert.deepEqual(
          host.io.disk.list('/data').filter(({ isDirectory }) => isDirectory),
          [{ name: 'topic-0', isDirectory: true }],
        )
        assert.deepEqual(leftovers(host, made), [])
      })(),
    )
    assert.deepEqual(host.faults.damage, [])
    assert.deepEqual(host.faults.events, [])
  }))

const otherId = `${topicId.slice(0, -2)}ZQ`.replace('AAAAAAAAQ', 'BAAAAAAAQ')

test('a broker that stops does not wait for a pass to end', () =>
  forSeeds(20, async seed => {
    const { host, model } = await race(seed, async ({ host }) => {
      await host.directories.close({ brokerEpoch: 1 })
    })
    host.node.crash('kill')
    await host.run(
      (async () => {
        const log = await host.openLog()
        assert.deepEqual(leftovers(host, log), [])
        model.check(await pairsOf(log), log, `seed ${seed}`)
        log.moveHighWatermark(log.logEndOffset)
        await compacted(host, log)
        model.check(await pairsOf(log), log, `seed ${seed}`)
      })(),
    )
    assert.deepEqual(host.faults.damage, [])
  }))

test('a topic that is not compacted any more is left as it is', () =>
  onHost({ config }, async host => {
    const log = await host.openLog()
    for (let round = 0; round < 20; round++) put(log, [['key', String(round)]])
    await roll(host, log)
    const pass = compact(host, log)
    log.configure({ ...host.config, isCompacted: false, isDeleted: true })
    assert.equal((await pass).type, 'stopped')
    assert.equal((await pairsOf(log)).length, 20)
    assert.deepEqual(leftovers(host, log), [])
    assert.equal(log.compaction.isUncleanable, false)
  }))

for (const operation of ['append', 'sync', 'syncDirectory', 'rename', 'write'] as const) {
  test(`a directory that fails during a pass (${operation}) takes nothing with it`, () =>
    forSeeds(8, async seed => {
      const { host, model } = await race(seed, async ({ host }) => {
        host.node.disk.faults.failNext(operation, 'io', { times: 1 })
        await host.world.sleep(300)
        host.node.disk.faults.forgetOrdered()
      })
      host.node.crash('kill')
      await host.run(
        (async () => {
          const log = await host.openLog()
          assert.deepEqual(leftovers(host, log), [])
          model.check(await pairsOf(log), log, `seed ${seed}`)
        })(),
      )
    }))
}

test('a disk without room for a new segment is not filled, and the pass comes through later', () =>
  onHost({ config: { ...config, segmentBytes: 100_000 } }, async host => {
    const log = await host.openLog()
    const model = new Model()
    for (let round = 0; round < 20; round++) model.put(log, [['key', String(round)]])
    await roll(host, log)
    host.node.disk.faults.freeBytes = 1_000_000
    assert.equal((await compact(host, log)).type, 'noRoom')
    assert.deepEqual(leftovers(host, log), [])
    assert.deepEqual(host.faults.events, [])
    host.node.disk.faults.freeBytes = 100_000_000
    await compacted(host, log)
    model.check(await pairsOf(log), log, 'after')
    assert.equal((await pairsOf(log)).length, 1)
  }))

test('a segment that is overdue for compaction does not end while its log is being cut', async () => {
  for (let seed = 0; seed < 60; seed++) {
    await onHost({ seed, config: { isCompacted: true, isDeleted: false, maxCompactionLagMs: 1000 } }, async host => {
      const log = await host.openLog()
      for (let index = 0; index < 20; index++) put(log, [[`key-${index}`, 'value']], 1000 + index)
      await written(host, log)
      log.moveHighWatermark(log.logEndOffset)
      const wallMs = host.io.clock.now().wallMs + 2000
      const cut = log.truncate({ endOffset: 10 })
      for (let turn = seed % 30; turn > 0; turn--) await host.io.clock.yieldTurn()
      await log.compaction.need(wallMs)
      await cut
      assert.deepEqual(host.faults.events, [], `seed ${seed}`)
      assert.equal(log.logEndOffset, 10)
      log.moveHighWatermark(10)
      // Once it is over, it ends.
      await log.compaction.need(wallMs)
      assert.deepEqual(
        log.inspect().segments.map(({ baseOffset }) => baseOffset),
        [0, 10],
        `seed ${seed}`,
      )
      put(log, [['key', 'value']], 5000)
      await written(host, log)
      const expected = await textOf(log)
      assert.equal(expected.length, 11)
      host.node.crash('kill')
      await host.open({ bootId: 'boot' })
      assert.deepEqual(await textOf(host.log()), expected)
      assert.deepEqual(host.faults.damage, [])
    })
  }
})
