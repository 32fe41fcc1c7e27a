import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LeaderEpochs } from '../core/log/leader-epochs.ts'
import { ProducerStates } from '../core/log/producer-states.ts'
import { readBaseOffset, readLastOffset, readMaxTimestamp, readPartitionLeaderEpoch } from '../records/batch.ts'
import { buildMarkerBatch } from '../records/control.ts'
import type { SeededRandom } from '../simulator/io/seeded-random.ts'
import { append, batchOf, bytesOf, Host, onHost, readAll, tryAppend, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

/** Appends at random, as producers of all kinds do, and remembers what was appended. */
class Writer {
  readonly batches: Buffer[] = []
  readonly #random: SeededRandom
  readonly #sequences = new Map<number, number>()
  readonly #open = new Set<number>()
  #epoch = 0
  #timeMs = 1_000_000

  constructor(random: SeededRandom) {
    this.#random = random
  }

  append(log: SegmentedLog): void {
    if (this.#random.chance(0.03)) this.#epoch++
    if (this.#random.chance(0.02)) log.assignLeaderEpoch(this.#epoch)
    const origin = 'client' as const
    const producerId = this.#random.between(-3, 3)
    if (this.#open.has(producerId) && this.#random.chance(0.4)) {
      this.#end(log, producerId)
      return
    }
    const batch = this.#batch(producerId)
    const reserved = log.reserve({
      batch,
      origin,
      leaderEpoch: this.#epoch,
      now: { monotonicMs: 0, wallMs: this.#timeMs },
    })
    assert.equal(reserved.type, 'reserved', JSON.stringify(reserved))
    this.batches.push(Buffer.from(reserved.bytes))
    log.append(reserved)
  }

  #batch(producerId: number): Buffer {
    const count = this.#random.between(1, 4)
    const valueBytes = this.#random.chance(0.05) ? 70_000 : this.#random.between(0, 600)
    this.#timeMs += this.#random.between(-50, 100)
    if (producerId < 1) return batchOf({ count, valueBytes, timestamp: this.#timeMs })
    const isTransactional = this.#open.has(producerId) || this.#random.chance(0.5)
    if (isTransactional) this.#open.add(producerId)
    const baseSequence = this.#sequences.get(producerId) ?? 0
    this.#sequences.set(producerId, baseSequence + count)
    const fields = { producerId, producerEpoch: 0, baseSequence, isTransactional }
    return batchOf({ count, valueBytes, timestamp: this.#timeMs, ...fields })
  }

  #end(log: SegmentedLog, producerId: number): void {
    this.#open.delete(producerId)
    const marker = { isCommit: this.#random.chance(0.5), coordinatorEpoch: 1 }
    const batch = Buffer.from(buildMarkerBatch(marker, this.#timeMs, { producerId, producerEpoch: 0 }))
    const offset = tryAppend(log, batch, { origin: 'coordinator', leaderEpoch: this.#epoch })
    assert.equal(typeof offset, 'number')
    this.batches.push(batch)
  }
}

const config = {
  segmentBytes: 20_000,
  indexIntervalBytes: 500,
  maxMessageBytes: 1_000_000,
  timestampAfterMaxMs: Infinity,
}
const limits = { tailRingBytes: 512 * 1024, tailBytesPerPartition: 64 * 1024, maxOpenFiles: 4 }

for (const kind of ['kill', 'power'] as const) {
  test(`after a crash (${kind}) a log is a prefix of what was written, and all that was promised`, async () => {
    for (let seed = 0; seed < 12; seed++) await crashOnce(seed, kind)
  })
}

async function crashOnce(seed: number, kind: 'kill' | 'power'): Promise<void> {
  const host = new Host({ seed: `${kind}-${seed}`, config, limits })
  const random = host.world.random('workload')
  const writer = new Writer(random)
  await host.run(host.open())
  const log = host.log()
  const promised = await host.run(work(host, log, writer, random))
  await host.world.advance(random.between(0, 30))
  const completed = kind === 'kill' ? { ...promised, offset: log.logEndOffset } : promised
  host.node.crash(kind)

  const state = await host.run(recoveredState(host, writer, completed))
  // Crashed again while it recovers, and after it: nothing changes. (A power cut takes what a kill before it has left unsynced.)
  for (const delayMs of [random.between(0, 20), 200]) {
    host.node.crash(kind === 'power' && random.chance(0.5) ? 'power' : 'kill')
    const opening = host.open()
    opening.catch(() => undefined)
    await host.world.advance(delayMs)
  }
  host.node.crash(kind)
  assert.deepEqual(await host.run(recoveredState(host, writer, completed)), state, `seed ${seed}`)
}

/** What the log has said is durable. */
interface Promised {
  offset: number
  logStart: number
}

async function work(host: Host, log: SegmentedLog, writer: Writer, random: SeededRandom): Promise<Promised> {
  // The directory of the partition itself is made durable first, as a broker does before it says that it has the replica.
  await log.flush()
  const promised = { offset: 0, logStart: 0 }
  const actions = random.between(5, 120)
  for (let action = 0; action < actions; action++) {
    for (let count = random.between(1, 4); count > 0; count--) writer.append(log)
    if (random.chance(0.3)) await host.io.clock.yieldTurn()
    if (random.chance(0.05)) void log.flush().then(() => noteFlushed(promised, log))
    if (random.chance(0.05)) await host.world.sleep(random.between(1, 40))
    if (random.chance(0.05)) await host.directories.directories[0]?.saveRecoveryPoints()
    if (random.chance(0.1)) log.moveHighWatermark(random.between(log.highWatermark, log.logEndOffset))
    if (random.chance(0.05)) void log.applyRetention(0)
    if (random.chance(0.03)) {
      const offset = random.between(log.logStartOffset, Math.max(log.logStartOffset, log.highWatermark))
      void log.moveLogStart(offset).then(() => {
        promised.logStart = Math.max(promised.logStart, offset)
      })
    }
    noteFlushed(promised, log)
  }
  return promised
}

function noteFlushed(promised: Promised, log: SegmentedLog): void {
  promised.offset = Math.max(promised.offset, log.flushedOffset)
}

/** Opens the log and compares all it says with what a scan of its batches says. */
async function recoveredState(host: Host, writer: Writer, promised: Promised) {
  await host.open()
  const log = host.log()
  assert.ok(
    log.logStartOffset >= promised.logStart,
    `the log starts at ${log.logStartOffset}, below ${promised.logStart}`,
  )
  const batches = await readAll(log, 'logEndOffset', 5000)
  const first = writer.batches.findIndex(batch => readLastOffset(batch, 0) >= log.logStartOffset)
  const expected = first < 0 ? [] : writer.batches.slice(first, first + batches.length)
  assert.deepEqual(batches, expected, 'from its start on, the log is a prefix of what was written')
  assert.ok(log.logEndOffset >= promised.offset, `${log.logEndOffset} is below ${promised.offset}`)
  const { producers, epochs } = log.inspect()
  // Producers and epochs are those of the whole log, also of what retention has removed.
  const end = writer.batches.findIndex(batch => readBaseOffset(batch, 0) >= log.logEndOffset)
  const { states, derived } = replay(end < 0 ? writer.batches : writer.batches.slice(0, end))
  // The epochs may have been saved with a log start that was not; what lies between is then of no known epoch.
  derived.truncateFromStart(Math.max(log.logStartOffset, epochs[0]?.startOffset ?? 0))
  assert.deepEqual(producers.map(lastOnly), [...states.entries].sort((a, b) => a[0] - b[0]).map(lastOnly))
  assert.deepEqual(epochs, derived.entries)
  await compareIndexes(host, log, batches)
  return { start: log.logStartOffset, end: log.logEndOffset, producers: producers.map(lastOnly), epochs }
}

function lastOnly([producerId, entry]: readonly [number, { batches: readonly unknown[] }]) {
  return [producerId, { ...entry, batches: entry.batches.slice(-1) }]
}

function replay(batches: readonly Buffer[]) {
  const states = new ProducerStates()
  const derived = new LeaderEpochs()
  for (const batch of batches) {
    states.append(batch, 0)
    derived.assign({ leaderEpoch: readPartitionLeaderEpoch(batch, 0), startOffset: readBaseOffset(batch, 0) })
  }
  return { states, derived }
}

async function compareIndexes(host: Host, log: SegmentedLog, batches: readonly Buffer[]): Promise<void> {
  const random = host.world.random('queries')
  for (let query = 0; query < 5 && log.logStartOffset < log.logEndOffset; query++) {
    const offset = random.between(log.logStartOffset, log.logEndOffset - 1)
    const bytes = await bytesOf(log.read({ offset, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' }))
    assert.deepEqual(
      bytes,
      batches.find(batch => readLastOffset(batch, 0) >= offset),
    )
    const timestamp = readMaxTimestamp(random.pick(batches), 0)
    const found = await log.findByTimestamp(timestamp)
    if (found === undefined && batches.findIndex(batch => readMaxTimestamp(batch, 0) >= timestamp) === 0) continue
    assert.ok(found !== undefined && found.type === undefined)
    const first = batches.findIndex(batch => readMaxTimestamp(batch, 0) >= timestamp)
    // The first batch may begin below the log start, and what is younger in it lie there.
    const holds = (batch: Buffer | undefined) =>
      batch && found.offset >= readBaseOffset(batch, 0) && found.offset <= readLastOffset(batch, 0)
    assert.ok(holds(batches[first]) || first === 0)
  }
}

test('a power cut is still one when the first start after it came to nothing', async () => {
  for (let seed = 0; seed < 120; seed++) {
    await onHost({ seed, config: { segmentBytes: 300 } }, async host => {
      await host.open({ bootId: 'first' })
      const log = host.log()
      for (let i = 0; i < 12; i++) append(log, { valueBytes: 40 })
      await written(host, log)
      host.node.crash('power')
      host.node.disk.faults.failNext('read', 'io', { pathEnd: '.log' })
      await host.open({ bootId: 'second' })
      host.node.disk.faults.forgetOrdered()
      host.node.crash('kill')
      await host.open({ bootId: 'second' })
      const after = host.log()
      const batches = await readAll(after)
      assert.equal(after.logStartOffset + batches.length, after.logEndOffset, `seed ${seed}`)
    })
  }
})

test('a log that comes after the names of others were synced is there after a power cut too, once it is flushed', () =>
  onHost({}, async host => {
    await host.open()
    for (const partition of [0, 1, 2]) {
      const log = host.log(partition)
      append(log)
      await written(host, log)
      await log.flush()
    }
    host.node.crash('power')
    await host.open()
    for (const partition of [0, 1, 2]) assert.equal(host.log(partition).logEndOffset, 1, `${partition}`)
    await host.close()
  }))
