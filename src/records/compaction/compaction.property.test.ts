import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCrcValid } from '../batch.ts'
import { type BatchHeader, batchSpans, decodeBatchHeader } from '../batch-header.ts'
import { openBatch } from '../open-batch.ts'
import type { Record } from '../record.ts'
import { SeededRandom } from '../seeded-random.ts'
import type { ActiveProducer } from './contract.ts'
import { type GeneratedLog, generateLog, startTime } from './fixtures/generated-log.ts'
import { runPass } from './fixtures/run-pass.ts'

interface DecodedBatch {
  readonly header: BatchHeader
  readonly records: readonly Record[]
  readonly bytes: Buffer
}

/** What one pass may not forget, and may. */
interface Rules {
  readonly fromOffset: number
  readonly mapEndOffset: number
  readonly endOffset: number
  /** Segments from here on are not looked at. */
  readonly cleanedEndOffset: number
  readonly wallMs: number
  readonly deleteRetentionMs: number
  readonly activeProducers: readonly ActiveProducer[]
}

function decode(bytes: Buffer): DecodedBatch[] {
  return [...batchSpans(bytes)].map(({ at, sizeBytes }) => {
    assert.ok(isCrcValid(bytes, at, sizeBytes))
    const reader = openBatch(bytes, at, 10_000_000)
    assert.ok(!('type' in reader))
    const records = [...reader]
    assert.equal(reader.isCorrupt, false)
    return { header: decodeBatchHeader(bytes, at), records, bytes: bytes.subarray(at, at + sizeBytes) }
  })
}

/** What is left of a log, by the plainest of means: everything in memory, and the end of each transaction known. */
function compacted(batches: readonly DecodedBatch[], log: GeneratedLog, rules: Rules) {
  const isAborted = ({ header }: DecodedBatch) => log.transactionAt.get(header.baseOffset)?.isCommit === false
  const lastOffsets = new Map<string, number>()
  for (const batch of batches) {
    if (batch.header.isControl || isAborted(batch)) continue
    for (const { key, offset } of batch.records) {
      if (key !== null && offset >= rules.fromOffset && offset < rules.mapEndOffset) {
        lastOffsets.set(key.toString('hex'), offset)
      }
    }
  }
  const withData = new Set(
    batches.filter(({ header }) => !header.isControl).map(({ header }) => log.transactionAt.get(header.baseOffset)),
  )
  return batches.flatMap(batch => {
    const { header } = batch
    if (header.baseOffset >= rules.cleanedEndOffset) return [{ ...factsOf(header), records: batch.records }]
    const horizon = header.deleteHorizon
    const isOver = horizon !== undefined && horizon <= BigInt(rules.wallMs)
    const mayGo = header.isControl && !withData.has(log.transactionAt.get(header.baseOffset))
    const kept = batch.records.filter(({ key, value, offset }) => {
      if (header.isControl) return !(mayGo && isOver)
      if (isAborted(batch)) return false
      if (offset >= rules.mapEndOffset) return true
      if (key === null || (value === null && isOver)) return false
      return offset >= (lastOffsets.get(key.toString('hex')) ?? -1)
    })
    const producer = rules.activeProducers.find(({ producerId }) => producerId === header.producerId)
    const endsProducer =
      producer !== undefined &&
      (producer.lastDataOffset >= 0
        ? producer.lastDataOffset === header.lastOffset
        : header.isControl && producer.producerEpoch === header.producerEpoch)
    if (kept.length === 0) {
      if (!endsProducer && header.lastOffset + 1 !== rules.endOffset) return []
      return [{ ...factsOf(header), codec: 0, deleteHorizon: undefined, records: [] }]
    }
    const getsHorizon =
      horizon === undefined &&
      (mayGo ||
        (!header.isControl && header.lastOffset < rules.mapEndOffset && kept.some(({ value }) => value === null)))
    const times = kept.map(({ timestamp }) => timestamp)
    const changes = getsHorizon || kept.length < batch.records.length
    const ownMax = [-1n, ...times].sort((a, b) => (a < b ? 1 : -1))[0]
    return [
      {
        ...factsOf(header),
        maxTimestamp: changes ? ownMax : header.maxTimestamp,
        deleteHorizon: getsHorizon ? BigInt(rules.wallMs + rules.deleteRetentionMs) : horizon,
        records: kept,
      },
    ]
  })
}

/** Everything of a header but what follows from the bytes. */
function factsOf(header: BatchHeader) {
  const { sizeBytes, crc, baseTimestamp, recordCount, ...facts } = header
  return facts
}

function seen(batches: readonly DecodedBatch[]) {
  return batches.map(({ header, records }) => ({ ...factsOf(header), records }))
}

type Facts = ReturnType<typeof seen>[number]

/** Batch by batch: a difference between whole logs would be longer than anybody can read, or memory can hold. */
function assertSame(actual: readonly Facts[], expected: readonly Facts[], what: string): void {
  for (let index = 0; index < Math.max(actual.length, expected.length); index++) {
    assert.equal(textOf(actual[index]), textOf(expected[index]), `${what}, batch ${index}`)
  }
}

function textOf(batch: Facts | undefined): string {
  if (batch === undefined) return 'none'
  const { records, ...facts } = batch
  const lines = records.map(({ offset, timestamp, key, value, headers }) => {
    const texts = headers.map(header => `${header.key}=${header.value}`)
    return `${offset} ${timestamp} ${key?.toString()} ${value?.toString('latin1')} ${texts}`
  })
  return [...Object.entries(facts).map(([name, value]) => `${name}: ${value}`), ...lines].join('\n')
}

function segmentsOf(batches: readonly DecodedBatch[], random: SeededRandom) {
  const segments: { baseOffset: number; parts: Buffer[] }[] = []
  for (const { header, bytes } of batches) {
    if (segments.length === 0 || random.below(8) === 0) segments.push({ baseOffset: header.baseOffset, parts: [] })
    segments[segments.length - 1].parts.push(bytes)
  }
  return segments.map(({ baseOffset, parts }) => ({ baseOffset, bytes: Buffer.concat(parts) }))
}

function someProducers(batches: readonly DecodedBatch[], random: SeededRandom): ActiveProducer[] {
  const last = new Map<number, ActiveProducer>()
  for (const { header } of batches) {
    const { producerId, producerEpoch, isControl, lastOffset } = header
    if (producerId < 0 || random.below(10) === 0) continue
    if (!isControl) last.set(producerId, { producerId, producerEpoch, lastDataOffset: lastOffset })
    else if (!last.has(producerId)) last.set(producerId, { producerId, producerEpoch, lastDataOffset: -1 })
  }
  return [...last.values()].filter(() => random.below(3) > 0)
}

test('several passes over a log leave what the plain rules leave, and never more or less', () => {
  for (let seed = 0; seed < 60; seed++) {
    const random = new SeededRandom(seed)
    const log = generateLog(random, 10 + random.below(60), 1 + random.below(40))
    let { bytes, aborted } = log
    let fromOffset = 0
    let wallMs = startTime + 200_000
    for (let number = 0; number < 6; number++) {
      const batches = decode(bytes)
      const activeProducers = someProducers(batches, random)
      const pass = {
        ...{ segments: segmentsOf(batches, random), endOffset: log.endOffset, aborted, fromOffset },
        ...{ mapEntries: random.below(2) === 0 ? 2 + random.below(50) : 5000, wallMs, deleteRetentionMs: 1000 },
        activeProducers,
      }
      const result = runPass(pass, random)
      const { mapEndOffset } = result
      assert.ok(mapEndOffset > fromOffset || fromOffset === log.endOffset)
      const uncleaned = pass.segments.find(({ baseOffset }) => baseOffset >= mapEndOffset)
      const cleanedEndOffset = uncleaned?.baseOffset ?? log.endOffset
      const expected = compacted(batches, log, { ...pass, mapEndOffset, cleanedEndOffset })
      assertSame(seen(decode(result.bytes)), expected, `seed ${seed}, pass ${number}`)
      bytes = result.bytes
      // What the new segments' transaction indexes have; all that ever aborted does no harm either.
      if (seed % 2 === 0) {
        aborted = [...result.aborted, ...aborted.filter(({ lastOffset }) => lastOffset >= cleanedEndOffset)]
      }
      fromOffset = random.below(3) === 0 ? 0 : mapEndOffset
      wallMs += random.below(1500)
    }
  }
})
