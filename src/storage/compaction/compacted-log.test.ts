import assert from 'node:assert/strict'
import { test } from 'node:test'
import { segmentFileName } from '../../core/log/file-names.ts'
import { buildMarkerBatch } from '../../records/control.ts'
import { type Problem, verify } from '../dump/verify.ts'
import { bytesOf, onHost, tryAppend } from '../fixture.test.ts'
import { compacted, filesOf, pairsBatch, pairsOf, put, roll, textOf } from './compaction-fixture.test.ts'

const config = { isCompacted: true, isDeleted: false, segmentBytes: 500, indexIntervalBytes: 100 }

test('epochs begin where they did, also when their first records are compacted away and the process crashes', () =>
  onHost({ config: { ...config, segmentBytes: 100_000 } }, async host => {
    const log = await host.openLog()
    const append = (key: string, leaderEpoch: number) => {
      const offset = tryAppend(log, pairsBatch([[key, String(leaderEpoch)]]), { leaderEpoch })
      assert.equal(typeof offset, 'number')
    }
    for (const [key, leaderEpoch] of [
      ['a', 0],
      ['b', 0],
      ['a', 2],
      ['c', 2],
      ['a', 3],
      ['a', 5],
      ['b', 5],
    ] as const)
      append(key, leaderEpoch)
    await roll(host, log)
    append('d', 5)
    await log.flush()
    await compacted(host, log)
    assert.deepEqual(await textOf(log), ['3:c=2', '5:a=5', '6:b=5', '7:d=5'])
    const { epochs } = log.inspect()
    assert.deepEqual(
      epochs.map(({ leaderEpoch, startOffset }) => [leaderEpoch, startOffset]),
      [
        [0, 0],
        [2, 2],
        [3, 4],
        [5, 5],
      ],
    )
    host.node.crash('kill')
    const again = await host.openLog()
    assert.deepEqual(again.inspect().epochs, epochs)
    assert.deepEqual(again.endOffsetForEpoch(0), { leaderEpoch: 0, endOffset: 2 })
    assert.deepEqual(again.endOffsetForEpoch(2), { leaderEpoch: 2, endOffset: 4 })
    assert.deepEqual(host.faults.damage, [])
  }))

test('reads, searches and lookups go over gaps, before and after a start that reads no batch', () =>
  onHost({ config }, async host => {
    let log = await host.openLog()
    for (let index = 0; index < 60; index++) {
      put(log, [[index % 10 === 0 ? `kept-${index}` : 'key', String(index)]], 1000 + index)
      if (index % 8 === 7) await roll(host, log)
    }
    await roll(host, log)
    await compacted(host, log)
    for (const round of ['live', 'opened again']) {
      const pairs = await pairsOf(log)
      assert.deepEqual(
        pairs.map(({ offset }) => offset),
        [0, 10, 20, 30, 40, 50, 59],
        round,
      )
      for (let offset = 0; offset < 60; offset++) {
        const expected = pairs.find(pair => pair.offset >= offset)?.offset
        const bytes = await bytesOf(log.read({ offset, maxBytes: 1, minOneBatch: true, isolation: 'highWatermark' }))
        assert.equal(Number(bytes.readBigInt64BE(0)), expected, `${round}, offset ${offset}`)
        const byTime = await log.findByTimestamp(BigInt(1000 + offset))
        assert.equal(byTime?.type === undefined && byTime?.offset, expected, `${round}, time of ${offset}`)
      }
      const newest = await log.findMaxTimestamp()
      assert.equal(newest?.type === undefined && newest?.offset, 59)
      assert.equal(await log.findByTimestamp(2000n), undefined)
      let cursor: Awaited<ReturnType<typeof log.scrub>>['next']
      do cursor = (await log.scrub(cursor, 1000)).next
      while (cursor !== undefined)
      assert.deepEqual(host.faults.damage, [], round)
      if (round === 'live') log = await host.reopen()
      log.moveHighWatermark(log.logEndOffset)
    }
    await log.moveLogStart(15)
    assert.deepEqual((await pairsOf(log))[0].offset, 20)
  }))

test('what is left of a log with producers and transactions is in order, to the offline check too', () =>
  onHost({ config }, async host => {
    const log = await host.openLog()
    const transactional = { producerId: 8, producerEpoch: 0, isTransactional: true }
    for (let round = 0; round < 6; round++) {
      put(log, [['k', `${round}`]], 1000, { producerId: 7, producerEpoch: 0, baseSequence: round })
      put(log, [['t', `${round}`]], 1000, { ...transactional, baseSequence: round })
      const marker = buildMarkerBatch({ isCommit: round % 2 === 0, coordinatorEpoch: 1 }, 1000, transactional)
      assert.equal(typeof tryAppend(log, Buffer.from(marker), { origin: 'coordinator' }), 'number')
      if (round === 2) put(log, [['gone', null]])
      await roll(host, log)
    }
    put(log, [['k', 'last']], 1000, { producerId: 7, producerEpoch: 0, baseSequence: 6 })
    await compacted(host, log)
    await host.close()
    host.io = host.node.start()
    const problems: Problem[] = []
    const result = await verify(host.io.disk, '/data', problem => problems.push(problem))
    assert.equal(result.type, 'verified')
    assert.deepEqual(problems, [])
    host.node.crash('kill')
  }))

test('a swap that Kafka has left half done is completed: all its files get their names', () =>
  onHost({ config: { ...config, segmentBytes: 100_000 } }, async host => {
    const log = await host.openLog()
    for (let index = 0; index < 12; index++) put(log, [[`key-${index % 3}`, String(index)]])
    await roll(host, log)
    await compacted(host, log)
    const expected = await textOf(log)
    const { path } = log
    await host.close()
    host.io = host.node.start()
    // The log file has its name already, the indexes do not.
    for (const kind of ['index', 'timeindex'] as const) {
      const name = `${path}/${segmentFileName(0, kind)}`
      host.io.disk.rename(name, `${name}.swap`)
    }
    host.node.crash('kill')
    const again = await host.openLog()
    assert.deepEqual(await textOf(again), expected)
    assert.deepEqual(
      filesOf(host, again).filter(name => name.endsWith('swap') || name.endsWith('deleted')),
      [],
    )
    assert.ok(filesOf(host, again).includes('0.timeindex'))
  }))
