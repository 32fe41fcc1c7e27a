import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { batchHeaderBytes } from '../batch.ts'
import { batchSpans, decodeBatchHeader } from '../batch-header.ts'
import { buildControlBatch, buildMarkerBatch, ControlType } from '../control.ts'
import { readLegacyRecords } from '../legacy.ts'
import { openBatch } from '../open-batch.ts'
import { BatchFilter } from './filter-batches.ts'
import { compact, filterJob, joined, makeBatch } from './fixtures/jobs.ts'

function read(bytes: Buffer) {
  return [...batchSpans(bytes)].map(({ at }) => {
    const reader = openBatch(bytes, at, 1_000_000)
    assert.ok(!('type' in reader))
    const records = [...reader].map(record => {
      const text = (part: Buffer | null) => part?.toString() ?? null
      return `${record.offset} ${record.timestamp} ${text(record.key)}=${text(record.value)}`
    })
    assert.equal(reader.isCorrupt, false)
    return { header: decodeBatchHeader(bytes, at), records }
  })
}

describe('a batch', () => {
  test('of which all stays is copied to the byte, in any codec', () => {
    for (let codec = 0; codec <= 4; codec++) {
      const log = makeBatch([{ key: 'a' }, { key: 'b' }], { codec, baseOffset: 7, producerId: 5, producerEpoch: 1 })
      const { output, keptRecords, keptBatches } = compact(log)
      assert.ok(output.equals(log))
      assert.deepEqual([keptRecords, keptBatches], [2, 1])
    }
  })

  test('of which a part goes keeps its codec, offsets, sequence and times, and has the largest time of what stays', () => {
    for (let codec = 0; codec <= 4; codec++) {
      const fields = {
        producerId: 5,
        producerEpoch: 1,
        baseSequence: 40,
        partitionLeaderEpoch: 3,
        isTransactional: true,
      }
      const records = [
        { timestamp: 1000, key: 'a' },
        { timestamp: 9000, key: 'b' },
        { timestamp: 900, key: 'c' },
        { timestamp: 8000, key: 'a' },
        { timestamp: 9999, key: 'b' },
      ]
      const first = makeBatch(records.slice(0, 4), { ...fields, codec, baseOffset: 100 })
      const log = joined(first, makeBatch([{ key: 'b' }], { baseOffset: 104 }))
      const [{ header, records: kept }] = read(compact(log).output)
      const before = decodeBatchHeader(first)
      assert.deepEqual(kept, ['102 900 c=value', '103 8000 a=value'])
      const { sizeBytes, crc, ...after } = header
      const changes = { maxTimestamp: 8000n, recordCount: 2 }
      assert.deepEqual({ ...after, sizeBytes: 0, crc: 0 }, { ...before, ...changes, sizeBytes: 0, crc: 0 })
    }
  })

  test('with the time of the broker keeps that', () => {
    const log = makeBatch([{ key: 'a' }, { key: 'a', timestamp: 5 }], { logAppendTime: 777n })
    const [{ header, records }] = read(compact(log).output)
    assert.deepEqual([header.maxTimestamp, header.timestampType, records], [777n, 'LogAppendTime', ['1 777 a=value']])
  })

  test('without a record that stays goes, unless its producer or the log ended with it', () => {
    const fields = { producerId: 5, producerEpoch: 1, baseSequence: 40, codec: 4, partitionLeaderEpoch: 2 }
    const log = joined(makeBatch([{ key: 'a' }, { key: 'a' }], fields), makeBatch([{ key: 'a' }], { baseOffset: 2 }))
    assert.equal(read(compact(log).output).length, 1)
    const active = { producerId: 5, producerEpoch: 9, lastDataOffset: 1 }
    for (const options of [{ activeProducers: [active] }, { change: { keptEndOffset: 2 } }]) {
      const { output, keptBatches, keptRecords } = compact(log, options)
      const [{ header, records }] = read(output)
      assert.deepEqual([keptBatches, keptRecords, records], [2, 1, []])
      assert.equal(header.sizeBytes, batchHeaderBytes)
      assert.deepEqual([header.baseOffset, header.lastOffset, header.lastSequence], [0, 1, 41])
      assert.deepEqual([header.codec, header.baseTimestamp, header.maxTimestamp], [0, -1n, 1001n])
      // Nor does the next pass forget it before it may.
      assert.ok(compact(output, options).output.equals(output))
      assert.equal(read(compact(output).output).length, 1)
    }
    for (const other of [
      { ...active, lastDataOffset: 0 },
      { ...active, producerId: 4 },
      { ...active, lastDataOffset: -1 },
    ]) {
      assert.equal(read(compact(log, { activeProducers: [other] }).output).length, 1)
    }
  })

  test('loses its records without key, and those are counted', () => {
    const log = makeBatch([{ key: null }, { key: '' }, { key: null, value: null }])
    const { output, keylessRecords } = compact(log)
    assert.deepEqual([read(output)[0].records, keylessRecords], [['1 1001 =value'], 2])
  })

  test('that the map does not speak of stays as it is', () => {
    const log = joined(makeBatch([{ key: 'a' }, { key: null }, { key: 'b', value: null }]))
    const result = new BatchFilter().run(filterJob(log, { mapEndOffset: 0 }))
    assert.ok(result.type === 'done' && result.output.equals(log))
  })
})

describe('a tombstone', () => {
  const log = makeBatch([{ key: 'a' }, { key: 'b', timestamp: 3000, value: null }, { key: 'c', timestamp: -1 }])

  test('gets a horizon at the first pass, which its batch has in place of its base timestamp', () => {
    for (let codec = 0; codec <= 4; codec++) {
      const tombstones = makeBatch([{ key: 'a' }, { key: 'b', value: null, timestamp: 3000 }], { codec })
      const { output, earliestDeleteHorizonMs } = compact(tombstones, { wallMs: 10_000 })
      const [{ header, records }] = read(output)
      assert.deepEqual(
        [header.deleteHorizon, header.baseTimestamp, earliestDeleteHorizonMs],
        [10_500n, 10_500n, 10_500],
      )
      assert.deepEqual([header.codec, header.maxTimestamp], [codec, 3000n])
      assert.deepEqual(records, ['0 1000 a=value', '1 3000 b=null'])
    }
  })

  test('stays until its horizon, which passes do not move, and goes at it, when the batch shrinks', () => {
    const first = compact(log, { wallMs: 10_000 })
    const second = compact(first.output, { wallMs: 10_499 })
    assert.ok(second.output.equals(first.output))
    assert.equal(second.earliestDeleteHorizonMs, 10_500)
    const third = compact(second.output, { wallMs: 10_500 })
    const [{ header, records }] = read(third.output)
    assert.deepEqual(records, ['0 1000 a=value', '2 -1 c=value'])
    assert.deepEqual([header.deleteHorizon, header.maxTimestamp, header.lastOffset], [10_500n, 1000n, 2])
  })

  test('that is replaced goes at once', () => {
    const both = joined(log, makeBatch([{ key: 'b' }], { baseOffset: 3 }))
    const { output, earliestDeleteHorizonMs } = compact(both)
    assert.deepEqual(
      read(output).map(({ records }) => records.length),
      [2, 1],
    )
    assert.equal(earliestDeleteHorizonMs, undefined)
  })

  test('that the map does not speak of yet gets no horizon', () => {
    const [{ header, records }] = read(compact(log, { change: { mapEndOffset: 2 } }).output)
    assert.deepEqual([header.deleteHorizon, records.length], [undefined, 3])
    const whole = read(compact(log, { change: { mapEndOffset: 3 } }).output)
    assert.equal(whole[0].header.deleteHorizon, 10_500n)
  })

  test('keeps its time where the broker set it, and where it is far from the horizon', () => {
    const times = [-(2 ** 51), 2 ** 51, 0]
    const far = makeBatch(times.map((timestamp, index) => ({ key: `${index}`, value: null, timestamp })))
    assert.deepEqual(
      read(compact(far).output)[0].records.map(text => text.split(' ')[1]),
      times.map(String),
    )
    const appended = makeBatch([{ key: 'a', value: null }], { logAppendTime: 123n })
    const [{ header, records }] = read(compact(appended).output)
    assert.deepEqual([header.maxTimestamp, header.deleteHorizon, records], [123n, 10_500n, ['0 123 a=null']])
  })

  test('may stay for ever', () => {
    const { output } = compact(log, { change: { deleteRetentionMs: 9.2e18 } })
    assert.equal(read(output)[0].header.deleteHorizon, 2n ** 63n - 1n)
    assert.deepEqual(read(output)[0].records, read(log)[0].records)
  })
})

describe('a transaction', () => {
  const producer = { producerId: 5, producerEpoch: 1 }
  const data = (baseOffset: number, key: string) => {
    return makeBatch([{ key }], { ...producer, baseOffset, baseSequence: baseOffset, isTransactional: true })
  }
  const marker = (baseOffset: number, isCommit: boolean) => {
    return buildMarkerBatch({ isCommit, coordinatorEpoch: 3 }, 2000, { ...producer, baseOffset })
  }
  const shape = (bytes: Buffer) => read(bytes).map(({ header }) => `${header.baseOffset}${header.isControl ? 'm' : ''}`)

  test('that aborted loses its records, which replace nothing; then its marker gets a horizon, and goes after it', () => {
    const aborted = [{ producerId: 5, firstOffset: 1, lastOffset: 2, lastStableOffset: 1 }]
    const log = joined(makeBatch([{ key: 'a' }]), data(1, 'a'), marker(2, false), data(3, 'b'), marker(4, true))
    const first = compact(log, { aborted, wallMs: 10_000 })
    assert.deepEqual(shape(first.output), ['0', '2m', '3', '4m'])
    assert.deepEqual(first.abortedTransactions, aborted)
    const second = compact(first.output, { aborted, wallMs: 11_000 })
    assert.deepEqual(shape(second.output), ['0', '2m', '3', '4m'])
    assert.deepEqual([second.abortedTransactions, second.earliestDeleteHorizonMs], [[], 11_500])
    const [, { header, records }] = read(second.output)
    assert.deepEqual([header.deleteHorizon, header.maxTimestamp, records.length], [11_500n, 2000n, 1])
    const third = compact(second.output, { wallMs: 11_499 })
    assert.ok(third.output.equals(second.output))
    assert.deepEqual(shape(compact(third.output, { wallMs: 11_500 }).output), ['0', '3', '4m'])
  })

  test('that committed keeps its marker as long as it has records', () => {
    const log = joined(data(0, 'a'), marker(1, true), makeBatch([{ key: 'a' }], { baseOffset: 2 }))
    const first = compact(log, { wallMs: 10_000 })
    assert.deepEqual(shape(first.output), ['1m', '2'])
    assert.equal(first.earliestDeleteHorizonMs, undefined)
    const second = compact(first.output, { wallMs: 10_000 })
    assert.equal(second.earliestDeleteHorizonMs, 10_500)
    assert.deepEqual(shape(compact(second.output, { wallMs: 10_500 }).output), ['2'])
  })

  test('leaves an empty marker where nothing else says what its producer came to', () => {
    const over = { wallMs: 10_500, activeProducers: [{ ...producer, lastDataOffset: -1 }] }
    const withHorizon = compact(marker(1, true), { wallMs: 10_000 }).output
    const { output } = compact(withHorizon, over)
    const [{ header }] = read(output)
    assert.deepEqual(
      [header.recordCount, header.isControl, header.deleteHorizon, header.lastOffset],
      [0, true, undefined, 1],
    )
    assert.ok(compact(output, over).output.equals(output))
    const fenced = { ...over, activeProducers: [{ ...producer, producerEpoch: 2, lastDataOffset: -1 }] }
    assert.deepEqual(shape(compact(withHorizon, fenced).output), [])
    assert.deepEqual(shape(compact(output, { wallMs: 0 }).output), [])
  })

  test('does not concern control records that are no markers', () => {
    const log = buildControlBatch([{ type: ControlType.leaderChange, value: Buffer.from('x') }], 1000)
    assert.ok(compact(log, { wallMs: 1e15 }).output.equals(log))
  })
})

test("Kafka's own segments: the last record of each key stays, and what has no key goes", () => {
  for (const name of ['gzip', 'snappy', 'lz4', 'zstd']) {
    const log = readFileSync(new URL(`../fixtures/kafka-${name}.log`, import.meta.url))
    const [before] = read(log)
    const [after] = read(compact(log).output)
    assert.deepEqual(after.records, before.records.toSpliced(1, 1))
    assert.deepEqual([after.header.codec, after.header.lastSequence], [before.header.codec, before.header.lastSequence])
  }
})

describe('an entry of magic 0 or 1', () => {
  const sets = readFileSync(new URL('../fixtures/kafka-legacy.tsv', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  const logs = sets.map(line => Buffer.from(line.split('\t')[3], 'hex'))
  const keysAt = (bytes: Buffer) => {
    return [...batchSpans(bytes)].flatMap(({ at, sizeBytes }) => {
      const reader =
        bytes[at + 16] === 2 ? openBatch(bytes, at, 10_000) : readLegacyRecords(bytes, at, sizeBytes, 10_000)
      assert.ok(!('type' in reader))
      return [...reader].map(({ offset, timestamp, key }) => `${offset} ${timestamp} ${key}`)
    })
  }

  test('stays or goes; of one of which a part stays a batch is made', () => {
    for (const log of logs) {
      const before = keysAt(log)
      const { output, keylessRecords, keptRecords } = compact(log)
      assert.deepEqual(keysAt(output), [before[0], before[2]])
      assert.deepEqual([keylessRecords, keptRecords], [1, 2])
      const replaced = joined(log, makeBatch([{ key: 'key' }], { baseOffset: 50 }))
      assert.deepEqual(keysAt(compact(replaced).output).slice(0, -1), [before[2]])
    }
  })

  test('loses its tombstones when its segment is old enough', () => {
    for (const log of logs) {
      assert.deepEqual(keysAt(compact(log, { change: { dropsLegacyTombstones: true } }).output), [keysAt(log)[0]])
    }
  })
})
