import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { setBaseOffset } from '../records/batch.ts'
import { append, batchOf, bytesOf, onHost, readAll, written } from './fixture.test.ts'
import { Intervals } from './intervals.ts'
import { TailCache } from './tail-cache.ts'
import { TailRing } from './tail-ring.ts'

test('removing nothing leaves an interval whole', () => {
  const intervals = new Intervals()
  intervals.add(0, 39)
  intervals.remove(38, 38)
  assert.equal(intervals.endOfCover(0), 39)
})

test('intervals hold exactly what was added and not removed', () => {
  const bounds = fc.tuple(fc.nat(60), fc.nat(60)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
  const step = fc.oneof(
    fc.record({ type: fc.constant('add' as const), bounds }),
    fc.record({ type: fc.constant('remove' as const), bounds }),
    fc.record({ type: fc.constant('truncate' as const), bounds }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), steps => {
      const intervals = new Intervals()
      const held = new Set<number>()
      for (const {
        type,
        bounds: [from, to],
      } of steps) {
        if (type === 'add') intervals.add(from, to)
        if (type === 'remove') intervals.remove(from, to)
        if (type === 'truncate') intervals.truncate(from)
        for (let at = from; at < (type === 'truncate' ? 61 : to); at++) type === 'add' ? held.add(at) : held.delete(at)
      }
      for (let at = 0; at < 61; at++) {
        let end = at
        while (held.has(end)) end++
        assert.equal(intervals.endOfCover(at), end)
        assert.equal(intervals.covers(at, at + 1), held.has(at))
        assert.equal(intervals.touches(at, at + 3), held.has(at) || held.has(at + 1) || held.has(at + 2))
        let next = at + 1
        while (next < 61 && !(held.has(next) && !held.has(next - 1))) next++
        assert.equal(intervals.nextBeginning(at), next === 61 ? Number.POSITIVE_INFINITY : next)
      }
    }),
  )
})

describe('the tail ring', () => {
  const place = (offset: number, position: number) => ({
    baseOffset: offset,
    endOffset: offset + 1,
    segmentBaseOffset: 0,
    position,
  })

  test('gives back what was added, until it is dropped, and never other bytes', () => {
    const ring = new TailRing(512 * 1024)
    const caches = Array.from({ length: 4 }, () => new TailCache(ring, 200 * 1024, () => false))
    const batches: Buffer[][] = caches.map(() => [])
    const positions = caches.map(() => [0])
    const reads: { bytes: Buffer; copy: Buffer }[] = []
    for (let index = 0; index < 4000; index++) {
      const which = index % 4
      const batch = batchOf({ valueBytes: (index * 37) % 900 })
      setBaseOffset(batch, 0, batches[which]!.length)
      const position = positions[which]!.at(-1)!
      caches[which]!.add(batch, place(batches[which]!.length, position))
      batches[which]!.push(batch)
      positions[which]!.push(position + batch.length)
      if (index % 97 === 0) {
        const hit = caches[which]!.find(batches[which]!.length - 1)!
        reads.push({ bytes: caches[which]!.read(hit, position + batch.length)!, copy: Buffer.from(batch) })
      }
      assert.ok(ring.sizeBytes <= 512 * 1024)
    }
    for (const [which, cache] of caches.entries()) {
      let found = 0
      for (const [offset, batch] of batches[which]!.entries()) {
        const hit = cache.find(offset)
        if (hit === undefined) continue
        found++
        assert.equal(hit.position, positions[which]![offset])
        assert.equal(cache.batchSize(hit), batch.length)
        const end = positions[which]![Math.min(offset + 5, batches[which]!.length)]!
        const bytes = cache.read(hit, end)
        assert.deepEqual(bytes, Buffer.concat(batches[which]!.slice(offset, offset + 5)))
      }
      assert.ok(found > 100 && found < 1000, `${found} batches are left`)
    }
    for (const { bytes, copy } of reads) assert.deepEqual(bytes, copy, 'what was read outlives its chunk')
  })

  test('uses the memory of what it drops again, but not where it still has to be written', () => {
    const batch = batchOf({ valueBytes: 100_000 })
    const memoryOf = (isToBeWritten: boolean) => {
      const cache = new TailCache(new TailRing(512 * 1024), 1_000_000, () => isToBeWritten)
      const views = Array.from({ length: 10 }, (_, offset) => {
        setBaseOffset(batch, 0, offset)
        return cache.add(batch, place(offset, offset * batch.length))
      })
      const written = views.map(view => Number(view.readBigInt64BE(0)))
      return { memory: new Set(views.map(view => view.buffer)).size, written }
    }
    assert.equal(memoryOf(false).memory, 2)
    const { memory, written } = memoryOf(true)
    assert.equal(memory, 5)
    assert.deepEqual(written, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('forgets what is cut, and has gaps for what it never had', () => {
    const cache = new TailCache(new TailRing(512 * 1024), 100_000, () => false)
    const batch = batchOf()
    for (const offset of [0, 1, 2]) {
      setBaseOffset(batch, 0, offset)
      cache.add(batch, place(offset, offset * batch.length))
    }
    setBaseOffset(batch, 0, 9)
    cache.add(batch, place(9, 9 * batch.length))
    assert.equal(cache.find(5), undefined)
    const first = cache.find(0)!
    assert.equal(cache.read(first, 10 * batch.length), undefined)
    cache.truncate(9)
    assert.equal(cache.find(9), undefined)
    assert.notEqual(cache.find(2), undefined)
  })
})

describe('bounds', () => {
  test('hold for open files, indexes and the ring, and all is read nevertheless', () =>
    onHost(
      {
        config: { segmentBytes: 2000, indexIntervalBytes: 100 },
        limits: { maxOpenFiles: 8, indexCacheBytes: 500, tailRingBytes: 512 * 1024, tailBytesPerPartition: 1000 },
      },
      async host => {
        await host.open()
        const logs = Array.from({ length: 6 }, (_, partition) => host.log(partition))
        for (let index = 0; index < 60; index++) {
          for (const log of logs) append(log, { valueBytes: 100 })
          await written(host, logs[0]!)
          if (index % 10 === 9) for (const log of logs) await log.flush()
        }
        await host.world.sleep(1000)
        for (const log of logs) assert.equal((await readAll(log)).length, 60)
        for (let query = 0; query < 60; query++) {
          const log = logs[query % 6]!
          const bytes = await bytesOf(
            log.read({ offset: query, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' }),
          )
          assert.equal(bytes.readUInt32BE(4), query)
        }
        assert.ok(host.context.openFiles.size <= 8, `${host.context.openFiles.size} files are open`)
        assert.ok(host.context.indexCache.sizeBytes <= 700, `${host.context.indexCache.sizeBytes} bytes of indexes`)
      },
    ))

  test('of open files hold when all of them have been written to', () =>
    onHost({ limits: { maxOpenFiles: 16 } }, async host => {
      await host.open()
      const logs = Array.from({ length: 100 }, (_, partition) => host.log(partition))
      for (let round = 0; round < 5; round++) {
        for (const log of logs) append(log)
        // A file that has been written to is synced before it is closed: this takes its time.
        await host.world.sleep(500)
      }
      append(logs[0]!)
      append(host.log(200))
      await host.world.sleep(500)
      append(host.log(201))
      await host.world.sleep(100)
      assert.ok(host.context.openFiles.size <= 20, `${host.context.openFiles.size} files are open`)
      for (const log of logs.slice(1)) assert.equal(log.logEndOffset, 5)
    }))
})
