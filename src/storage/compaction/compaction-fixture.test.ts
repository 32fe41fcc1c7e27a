import assert from 'node:assert/strict'
import type { Compute } from '../../io/compute.ts'
import { isControlBatch, readBatchSize, readRecordCount } from '../../records/batch.ts'
import { BatchBuilder, type BatchFields } from '../../records/builder.ts'
import { OffsetMapMemory } from '../../records/compaction/offset-map-memory.ts'
import { RecordReader } from '../../records/record.ts'
import { type Host, readAll, tryAppend, written } from '../fixture.test.ts'
import type { SegmentedLog } from '../segmented-log.ts'
import type { CompactionTools } from './compaction-pass.ts'
import { type CompactionListener, Compactor, type CompactorSettings } from './compactor.ts'
import { IoThrottle } from './io-throttle.ts'
import type { PassResult, PassStats } from './pass-end.ts'

/** A record as tests write and read it; a value of null is a tombstone. */
export type Pair = readonly [key: string, value: string | null]

export interface StoredPair {
  readonly offset: number
  readonly key: string
  readonly value: string | null
}

export function pairsBatch(pairs: readonly Pair[], timestamp = 1000, fields: BatchFields = {}): Buffer {
  const builder = new BatchBuilder()
  for (const [key, value] of pairs)
    builder.append(timestamp, Buffer.from(key), value === null ? null : Buffer.from(value))
  return Buffer.from(builder.finish(fields))
}

/** Appends one batch. */
export function put(log: SegmentedLog, pairs: readonly Pair[], timestamp = 1000, fields: BatchFields = {}): number {
  const offset = tryAppend(log, pairsBatch(pairs, timestamp, fields))
  assert.ok(typeof offset === 'number', JSON.stringify(offset))
  return offset
}

/** All that is appended is replicated, and the active segment ends. */
export async function roll(host: Host, log: SegmentedLog): Promise<void> {
  await written(host, log)
  log.moveHighWatermark(log.logEndOffset)
  log.roll()
  await log.flush()
}

export function toolsOf(host: Host, tools: Partial<CompactionTools> = {}): CompactionTools {
  return {
    compute: host.io.compute,
    maps: new OffsetMapMemory(),
    throttle: new IoThrottle(host.io.clock, () => Number.POSITIVE_INFINITY),
    ioBufferBytes: 512 * 1024,
    mapBytes: 1024 * 1024,
    loadFactor: 0.9,
    maxUncompressedBytes: 1024 * 1024,
    maxSegmentBytes: 0x7fff_ffff,
    ...tools,
  }
}

export function compact(host: Host, log: SegmentedLog, tools: Partial<CompactionTools> = {}): Promise<PassResult> {
  return log.compaction.run(toolsOf(host, tools))
}

export async function compacted(host: Host, log: SegmentedLog, tools: Partial<CompactionTools> = {}) {
  const result = await compact(host, log, tools)
  assert.equal(result.type, 'compacted', JSON.stringify(result))
  return result.stats
}

/** Every record of the log, as a consumer reads it. */
export async function pairsOf(log: SegmentedLog): Promise<StoredPair[]> {
  const pairs: StoredPair[] = []
  for (const batch of await readAll(log)) {
    if (isControlBatch(batch, 0) || readRecordCount(batch, 0) === 0) continue
    const reader = new RecordReader(batch, 0, readBatchSize(batch, 0))
    for (let record = reader.next(); record !== undefined; record = reader.next()) {
      pairs.push({
        offset: record.offset,
        key: String(record.key),
        value: record.value === null ? null : String(record.value),
      })
    }
  }
  return pairs
}

/** `offset:key=value`, for short comparisons. */
export async function textOf(log: SegmentedLog): Promise<string[]> {
  return (await pairsOf(log)).map(({ offset, key, value }) => `${offset}:${key}=${value}`)
}

/** Names of the segment files in the log's directory, snapshots and suffixes included. */
export function filesOf(host: Host, log: SegmentedLog): string[] {
  return host.io.disk
    .list(log.path)
    .map(({ name }) => name)
    .filter(name => /^\d{20}\./.test(name))
    .map(name => name.replace(/^0+(?=\d)/, ''))
    .sort()
}

export const defaultSettings: CompactorSettings = {
  threads: 1,
  backoffMs: 100,
  ioMaxBytesPerSecond: Number.POSITIVE_INFINITY,
  dedupeBufferBytes: 8 * 1024 * 1024,
  ioBufferBytes: 64 * 1024,
  loadFactor: 0.9,
  maxUncompressedBytes: 1024 * 1024,
}

export class Told implements CompactionListener {
  readonly lines: string[] = []
  readonly obstacles: string[] = []
  readonly passes: PassStats[] = []

  compacted(_log: SegmentedLog, stats: PassStats): void {
    this.passes.push(stats)
  }

  uncleanable(
    { partition }: SegmentedLog,
    { obstacle, path, position, reason, retryAfterMs }: Parameters<CompactionListener['uncleanable']>[1],
  ) {
    this.obstacles.push(obstacle.type)
    const after = retryAfterMs === undefined ? '' : `, again after ${retryAfterMs} ms`
    this.lines.push(`${partition} ${path} at ${position}: ${reason}${after}`)
  }

  noRoom({ partition }: SegmentedLog): void {
    this.lines.push(`${partition} has no room`)
  }

  delayed({ partition }: SegmentedLog, reason: string): void {
    this.lines.push(`${partition} is delayed: ${reason}`)
  }
}

export function compactorOf(
  host: Host,
  settings: () => CompactorSettings = () => defaultSettings,
  compute: Compute = host.io.compute,
) {
  const told = new Told()
  const { clock } = host.io
  const compactor = new Compactor({ clock, compute, logs: () => host.directories.logs, settings, listener: told })
  return { compactor, told }
}

/** Records of four keys, and the segment with them ends. */
export async function dirty(host: Host, log: SegmentedLog, records = 20): Promise<void> {
  for (let index = 0; index < records; index++) put(log, [[`key-${index % 4}`, String(index)]])
  await roll(host, log)
}
