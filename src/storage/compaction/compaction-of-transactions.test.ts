import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isControlBatch, isTransactional, readBatchSize, readLastOffset, readProducerId } from '../../records/batch.ts'
import { batchSpans } from '../../records/batch-header.ts'
import { buildMarkerBatch, readTransactionMarker } from '../../records/control.ts'
import { RecordReader } from '../../records/record.ts'
import type { SeededRandom } from '../../simulator/io/seeded-random.ts'
import { bytesOf, Host, tryAppend, written } from '../fixture.test.ts'
import type { SegmentedLog } from '../segmented-log.ts'
import { compact, type Pair, put, type StoredPair } from './compaction-fixture.test.ts'

interface Written extends StoredPair {
  readonly transaction: Transaction | undefined
}

interface Transaction {
  readonly producerId: number
  readonly firstOffset: number
  /** Undefined: it is open. */
  marker: { readonly offset: number; readonly isCommit: boolean } | undefined
}

/** 0 has no id; from 3 on they are transactional. */
const producerIds = [0, 1, 2, 3, 4, 5]

/** All that was written to a log by producers of each kind. */
class Ledger {
  records: Written[] = []
  transactions: Transaction[] = []
  readonly #sequences = new Map<number, { readonly last: number; readonly offset: number }[]>()
  #values = 0

  step(log: SegmentedLog, random: SeededRandom): void {
    const producerId = random.pick(producerIds)
    const open = this.openOf(producerId)
    if (open !== undefined && random.chance(0.4)) {
      const isCommit = random.chance(0.5)
      const marker = buildMarkerBatch({ isCommit, coordinatorEpoch: 1 }, 1000, { producerId, producerEpoch: 0 })
      const offset = tryAppend(log, Buffer.from(marker), { origin: 'coordinator' })
      assert.ok(typeof offset === 'number')
      open.marker = { offset, isCommit }
    } else this.#put(log, producerId, random)
  }

  #put(log: SegmentedLog, producerId: number, random: SeededRandom): void {
    const pairs = Array.from({ length: random.between(1, 3) }, (): Pair => {
      return [`k${random.below(10)}`, random.chance(0.3) ? null : `v${++this.#values}`.padEnd(20)]
    })
    const sequences = this.#sequences.get(producerId) ?? []
    const baseSequence = (sequences.at(-1)?.last ?? -1) + 1
    const isTransactional = producerId >= 3
    const fields = producerId === 0 ? {} : { producerId, producerEpoch: 0, baseSequence, isTransactional }
    const offset = put(log, pairs, 1000, fields)
    sequences.push({ last: baseSequence + pairs.length - 1, offset })
    if (producerId > 0) this.#sequences.set(producerId, sequences)
    let transaction = this.openOf(producerId)
    if (isTransactional && transaction === undefined) {
      transaction = { producerId, firstOffset: offset, marker: undefined }
      this.transactions.push(transaction)
    }
    for (const [index, [key, value]] of pairs.entries())
      this.records.push({ offset: offset + index, key, value, transaction })
  }

  openOf(producerId: number): Transaction | undefined {
    return this.transactions.find(one => one.producerId === producerId && one.marker === undefined)
  }

  /** A crash has taken what lay there. */
  cut(endOffset: number): void {
    this.records = this.records.filter(({ offset }) => offset < endOffset)
    this.transactions = this.transactions.filter(({ firstOffset }) => firstOffset < endOffset)
    for (const one of this.transactions) if ((one.marker?.offset ?? 0) >= endOffset) one.marker = undefined
    for (const [producerId, sequences] of this.#sequences)
      this.#sequences.set(
        producerId,
        sequences.filter(({ offset }) => offset < endOffset),
      )
  }

  async check(log: SegmentedLog, what: string): Promise<void> {
    const open = this.transactions.filter(({ marker }) => marker === undefined)
    const stableOffset = Math.min(log.highWatermark, ...open.map(({ firstOffset }) => firstOffset))
    assert.equal(log.lastStableOffset, stableOffset, what)
    const found = await committedPairs(log)
    const committed = this.records.filter(({ offset, transaction }) => {
      return offset < stableOffset && (transaction === undefined || transaction.marker?.isCommit)
    })
    const byOffset = new Map(committed.map(({ offset, key, value }) => [offset, { offset, key, value }]))
    for (const pair of found) assert.deepEqual(pair, byOffset.get(pair.offset), what)
    const table = new Map(found.map(({ key, value }) => [key, value]))
    for (const [key, value] of new Map(committed.map(one => [one.key, one.value])))
      assert.equal(table.get(key) ?? null, value, `${what}: ${key}`)
    const producers = new Map(log.inspect().producers)
    for (const [producerId, sequences] of this.#sequences) {
      if (sequences.length === 0) continue
      const entry = producers.get(producerId)
      assert.equal(entry?.batches.at(-1)?.lastSequence, sequences.at(-1)?.last, `${what}: producer ${producerId}`)
      const isOpen = entry !== undefined && entry.currentTxnFirstOffset >= 0
      assert.equal(isOpen, this.openOf(producerId) !== undefined, `${what}: producer ${producerId}`)
    }
  }
}

/** Records as a consumer of committed ones sees them. */
async function committedPairs(log: SegmentedLog): Promise<StoredPair[]> {
  const pairs: StoredPair[] = []
  for (let offset = log.logStartOffset, next = offset; offset < log.lastStableOffset; offset = next) {
    const read = await log.read({ offset, maxBytes: 600, minOneBatch: true, isolation: 'lastStableOffset' })
    const bytes = await bytesOf(read)
    assert.ok(read.type === 'read')
    const aborted = [...(read.abortedTransactions ?? [])]
    const aborting = new Set<number>()
    for (const { at, sizeBytes } of batchSpans(bytes)) {
      const lastOffset = readLastOffset(bytes, at)
      while (aborted.length > 0 && aborted[0].firstOffset <= lastOffset) aborting.add(aborted.shift()!.producerId)
      const batch = bytes.subarray(at, at + sizeBytes)
      if (isControlBatch(batch, 0)) {
        if (isAbort(batch)) aborting.delete(readProducerId(batch, 0))
      } else if (!isTransactional(batch, 0) || !aborting.has(readProducerId(batch, 0))) {
        for (const { offset, key, value } of new RecordReader(batch, 0, readBatchSize(batch, 0)))
          pairs.push({ offset, key: String(key), value: value === null ? null : String(value) })
      }
      next = lastOffset + 1
    }
    if (next === offset) return pairs
  }
  return pairs
}

function isAbort(batch: Buffer): boolean {
  const record = new RecordReader(batch, 0, batch.length).next()
  return record !== undefined && readTransactionMarker(record.key, record.value)?.isCommit === false
}

async function reopen(host: Host, ledger: Ledger): Promise<SegmentedLog> {
  await host.open()
  const log = host.log()
  ledger.cut(log.logEndOffset)
  log.moveHighWatermark(log.logEndOffset)
  return log
}

/** Some files that can be made anew from the batches are lost. */
async function loseFiles(host: Host, path: string, random: SeededRandom): Promise<void> {
  host.io = host.node.start()
  const names = host.io.disk.list(path).map(({ name }) => name)
  for (const name of names)
    if (/\.(snapshot|index|timeindex)$/.test(name) && random.chance(0.6)) await host.io.disk.remove(`${path}/${name}`)
  host.node.crash('kill')
}

async function drill(seed: number): Promise<void> {
  const deleteRetentionMs = [0, 300, 3000][seed % 3]
  const segmentBytes = [700, 2500][seed % 2]
  const config = { isCompacted: true, isDeleted: false, indexIntervalBytes: 150, fileDeleteDelayMs: 10 }
  const host = new Host({ seed: `transactions ${seed}`, config: { ...config, segmentBytes, deleteRetentionMs } })
  const random = host.world.random('transactions')
  const ledger = new Ledger()
  const life = async () => {
    let log = await host.openLog()
    for (let round = 0; round < 20; round++) {
      for (let steps = random.between(1, 25); steps > 0; steps--) ledger.step(log, random)
      await written(host, log)
      log.moveHighWatermark(log.logEndOffset)
      if (random.chance(0.5)) log.roll()
      if (random.chance(0.5)) await log.flush()
      const mapBytes = random.pick([64 + 24 * 5, 64 + 24 * 8, 1024 * 1024])
      const pass = compact(host, log, { ioBufferBytes: 4096, mapBytes })
      const end = random.pick(['none', 'none', 'none', 'none', 'clean', 'kill', 'power'] as const)
      if (end === 'kill' || end === 'power') {
        await host.world.sleep(random.between(0, 60))
        host.node.crash(end)
        log = await reopen(host, ledger)
      } else assert.match((await pass).type, /compacted|stopped/)
      if (end === 'clean') {
        await host.close()
        await loseFiles(host, log.path, random)
        log = await reopen(host, ledger)
      }
      await ledger.check(log, `seed ${seed}, round ${round}, ${end}`)
      await host.world.sleep(random.pick([10, 10, 10, 500, 5000]))
    }
  }
  await host.run(life())
}

test('of transactions what is committed is left, whatever passes and power cuts follow one another', async () => {
  for (let seed = 0; seed < 20; seed++) await drill(seed)
})
