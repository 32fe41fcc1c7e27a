import assert from 'node:assert/strict'
import type { Uuid } from '../base/uuid.ts'
import { defaultLogConfig } from '../core/log/default-log-config.ts'
import type { LogConfig, ReadIsolation, Refusal, ReserveRequest } from '../core/log/partition-log.ts'
import { DiskError, type FileRange } from '../io/disk.ts'
import { readBaseOffset, readLastOffset } from '../records/batch.ts'
import { batchSpans } from '../records/batch-header.ts'
import { BatchBuilder, type BatchFields } from '../records/builder.ts'
import { buildMarkerBatch } from '../records/control.ts'
import type { CrashKind } from '../simulator/io/simulated-disk.ts'
import type { SimulatedIo, SimulatedNode } from '../simulator/io/simulated-node.ts'
import { World } from '../simulator/io/world.ts'
import { claimDirectory, formatDirectory } from './directory-claim.ts'
import { LogDirectories, type OpenOptions } from './log-directories.ts'
import type { ReadResult } from './log-reader.ts'
import type { SegmentedLog } from './segmented-log.ts'
import { createStorage } from './storage.ts'
import type { StorageContext, StorageLimits } from './storage-context.ts'
import type { Damage, StorageFaults } from './storage-faults.ts'

export const topicId: Uuid = 'AAAAAAAAQACAAAAAAAAAZQ'
const directoryId: Uuid = 'AAAAAAAAQACAAAAAAAAAyA'

export class FaultLog implements StorageFaults {
  readonly damage: Damage[] = []
  readonly events: string[] = []

  damaged(damage: Damage): void {
    this.damage.push(damage)
  }

  segmentLost({ path }: { readonly path: string }): void {
    this.events.push(`lost ${path}`)
  }

  readFailed(): void {
    this.events.push('readFailed')
  }

  directoryFull(): void {
    this.events.push('full')
  }

  directoryWritable(): void {
    this.events.push('writable')
  }

  directoryFailed(): void {
    this.events.push('failed')
  }
}

export interface HostOptions {
  readonly seed?: string | number
  readonly config?: Partial<LogConfig>
  readonly limits?: Partial<StorageLimits>
  readonly paths?: readonly string[]
}

/** A simulated host with log directories, which are opened, crashed and opened again. */
export class Host {
  readonly world: World
  readonly node: SimulatedNode
  config: LogConfig
  readonly #options: HostOptions
  readonly paths: readonly string[]
  faults = new FaultLog()
  io!: SimulatedIo
  context!: StorageContext
  directories!: LogDirectories
  #others = 0

  constructor(options: HostOptions = {}) {
    this.#options = options
    this.world = new World({ seed: options.seed ?? 1 })
    this.node = this.world.addNode('node')
    this.config = { ...defaultLogConfig, ...options.config }
    this.paths = options.paths ?? ['/data']
  }

  /** Starts a process that opens the directories, which it formats when they are new. */
  async open(options: Partial<OpenOptions> = {}): Promise<LogDirectories> {
    this.io = this.node.start()
    this.faults = new FaultLog()
    this.context = createStorage({ io: this.io, faults: this.faults, limits: this.#options.limits })
    const claims = []
    for (const path of this.paths) {
      if (this.io.disk.status(path) === undefined) {
        await formatDirectory(this.context, path, { clusterId: 'cluster', nodeId: 1, directoryId })
        await this.io.disk.syncDirectory('/')
      }
      const claim = await claimDirectory(this.context, path)
      assert.equal(claim.type, 'claimed')
      claims.push(claim)
    }
    this.directories = await LogDirectories.open(this.context, {
      directories: claims,
      configOf: () => this.config,
      isStray: () => false,
      ...options,
    })
    return this.directories
  }

  run<T>(body: Promise<T>): Promise<T> {
    return this.world.finish(body)
  }

  async openLog(partition = 0): Promise<SegmentedLog> {
    await this.open()
    return this.log(partition)
  }

  /** The log of the partition, made if it is not there. */
  log(partition = 0): SegmentedLog {
    const result = this.directories.create({ topic: 'topic', topicId, partition, config: this.config })
    assert.equal(result.type, 'created')
    return result.log
  }

  /** Another log, on the same disk, that `make` has written to. */
  async otherLog(make: (log: SegmentedLog) => Promise<void>): Promise<SegmentedLog> {
    const log = this.log(++this.#others)
    await make(log)
    return log
  }

  close(): Promise<void> {
    return this.directories.close({ brokerEpoch: 7 }).then(() => this.node.crash('kill'))
  }

  async reopen(): Promise<SegmentedLog> {
    assert.ok(!this.faults.events.includes('failed'), 'the directory has not failed')
    await this.close()
    await this.open()
    return this.log()
  }
}

/** Runs the body on a host whose world moves until it is done. */
export function onHost(options: HostOptions, body: (host: Host) => Promise<void>): Promise<void> {
  const host = new Host(options)
  return host.run(body(host))
}

export interface BatchOptions extends BatchFields {
  readonly count?: number
  readonly valueBytes?: number
  readonly timestamp?: number
}

export function batchOf({ count = 1, valueBytes = 10, timestamp = 1000, ...fields }: BatchOptions = {}): Buffer {
  const builder = new BatchBuilder()
  for (let index = 0; index < count; index++) {
    builder.append(timestamp + index, Buffer.from(`key-${index}`), Buffer.alloc(valueBytes, index + 1))
  }
  return Buffer.from(builder.finish(fields))
}

/** Reserves and appends; answers the refusal instead when there is one. */
export function tryAppend(
  log: SegmentedLog,
  batch: Buffer,
  { leaderEpoch = 0, origin = 'client' as ReserveRequest['origin'] } = {},
): number | Refusal {
  const reserved = log.reserve({ batch, origin, leaderEpoch, now: { monotonicMs: 0, wallMs: 1_700_000_000_000 } })
  if (reserved.type === 'reserved') {
    log.append(reserved)
    return reserved.baseOffset
  }
  if (reserved.type === 'duplicate') return reserved.baseOffset
  assert.equal(reserved.type, 'refused')
  return reserved
}

export function append(log: SegmentedLog, options: BatchOptions & { leaderEpoch?: number } = {}): number {
  const { leaderEpoch, ...batch } = options
  const offset = tryAppend(log, batchOf(batch), { leaderEpoch })
  assert.ok(typeof offset === 'number', `refused: ${JSON.stringify(offset)}`)
  return offset
}

/** Appends a transaction of one record, and that it is aborted. Answers its offset. */
export function abort(log: SegmentedLog, timestamp = 2000): number {
  const producer = { producerId: 8, producerEpoch: 0, isTransactional: true }
  const baseSequence = (log.inspect().producers[0]?.[1].batches.at(-1)?.lastSequence ?? -1) + 1
  const offset = append(log, { ...producer, baseSequence, timestamp })
  const marker = buildMarkerBatch({ isCommit: false, coordinatorEpoch: 1 }, timestamp, producer)
  assert.equal(tryAppend(log, Buffer.from(marker), { origin: 'coordinator' }), offset + 1)
  return offset
}

/** First offsets of the aborted transactions that a reader of committed records is told of. */
export async function abortedFrom(log: SegmentedLog, offset: number) {
  const read = await log.read({ offset, maxBytes: 2000, minOneBatch: true, isolation: 'lastStableOffset' })
  assert.ok(read.type === 'read')
  return read.abortedTransactions?.map(({ firstOffset }) => firstOffset)
}

export async function written(host: Host, log: SegmentedLog): Promise<void> {
  while (log.logEndOffset < log.nextOffset && !log.isOffline) await host.io.clock.yieldTurn()
}

export async function bytesOf(result: ReadResult | Promise<ReadResult>): Promise<Buffer> {
  const read = await result
  assert.equal(read.type, 'read', JSON.stringify(read))
  const parts: Buffer[] = []
  for (const part of read.parts) parts.push(Buffer.isBuffer(part) ? part : await readRange(part))
  const bytes = Buffer.concat(parts)
  assert.equal(bytes.length, read.byteLength)
  return bytes
}

async function readRange({ file, position, length }: FileRange): Promise<Buffer> {
  const bytes = await file.read(position, length)
  file.release()
  return bytes
}

/** All batches of the log, read from its start as a consumer would. */
export async function readAll(
  log: SegmentedLog,
  isolation: ReadIsolation = 'logEndOffset',
  maxBytes = 1000,
): Promise<Buffer[]> {
  const batches: Buffer[] = []
  let offset = log.logStartOffset
  for (;;) {
    const bytes = await bytesOf(log.read({ offset, maxBytes, minOneBatch: true, isolation }))
    let next = offset
    for (const { at, sizeBytes } of batchSpans(bytes)) {
      const batch = bytes.subarray(at, at + sizeBytes)
      if (readLastOffset(batch, 0) < offset) continue
      assert.ok(readBaseOffset(batch, 0) >= next || batches.length === 0, 'batches come in order')
      batches.push(batch)
      next = readLastOffset(batch, 0) + 1
    }
    if (next === offset) return batches
    offset = next
  }
}

/** The process ends when it begins, or completes, an operation on the log's files; that one does not happen. */
export function crashAtOperation(host: Host, operation: number, kind: CrashKind) {
  const { faults } = host.node.disk
  const decide = faults.decide
  let count = 0
  let what = ''
  let tell: (end: 'crashed') => void = () => undefined
  const happened = new Promise<'crashed'>(resolve => {
    tell = resolve
  })
  faults.decide = (kindOfOperation, path, random) => {
    const isOurs = host.node.isAlive && !['open', 'status', 'list', 'read'].includes(kindOfOperation)
    if (!isOurs || ++count !== operation) return decide.call(faults, kindOfOperation, path, random)
    what = `${kindOfOperation} ${path}`
    host.node.crash(kind)
    tell('crashed')
    return new DiskError('io', kindOfOperation, path)
  }
  const off = () => {
    faults.decide = decide
  }
  return { happened, what: () => what, off }
}
