import assert from 'node:assert/strict'
import { ErrorCode } from '../../base/error-code.ts'
import type { DiskErrorCode } from '../../io/disk.ts'
import { DiskError } from '../../io/disk.ts'
import { batchSpans } from '../../records/batch-header.ts'
import { BatchBuilder } from '../../records/builder.ts'
import type { DiskOperation } from '../../simulator/io/disk-faults.ts'
import type { SeededRandom } from '../../simulator/io/seeded-random.ts'
import { compact } from '../compaction/compaction-fixture.test.ts'
import { bytesOf, Host, readAll } from '../fixture.test.ts'
import type { SegmentedLog } from '../segmented-log.ts'
import { LogModel, recordsIn } from './model-fixture.test.ts'

type Ending = 'kill' | 'power' | 'close'

const steps = 70

/** A failure that a log has to get over: what takes the directory offline is left out, but for files that are read. */
const faults: readonly (readonly [DiskOperation, DiskErrorCode, pathEnd: string, times: number])[] = [
  ['append', 'noSpace', '.log', 1],
  ['append', 'noSpace', '.log', 1],
  ['open', 'tooManyOpenFiles', '.log', 2],
  ['rename', 'noSpace', '.log', 1],
  ['write', 'noSpace', '', 1],
  ['read', 'io', '.index', 1],
  ['read', 'io', '.timeindex', 1],
  ['open', 'tooManyOpenFiles', '', 2],
]

/**
 * One log on the simulated disk, as a leader or follower uses it, and all else that happens to a log: in a random order, much of it at the
 * same time. What is read, and what is there after each end of the process, is compared with a model. The seed says all.
 */
export class LogFuzzer {
  readonly host: Host
  readonly #random: SeededRandom
  readonly #isCompacted: boolean
  readonly #model: LogModel
  readonly #trace: string[] = []
  readonly #operations: readonly (readonly [weight: number, act: () => void | Promise<void>])[]
  #log!: SegmentedLog
  /** The life of the process: what an earlier one was doing is over. */
  #life = 0
  #epoch = 1
  #isLeader = false
  #isCutting = false
  /** Until the cut is over a crash may leave what was there before it, or what is to be there. */
  #cutEnd: number | undefined
  #boots = 0
  #values = 0
  #background: Promise<void>[] = []
  #failure: unknown

  constructor(seed: number) {
    this.#isCompacted = seed % 2 === 0
    this.host = new Host({
      seed,
      limits: seed % 3 === 0 ? { indexCacheBytes: 1, maxOpenFiles: 4 } : {},
      config: {
        segmentBytes: 3000,
        indexIntervalBytes: 200,
        fileDeleteDelayMs: seed % 5 === 0 ? 20 : 0,
        isCompacted: this.#isCompacted,
        isDeleted: !this.#isCompacted,
        minCleanableDirtyRatio: 0.01,
        retentionMs: -1,
        retentionBytes: seed % 7 === 1 && !this.#isCompacted ? 8000 : -1,
        flushMessages: seed % 11 === 3 ? 2 : Number.MAX_SAFE_INTEGER,
      },
    })
    this.#random = this.host.world.random('fuzz')
    this.#model = new LogModel({ isCompacted: this.#isCompacted })
    this.#operations = [
      [38, () => this.#append()],
      [8, () => this.host.world.sleep(this.#random.between(0, 40) / 10)],
      [6, () => this.#read()],
      [3, () => this.#search()],
      [6, () => this.#moveHighWatermark()],
      [4, () => this.#begin('flush', () => this.#log.flush())],
      [4, () => this.#compact()],
      [3, () => this.#roll()],
      [3, () => this.#moveLogStart()],
      [3, () => this.#begin('retention', () => this.#log.applyRetention(1e9))],
      [2, () => this.#begin('scrub', () => this.#log.scrub(undefined, 3000))],
      [4, () => this.#cut()],
      [4, () => this.#lead()],
      [2, () => this.#follow()],
      [4, () => this.#fault()],
      [2, () => this.host.world.sleep(1500)],
      [4, () => this.#end(this.#random.pick(['kill', 'power', 'close', 'kill'] as const))],
    ]
  }

  /** The last of what happened, for whoever looks at a failure. */
  get trace(): string {
    return this.#trace.slice(-40).join('\n')
  }

  run(): Promise<void> {
    return this.host.run(this.#run())
  }

  async #run(): Promise<void> {
    await this.#open()
    // A power cut may leave of a log that was never synced what cannot be told from damage.
    await this.#log.flush()
    for (let step = 1; step <= steps; step++) {
      await this.#operation()()
      if (step % 5 === 0) await this.host.world.sleep(0.1)
      if (this.host.faults.events.includes('failed')) await this.#end('kill')
      if (this.#failure !== undefined) throw this.#failure
      const knowsEpoch = this.#isCutting || this.#log.isOffline || this.#log.latestEpoch === this.#epoch
      assert.ok(knowsEpoch || !this.#isLeader, 'who leads knows its epoch')
    }
    await this.#end('close')
  }

  #operation(): () => void | Promise<void> {
    let draw = this.#random.below(this.#operations.reduce((sum, [weight]) => sum + weight, 0))
    const chosen = this.#operations.find(([weight]) => {
      draw -= weight
      return draw < 0
    })
    assert.ok(chosen !== undefined)
    return chosen[1]
  }

  #note(text: string): void {
    this.#trace.push(`${this.host.world.nowMs.toFixed(2)} ${text}`)
  }

  async #open(): Promise<void> {
    await this.host.open({ bootId: `boot ${this.#boots}` })
    this.#log = this.host.log()
    const life = this.#life
    this.#isCutting = false
    this.#isLeader = false
    this.#log.listen({
      logEndOffsetMoved: () => undefined,
      flushedOffsetMoved: () => undefined,
      logStartOffsetMoved: () => undefined,
      appendsFailed: ({ fromOffset }) => {
        if (life !== this.#life) return
        this.#note(`appends failed from ${fromOffset}`)
        this.#model.endsAt(fromOffset)
      },
    })
  }

  /** Goes on beside all else. It may fail by the disk, and by nothing else. */
  #begin(what: string, act: () => Promise<unknown>): void {
    if (this.#log.isOffline) return
    const life = this.#life
    const over = (end: string, failure?: unknown) => {
      if (life !== this.#life) return
      this.#note(`${what} ${end}`)
      if (failure !== undefined && !(failure instanceof DiskError)) this.#failure ??= failure
    }
    this.#note(what)
    this.#background.push(
      act().then(
        () => over('is over'),
        error => over(`failed: ${error}`, error),
      ),
    )
  }

  #append(): void {
    const random = this.#random
    if (this.#isCutting || this.#log.isOffline) return
    const key = `k${random.between(0, 6)}`
    const filling = 'x'.repeat(random.chance(0.04) ? 70_000 : random.between(0, 300))
    const values = Array.from({ length: random.between(1, 3) }, () => `${++this.#values}:${filling}`)
    const builder = new BatchBuilder()
    const timestamp = 1000 + random.between(0, 5000)
    for (const value of values) builder.append(timestamp, Buffer.from(key), Buffer.from(value))
    const baseOffset = this.#isLeader ? this.#appendAsLeader(builder) : this.#appendAsFollower(builder)
    if (baseOffset === undefined) return
    this.#note(`appended ${key} at ${baseOffset}, ${values.length} of ${filling.length} bytes, epoch ${this.#epoch}`)
    this.#model.appended({ baseOffset, key, values })
  }

  #appendAsLeader(builder: BatchBuilder): number | undefined {
    const now = { monotonicMs: 0, wallMs: 2000 }
    const batch = Buffer.from(builder.finish({}))
    const reserved = this.#log.reserve({ batch, origin: 'client', leaderEpoch: this.#epoch, now })
    if (reserved.type !== 'reserved') return undefined
    this.#log.append(reserved)
    return reserved.baseOffset
  }

  /** Its leader may have compacted away what lies before the batch. */
  #appendAsFollower(builder: BatchBuilder): number | undefined {
    const gap = this.#random.chance(0.08) ? this.#random.between(1, 20) : 0
    const baseOffset = this.#log.nextOffset + gap
    const batch = Buffer.from(builder.finish({ baseOffset, partitionLeaderEpoch: this.#epoch }))
    return this.#log.appendAsFollower(batch) === undefined ? baseOffset : undefined
  }

  #read(): void {
    const log = this.#log
    if (log.logStartOffset >= log.logEndOffset) return
    const offset = this.#random.between(log.logStartOffset, log.logEndOffset - 1)
    const isolation = this.#random.pick(['logEndOffset', 'lastStableOffset', 'highWatermark'] as const)
    const maxBytes = this.#random.pick([100, 2000, 100_000])
    const { cuts } = this.#model
    this.#begin(`read ${offset}`, async () => {
      const answer = await log.read({ offset, maxBytes, minOneBatch: true, isolation })
      if (answer.type === 'refused') {
        assert.notEqual(answer.errorCode, ErrorCode.corruptMessage, `${offset} is said to be damaged`)
        return
      }
      // What is cut off meanwhile may not be there any more, or be something else.
      const wasCut = this.#isCutting
      const bytes = await bytesOf(answer).catch(() => undefined)
      if (bytes === undefined || wasCut || this.#isCutting || log !== this.#log) return
      const batches = [...batchSpans(bytes)].map(({ at, sizeBytes }) => bytes.subarray(at, at + sizeBytes))
      this.#model.checkRead(recordsIn(batches), cuts)
    })
  }

  #search(): void {
    const timestamp = BigInt(1000 + this.#random.between(0, 5000))
    const isForMax = this.#random.chance(0.5)
    this.#begin('search', async () => {
      const found = await (isForMax ? this.#log.findMaxTimestamp() : this.#log.findByTimestamp(timestamp))
      const errorCode = found !== undefined && 'errorCode' in found ? found.errorCode : ErrorCode.none
      assert.notEqual(errorCode, ErrorCode.corruptMessage, 'what is searched is said to be damaged')
    })
  }

  #moveHighWatermark(): void {
    const log = this.#log
    if (!this.#isCutting) log.moveHighWatermark(this.#random.between(log.highWatermark, log.logEndOffset))
  }

  #compact(): void {
    const log = this.#log
    if (!this.#isCompacted) return
    const ioBufferBytes = this.#random.pick([300, 5000])
    this.#begin('compaction', async () => {
      await log.compaction.need(this.host.io.clock.now().wallMs)
      if (log !== this.#log || log.isOffline || log.compaction.isRunning) return
      const result = await compact(this.host, log, { ioBufferBytes })
      if (result.type !== 'uncleanable' || log !== this.#log) return
      const { obstacle } = result
      assert.ok(obstacle.type !== 'damage' || this.host.faults.damage.length > 0, 'what is sound cannot be compacted')
    })
  }

  #roll(): void {
    if (!this.#isCutting) this.#log.roll()
  }

  #moveLogStart(): void {
    const { logStartOffset, highWatermark } = this.#log
    if (this.#isCompacted || this.#isCutting) return
    const offset = this.#random.between(Math.min(logStartOffset, highWatermark), highWatermark)
    this.#begin(`move of the log start to ${offset}`, () => this.#log.moveLogStart(offset))
  }

  /** As a follower does: when nothing is in flight. */
  async #cut(): Promise<void> {
    if (this.#isCutting) return
    this.#isCutting = true
    const log = this.#log
    while (log.nextOffset !== log.logEndOffset && !log.isOffline) await this.host.world.sleep(0.3)
    // One that fails takes the directory offline.
    this.host.node.disk.faults.forgetOrdered()
    if (log.isOffline) return
    this.#epoch++
    const isEmptied = !this.#isCompacted && this.#random.chance(0.15)
    const endOffset = Math.max(0, this.#random.between(this.#lowestCut(), log.logEndOffset + 1))
    this.#cutEnd = isEmptied ? 0 : this.#model.cutEnd(endOffset)
    this.#begin(`${isEmptied ? 'new beginning' : 'cut'} at ${endOffset} of ${log.logEndOffset}`, async () => {
      await (isEmptied ? log.truncateFullyAndStartAt(endOffset) : log.truncate({ endOffset }))
      if (log !== this.#log) return
      this.#cutEnd = undefined
      this.#isCutting = false
      this.#isLeader = false
      if (log.isOffline) return
      assert.ok(log.logEndOffset <= endOffset, `cut at ${endOffset} it ends at ${log.logEndOffset}`)
      this.#model.endsAt(isEmptied ? 0 : log.logEndOffset)
    })
  }

  /** Below it a follower's log is never cut: what is compacted was committed. Of another it may be all, and more. */
  #lowestCut(): number {
    const { logStartOffset, highWatermark, cleanedOffset = 0 } = this.#log
    if (this.#isCompacted) return Math.max(highWatermark, cleanedOffset)
    return this.#random.chance(0.15) ? logStartOffset - 2 : logStartOffset
  }

  get #isSettled(): boolean {
    return !this.#isCutting && !this.#log.isOffline && this.#log.nextOffset === this.#log.logEndOffset
  }

  /** Who leads already may be elected again over what is in flight. */
  #lead(): void {
    if (this.#isCutting || this.#log.isOffline || !(this.#isLeader || this.#isSettled)) return
    this.#isLeader = true
    this.#log.assignLeaderEpoch(++this.#epoch)
    this.#note(`leads in epoch ${this.#epoch}`)
  }

  #follow(): void {
    if (!this.#isLeader || !this.#isSettled) return
    this.#isLeader = false
    this.#epoch++
  }

  #fault(): void {
    if (this.#isCutting) return
    const [operation, code, pathEnd, times] = this.#random.pick(faults)
    this.#note(`next ${operation} ${pathEnd}: ${code}`)
    this.host.node.disk.faults.failNext(operation, code, { pathEnd, times })
  }

  /** The process ends, and another one finds what it must find. */
  async #end(how: Ending): Promise<void> {
    const { host } = this
    const log = this.#log
    const { logStartOffset, logEndOffset, flushedOffset, isOffline } = log
    this.#note(
      `${how}: from ${logStartOffset} to ${logEndOffset}, synced to ${flushedOffset}${isOffline ? ', offline' : ''}`,
    )
    const cutEnd = this.#cutEnd
    this.#cutEnd = undefined
    if (how === 'close') await this.#close(Math.min(logEndOffset, cutEnd ?? logEndOffset))
    this.#life++
    host.node.crash(how === 'close' ? 'kill' : how)
    if (how === 'power') this.#boots++
    host.node.disk.faults.forgetOrdered()
    this.#background = []
    assert.deepEqual(host.faults.damage, [], 'damage is found in a sound log')

    await this.#open()
    const damage = host.faults.damage.filter(({ reason }) => how !== 'power' || !isOfLostEnd(reason))
    assert.deepEqual(damage, [], 'damage is found after the end of a process')
    host.faults.damage.length = 0
    const isAllThere = how !== 'power' && !isOffline
    const mustEnd = Math.min(isAllThere ? logEndOffset : flushedOffset, cutEnd ?? Number.POSITIVE_INFINITY)
    await this.#check(mustEnd)
    if (cutEnd === undefined && !isOffline) {
      const start = Math.min(logStartOffset, this.#log.logEndOffset)
      assert.ok(this.#log.logStartOffset >= start, `the log start has fallen from ${start}`)
    }
    this.#epoch = Math.max(this.#epoch, this.#log.latestEpoch) + 1
  }

  async #close(mustEnd: number): Promise<void> {
    this.#isCutting = true
    const problems = await this.host.directories.close({ brokerEpoch: 1 })
    await Promise.all(this.#background)
    assert.equal(this.host.context.openFiles.size, 0, 'no file is open when all is closed')
    if (problems.length === 0) assert.ok(this.#log.logEndOffset >= mustEnd, 'what was written is not given up')
  }

  async #check(mustEnd: number): Promise<void> {
    const { logStartOffset, logEndOffset, highWatermark } = this.#log
    assert.ok(highWatermark <= logEndOffset, 'the high watermark is within the log')
    const records = recordsIn(await readAll(this.#log))
    this.#note(`there: ${[...records].map(([offset, text]) => `${offset}${text.slice(0, 2)}`).join(' ')}`)
    this.#model.checkFound({ logStartOffset, logEndOffset, records }, mustEnd)
  }
}

/** The power took what was not synced, and it is told: that is no damage. */
function isOfLostEnd(reason: string): boolean {
  return /was not synced, so the log is cut here|but was synced up to/.test(reason)
}
