import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCrcValid, updateCrc } from '../../../src/records/batch.ts'
import { decodeBatchHeader } from '../../../src/records/batch-header.ts'
import { BatchBuilder, type BatchFields } from '../../../src/records/builder.ts'
import { openBatch } from '../../../src/records/open-batch.ts'
import { RecordReader } from '../../../src/records/record.ts'
import { compareLogs } from './compare-logs.ts'
import { firstUncleanableOffset } from './first-uncleanable.ts'
import type { StoredBatch, StoredLog } from './stored-log.ts'

const time = 1_700_000_000_000
const during = { fromMs: 1000, toMs: 2000 }

type Entry = readonly [key: string, value: string | null]

function stored(bytes: Buffer, segment = 0): StoredBatch {
  const reader = openBatch(bytes, 0, 1 << 20)
  assert.ok(reader instanceof RecordReader)
  return {
    segment,
    header: decodeBatchHeader(bytes, 0),
    isCrcValid: isCrcValid(bytes, 0, bytes.length),
    bytes,
    records: [...reader],
  }
}

function batch(baseOffset: number, entries: readonly Entry[], fields: BatchFields = {}): StoredBatch {
  const builder = new BatchBuilder()
  for (const [key, value] of entries) builder.append(time, Buffer.from(key), value === null ? null : Buffer.from(value))
  return stored(Buffer.from(builder.finish({ baseOffset, ...fields })))
}

function changed(source: StoredBatch, change: (bytes: Buffer) => void): StoredBatch {
  const bytes = Buffer.from(source.bytes)
  change(bytes)
  updateCrc(bytes, 0)
  return stored(bytes)
}

function log(...batches: StoredBatch[]): StoredLog {
  return { segments: [0], batches, files: [], transactionIndexes: {} }
}

function differences(before: StoredLog, kafka: StoredLog, millrace: StoredLog): string[] {
  return compareLogs({
    before,
    kafka: { log: kafka, during },
    millrace: { log: millrace, during },
    deleteRetentionMs: 0,
  })
}

const a = batch(0, [['a', '1']])
const b = batch(1, [
  ['b', '1'],
  ['c', null],
])

test('two logs that are the same do not differ', () => {
  assert.deepEqual(differences(log(a, b), log(b), log(b)), [])
})

test('a batch that only one has is told, whoever has it', () => {
  assert.match(differences(log(a, b), log(a, b), log(b)).join(), /only kafka has batch 0\.\.0/)
  assert.match(differences(log(a, b), log(b), log(a, b)).join(), /only millrace has batch 0\.\.0/)
})

test('a record that is another is told', () => {
  const other = batch(1, [
    ['b', '2'],
    ['c', null],
  ])
  const found = differences(log(a, b), log(b), log(other)).join('\n')
  assert.match(found, /records of batch 1\.\.2/)
  assert.match(found, /was not there/)
})

test('a changed header of an untouched batch is told', () => {
  const other = changed(b, bytes => bytes.writeInt16BE(7, 51))
  assert.match(
    differences(log(b), log(b), log(other)).join(),
    /producerEpoch of batch 1\.\.2 with 2 in segment 0: kafka -1, millrace 7/,
  )
})

test('a wrong CRC is told', () => {
  const bytes = Buffer.from(b.bytes)
  bytes[17]! ^= 1
  assert.match(
    differences(log(b), log(b), log(stored(bytes))).join(),
    /the CRC of batch 1\.\.2 with 2 in segment 0 is wrong/,
  )
})

test('a horizon may differ as far as the passes ran at other times, and must be there on both sides', () => {
  const horizon = (ms: number) =>
    changed(b, bytes => {
      bytes[22]! |= 0x40
      const moved = BigInt(ms)
      bytes.writeBigInt64BE(moved, 27)
    })
  const [early, late, outside] = [horizon(1100), horizon(1900), horizon(5000)]
  // The records' times move with the base here, which a cleaner would not do: only the horizons are looked at.
  const about = (lines: string[]) => lines.filter(line => /[hH]orizon/.test(line))
  assert.deepEqual(about(differences(log(b), log(early), log(late))), [])
  assert.match(
    about(differences(log(b), log(early), log(outside))).join(),
    /horizon of .* is 5000, not from 1000 to 2000/,
  )
  assert.match(about(differences(log(b), log(early), log(b))).join(), /deleteHorizon of/)
})

test('what may be cleaned ends at the segment in which a transaction is open', () => {
  const open = batch(4, [['t', '1']], { isTransactional: true, producerId: 5, producerEpoch: 0, baseSequence: 0 })
  assert.equal(firstUncleanableOffset([a, b], [0, 3, 8]), 8)
  assert.equal(firstUncleanableOffset([a, b, open], [0, 3, 8]), 3)
  assert.equal(firstUncleanableOffset([open], [3, 8]), undefined)
})

test('what may be cleaned ends at the first segment with a record that is too young', () => {
  const inNext = { ...b, segment: 1 }
  assert.equal(firstUncleanableOffset([a, inNext], [0, 1, 3], time), 3)
  assert.equal(firstUncleanableOffset([a, inNext], [0, 1, 3], time - 1), undefined)
  assert.equal(firstUncleanableOffset([a, changedTime(inNext)], [0, 1, 3], time), 1)
})

/** Its timestamps are a second later. */
function changedTime(batch: StoredBatch): StoredBatch {
  const { maxTimestamp, ...header } = batch.header
  return { ...batch, header: { ...header, maxTimestamp: maxTimestamp + 1000n } }
}
