import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchSizeAt, readDeleteHorizon } from '../../records/batch.ts'
import { buildMarkerBatch } from '../../records/control.ts'
import { bytesOf, Host, onHost, readAll, tryAppend, written } from '../fixture.test.ts'
import type { SegmentedLog } from '../segmented-log.ts'
import { compact, compacted, pairsOf, put, roll } from './compaction-fixture.test.ts'

const deleteRetentionMs = 2000
const config = { isCompacted: true, isDeleted: false, fileDeleteDelayMs: 10, segmentBytes: 400, deleteRetentionMs }

/** Takes what the leader has, as a follower does: from its own end on. */
async function fetch(leader: SegmentedLog, follower: SegmentedLog, maxBytes: number): Promise<boolean> {
  const offset = follower.nextOffset
  if (offset >= leader.highWatermark) return false
  const read = leader.read({ offset, maxBytes, minOneBatch: true, isolation: 'highWatermark' })
  const bytes = await bytesOf(read)
  let whole = 0
  for (let size = batchSizeAt(bytes, 0); size > 0; size = batchSizeAt(bytes, whole)) whole += size
  assert.ok(whole > 0, `a fetch at ${offset} comes further`)
  assert.equal(follower.appendAsFollower(bytes.subarray(0, whole)), undefined)
  assert.ok(follower.nextOffset > offset)
  return true
}

async function aliveKeys(log: SegmentedLog): Promise<string[]> {
  const last = new Map((await pairsOf(log)).map(({ key, value }) => [key, value]))
  return [...last].flatMap(([key, value]) => (value === null ? [] : [`${key}=${value}`])).sort()
}

/**
 * A leader is written to and compacted; a follower fetches, is away for a while, fetches on, and is compacted too, at its own
 * times. Answers what each believes to be alive in the end.
 */
async function drill(seed: number, awayMs: number): Promise<{ leader: string[]; follower: string[] }> {
  const host = new Host({ seed: `drill ${seed}`, config })
  return host.run(
    (async () => {
      await host.open()
      const random = host.world.random('drill')
      const [leader, follower] = [host.log(0), host.log(1)]
      const settle = async (log: SegmentedLog) => {
        while (log.logEndOffset < log.nextOffset) await host.io.clock.yieldTurn()
        log.moveHighWatermark(log.logEndOffset)
      }
      const write = async (count: number) => {
        for (let index = 0; index < count; index++) {
          const key = `key-${random.below(8)}`
          put(leader, [[key, random.chance(0.4) ? null : `${host.world.nowMs}`]], 1000 + leader.nextOffset)
        }
        await settle(leader)
      }
      const clean = async (log: SegmentedLog) => {
        if (random.chance(0.5)) log.roll()
        await compact(host, log)
      }
      const follow = async (steps: number) => {
        for (let step = 0; step < steps && (await fetch(leader, follower, random.pick([1, 200, 2000]))); step++)
          await settle(follower)
      }
      await write(30)
      for (let round = 0; round < 4; round++) {
        // It stops in the middle, with records that are deleted while it is away.
        await follow(random.between(1, 12))
        const backAtMs = host.world.nowMs + awayMs
        while (host.world.nowMs < backAtMs) {
          if (random.chance(0.7)) await write(random.between(1, 6))
          await clean(random.chance(0.7) ? leader : follower)
          await host.world.sleep(Math.min(random.between(10, 400), Math.max(0, backAtMs - host.world.nowMs)))
        }
        await follow(1000)
      }
      assert.equal(follower.nextOffset, leader.nextOffset)
      assert.deepEqual(host.faults.damage, [])
      return { leader: await aliveKeys(leader), follower: await aliveKeys(follower) }
    })(),
  )
}

test('a follower that was away for less than delete.retention.ms ends with no deleted key alive', async () => {
  for (let seed = 0; seed < 20; seed++) {
    const { leader, follower } = await drill(seed, 1000)
    assert.deepEqual(follower, leader, `seed ${seed}`)
  }
})

test('the drill would notice: a follower that was away for longer may miss a tombstone', async () => {
  for (let seed = 0; seed < 30; seed++) {
    const { leader, follower } = await drill(seed, 6000)
    if (follower.join() !== leader.join()) return
  }
  assert.fail('no tombstone was missed')
})

test('a producer whose marker has a delete horizon was last heard of when the marker was written, not at the horizon', () =>
  onHost({ config: { ...config, deleteRetentionMs: 1_000_000_000 } }, async host => {
    await host.open()
    const [leader, follower] = [host.log(0), host.log(1)]
    const producer = { producerId: 7, producerEpoch: 0, isTransactional: true }
    for (let round = 0; round < 3; round++) {
      put(leader, [['key', `${round}`]], 1000 + round, { ...producer, baseSequence: round })
      const marker = buildMarkerBatch({ isCommit: true, coordinatorEpoch: 1 }, 2000 + round, producer)
      assert.equal(typeof tryAppend(leader, Buffer.from(marker), { origin: 'coordinator' }), 'number')
      await roll(host, leader)
    }
    // The first passes take the data, the next gives markers of which no data is left their horizons.
    for (let pass = 0; pass < 3; pass++) {
      await compacted(host, leader)
      put(leader, [['other', `${pass}`]], 3000)
      await roll(host, leader)
    }
    // A follower that knows the producer by such a marker alone.
    const batches = await readAll(leader)
    const withHorizon = batches.filter(batch => readDeleteHorizon(batch, 0) !== undefined)
    assert.equal(withHorizon.length, 2)
    assert.equal(follower.appendAsFollower(withHorizon[1]), undefined)
    await written(host, follower)
    const [[, entry]] = follower.inspect().producers
    assert.equal(entry.lastTimestamp, 2001n)
    follower.expireProducers(2001 + host.context.producerIdExpirationMs())
    assert.deepEqual(follower.inspect().producers, [])
  }))
