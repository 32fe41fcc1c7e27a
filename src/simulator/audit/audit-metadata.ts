import { decodeSnapshot } from '../../broker/metadata/snapshot-codec.ts'
import type { MetadataImage } from '../../core/metadata/metadata-image.ts'
import { MetadataLoader } from '../../core/metadata/metadata-loader.ts'
import { metadataRecords } from '../../core/metadata/records.ts'
import { snapshotRecords } from '../../core/metadata/snapshot.ts'
import { UnknownRecord } from '../../core/state-machine/record-batch-codec.ts'
import { batchSizeAt, readBaseOffset, readLastOffset } from '../../records/batch.ts'
import type { Violations } from '../violations.ts'

interface StoredFile {
  readonly path: string
  readonly bytes: Buffer
}

interface StoredSnapshot {
  readonly endOffset: number
  readonly bytes: Buffer
}

/** An image as text that is equal for equal images. */
export function imageText(image: MetadataImage): readonly string[] {
  const plain = (_: string, value: unknown) => {
    if (typeof value === 'bigint') return String(value)
    return value instanceof Map ? [...value] : value
  }
  return [...snapshotRecords(image)].map(record => JSON.stringify(record, plain)).sort()
}

/**
 * What a snapshot says is what the log says up to there, and what a new start reads is what the broker held when it closed
 * (I21). `live` is the latter; undefined when it is not known.
 */
export function auditMetadata(
  files: readonly StoredFile[],
  live: readonly string[] | undefined,
  violations: Violations,
): void {
  const batches = files
    .filter(({ path }) => path.includes('/__cluster_metadata-0/') && path.endsWith('.log'))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .flatMap(({ bytes }) => batchesOf(bytes))
  const snapshots = snapshotsIn(files)
  const start = batches[0] === undefined ? 0 : readBaseOffset(batches[0], 0)
  if (start > 0 && !snapshots.some(snapshot => snapshot.endOffset >= start))
    violations.add('I21', `the metadata log starts at ${start}, and no snapshot covers what is missing`)
  let image = loaded(undefined, batches, start)
  let isKnown = start === 0
  for (const snapshot of snapshots) {
    const there = loaded(snapshot, [], 0)
    if (there === undefined) {
      violations.add('I21', `the metadata snapshot at ${snapshot.endOffset} is damaged`)
      continue
    }
    if (isKnown) {
      const upTo = batches.filter(batch => readLastOffset(batch, 0) < snapshot.endOffset)
      const replayed = loaded(previousOf(snapshots, snapshot), upTo, start)
      if (replayed !== undefined) compare(`the snapshot at ${snapshot.endOffset}`, there, replayed, violations)
    }
    image = loaded(snapshot, batches, start)
    isKnown = true
  }
  if (live !== undefined && isKnown && image !== undefined)
    compare('the metadata after a restart', image, live, violations)
}

function previousOf(snapshots: readonly StoredSnapshot[], snapshot: StoredSnapshot): StoredSnapshot | undefined {
  return snapshots[snapshots.indexOf(snapshot) - 1]
}

/** The image of a snapshot, or of nothing, with those batches applied that lie behind it. */
function loaded(
  snapshot: StoredSnapshot | undefined,
  batches: readonly Buffer[],
  start: number,
): readonly string[] | undefined {
  const loader = new MetadataLoader()
  if (snapshot === undefined && start > 0) return undefined
  if (snapshot !== undefined) {
    const decoded = decodeSnapshot(snapshot.bytes)
    if (decoded === undefined) return undefined
    loader.startSnapshot(snapshot.endOffset)
    for (const value of decoded.values) {
      const record = metadataRecords.decode(null, value)
      if (!(record instanceof UnknownRecord)) loader.replay(record, -1)
    }
    loader.finishSnapshot()
    loader.publish(() => undefined)
  }
  for (const batch of batches) if (readBaseOffset(batch, 0) >= (snapshot?.endOffset ?? 0)) loader.replayBatch(batch)
  loader.publish(() => undefined)
  return imageText(loader.image)
}

function compare(what: string, one: readonly string[], other: readonly string[], violations: Violations): void {
  const ones = new Set(one)
  const others = new Set(other)
  const extra = one.filter(line => !others.has(line))
  const missing = other.filter(line => !ones.has(line))
  if (extra.length + missing.length === 0) return
  const show = (lines: readonly string[]) => lines.slice(0, 3).join('\n    ')
  violations.add('I21', `${what} differs from a replay:\n  has\n    ${show(extra)}\n  lacks\n    ${show(missing)}`)
}

/** Without what formatting wrote: that is not yet in any log. */
function snapshotsIn(files: readonly StoredFile[]): StoredSnapshot[] {
  const found: StoredSnapshot[] = []
  for (const { path, bytes } of files) {
    const match = /\/__cluster_metadata-0\/(\d{20})-(\d{10})\.checkpoint$/.exec(path)
    if (match !== null && Number(match[1]) > 0) found.push({ endOffset: Number(match[1]), bytes })
  }
  return found.sort((a, b) => a.endOffset - b.endOffset)
}

function batchesOf(bytes: Buffer): Buffer[] {
  const batches: Buffer[] = []
  for (let at = 0, size = batchSizeAt(bytes, 0); size > 0; at += size, size = batchSizeAt(bytes, at))
    batches.push(bytes.subarray(at, at + size))
  return batches
}
