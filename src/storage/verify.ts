import { decodeOffsetCheckpoint } from '../core/log/checkpoint-text.ts'
import {
  decodePartitionMetadata,
  leaderEpochFileName,
  parsePartitionDirectoryName,
  parseSegmentFileName,
  partitionMetadataFileName,
  segmentFileName,
} from '../core/log/file-names.ts'
import { LeaderEpochs } from '../core/log/leader-epochs.ts'
import { OffsetIndex } from '../core/log/offset-index.ts'
import type { ProducerEntry } from '../core/log/producer-entry.ts'
import { decodeProducerSnapshot, encodeProducerSnapshot } from '../core/log/producer-snapshot.ts'
import { ProducerStates } from '../core/log/producer-states.ts'
import { TimeIndex } from '../core/log/time-index.ts'
import { type AbortedTransactionEntry, decodeTransactionIndex } from '../core/log/transaction-index.ts'
import type { Disk } from '../io/disk.ts'
import { readBaseOffset, readPartitionLeaderEpoch, readRecordCount } from '../records/batch.ts'
import { readMetaProperties } from './directory-files.ts'
import { scanFile } from './segment-scan.ts'
import { anyPlace, isLegacy, storedLastOffset, storedMaxTimestamp } from './stored-batch.ts'

/** `damage`: records are lost. `rebuilt`: the next start makes it good from the batches. `note`: worth knowing, and no fault. */
export type Severity = 'damage' | 'rebuilt' | 'note'

export interface Problem {
  readonly severity: Severity
  readonly path: string
  readonly position: number
  /** The first offset that it concerns, if any. */
  readonly offset: number | undefined
  readonly reason: string
}

export interface VerifiedLog {
  readonly path: string
  readonly segments: number
  readonly batches: number
  readonly records: number
  readonly bytes: number
  readonly startOffset: number
  readonly endOffset: number
  readonly problems: readonly Problem[]
}

const maxFileBytes = 256 * 1024 * 1024
const checkpointNames = [
  'recovery-point-offset-checkpoint',
  'log-start-offset-checkpoint',
  'replication-offset-checkpoint',
  'cleaner-offset-checkpoint',
]

/** Verifies a log directory with all its partitions, or one partition's directory. Changes nothing. Rejects with `DiskError`. */
export async function* verifyDirectory(
  disk: Disk,
  path: string,
): AsyncGenerator<VerifiedLog, readonly Problem[], undefined> {
  // A log directory may be named as partitions are: `data-1`.
  if (disk.status(`${path}/${partitionMetadataFileName}`) !== undefined) {
    yield await verifyLog(disk, path)
    return []
  }
  const directories = disk
    .list(path)
    .filter(entry => entry.isDirectory && parsePartitionDirectoryName(entry.name) !== undefined)
  for (const entry of directories.sort((a, b) => (a.name < b.name ? -1 : 1)))
    yield await verifyLog(disk, `${path}/${entry.name}`)
  return verifyOwnFiles(disk, path)
}

/** The files of a log directory that are not a partition's. */
function verifyOwnFiles(disk: Disk, path: string): Problem[] {
  const problems: Problem[] = []
  const tell = (file: string, reason: string) => {
    problems.push({ severity: 'damage', path: `${path}/${file}`, position: 0, offset: undefined, reason })
  }
  for (const name of checkpointNames) {
    const bytes = disk.readSmallFile(`${path}/${name}`, maxFileBytes)
    if (bytes !== undefined && decodeOffsetCheckpoint(bytes) === undefined) tell(name, 'the checkpoint cannot be read')
  }
  const meta = readMetaProperties(disk, path)
  if (meta.type === 'absent') tell('meta.properties', 'the file is missing')
  if (meta.type === 'damaged') tell('meta.properties', meta.reason)
  return problems
}

/** Reads every batch of one partition, and compares all other files with what the batches say. */
export async function verifyLog(disk: Disk, path: string): Promise<VerifiedLog> {
  const verifier = new LogVerifier(disk, path)
  await verifier.run()
  return verifier
}

/** Of one segment, as its batches say. */
interface SegmentFacts {
  readonly baseOffset: number
  readonly positions: Map<number, number>
  readonly timestamps: Map<number, bigint>
  readonly aborted: AbortedTransactionEntry[]
  sizeBytes: number
}

class LogVerifier implements VerifiedLog {
  readonly path: string
  readonly problems: Problem[] = []
  segments = 0
  batches = 0
  records = 0
  bytes = 0
  startOffset = 0
  endOffset = 0
  readonly #disk: Disk
  readonly #states = new ProducerStates()
  readonly #epochs = new LeaderEpochs()
  /** Producer state is known: from the beginning of the log on, or from a snapshot. */
  #areProducersKnown = false

  constructor(disk: Disk, path: string) {
    this.#disk = disk
    this.path = path
  }

  async run(): Promise<void> {
    const files = this.#disk.list(this.path).flatMap(({ name }) => parseSegmentFileName(name) ?? [])
    const bases = files.filter(({ kind, suffix }) => kind === 'log' && suffix === undefined).map(({ offset }) => offset)
    bases.sort((a, b) => a - b)
    this.startOffset = bases[0] ?? 0
    this.endOffset = this.startOffset
    for (const [index, baseOffset] of bases.entries()) await this.#verifySegment(baseOffset, bases[index + 1])
    this.#verifySnapshot(this.endOffset)
    this.#verifyEpochs()
    const metadata = this.#read(partitionMetadataFileName)
    if (metadata === undefined || decodePartitionMetadata(metadata) === undefined) {
      this.#tell('damage', partitionMetadataFileName, 'the topic id is missing or cannot be read')
    }
  }

  async #verifySegment(baseOffset: number, nextBase: number | undefined): Promise<void> {
    this.segments++
    this.#enter(baseOffset)
    const facts = await this.#scan(baseOffset, nextBase)
    this.#verifyOffsetIndex(facts)
    this.#verifyTimeIndex(facts)
    this.#verifyTransactionIndex(facts)
  }

  /** What is known at the beginning of a segment. */
  #enter(baseOffset: number): void {
    if (this.segments === 1 && baseOffset === 0) this.#areProducersKnown = true
    if (this.endOffset < baseOffset) {
      const reason = `offsets ${this.endOffset} to ${baseOffset - 1} are missing before this segment, unless they were compacted`
      this.#tell('note', segmentFileName(baseOffset, 'log'), reason, 0, this.endOffset)
    }
    const snapshot = this.#verifySnapshot(baseOffset)
    if (snapshot !== undefined && !this.#areProducersKnown) {
      this.#states.reset(snapshot)
      this.#areProducersKnown = true
    }
    this.endOffset = Math.max(this.endOffset, baseOffset)
  }

  async #scan(baseOffset: number, nextBase: number | undefined): Promise<SegmentFacts> {
    const name = segmentFileName(baseOffset, 'log')
    const facts: SegmentFacts = { baseOffset, positions: new Map(), timestamps: new Map(), aborted: [], sizeBytes: 0 }
    const file = this.#disk.open(`${this.path}/${name}`, 'read')
    try {
      const place = { ...anyPlace, from: this.endOffset, to: nextBase ?? Number.POSITIVE_INFINITY }
      const range = { position: 0, end: file.sizeBytes, place }
      const damaged = await scanFile(file, range, (bytes, at, position) => this.#note(facts, bytes, at, position))
      facts.sizeBytes = file.sizeBytes
      this.bytes += file.sizeBytes
      for (const { position, end, offset, reason, isFollowed } of damaged) {
        const isTail = !isFollowed && nextBase === undefined
        const told = isTail ? `${reason}; no batch follows the ${end - position} bytes` : reason
        this.#tell(isTail ? 'rebuilt' : 'damage', name, told, position, offset)
      }
    } finally {
      file.release()
    }
    return facts
  }

  #note(facts: SegmentFacts, bytes: Buffer, at: number, position: number): void {
    const lastOffset = storedLastOffset(bytes, at)
    this.batches++
    this.endOffset = lastOffset + 1
    facts.positions.set(lastOffset, position)
    facts.timestamps.set(lastOffset, storedMaxTimestamp(bytes, at))
    if (isLegacy(bytes, at)) return
    this.records += readRecordCount(bytes, at)
    const leaderEpoch = readPartitionLeaderEpoch(bytes, at)
    if (leaderEpoch >= 0) this.#epochs.assign({ leaderEpoch, startOffset: readBaseOffset(bytes, at) })
    const aborted = this.#states.append(bytes, at)
    this.#states.complete(Number.POSITIVE_INFINITY)
    if (aborted !== undefined) facts.aborted.push(aborted)
  }

  #verifyOffsetIndex({ baseOffset, positions, sizeBytes }: SegmentFacts): void {
    const name = segmentFileName(baseOffset, 'index')
    const bytes = this.#read(name)
    const index = bytes && OffsetIndex.decode(bytes, sizeBytes)
    if (index === undefined) {
      if (sizeBytes > 0)
        this.#tell('rebuilt', name, bytes === undefined ? 'the index is missing' : 'the index cannot be read')
      return
    }
    for (const [entry, [offset, position]] of index.entries().entries()) {
      if (positions.get(baseOffset + offset) === position) continue
      this.#tell(
        'rebuilt',
        name,
        `no batch that begins at ${position} ends with offset ${baseOffset + offset}`,
        entry * 8,
        baseOffset + offset,
      )
    }
  }

  #verifyTimeIndex({ baseOffset, timestamps, sizeBytes }: SegmentFacts): void {
    const name = segmentFileName(baseOffset, 'timeindex')
    const bytes = this.#read(name)
    const index = bytes && TimeIndex.decode(bytes)
    if (index === undefined) {
      if (sizeBytes > 0)
        this.#tell('rebuilt', name, bytes === undefined ? 'the index is missing' : 'the index cannot be read')
      return
    }
    for (const [entry, [timestamp, offset]] of index.entries().entries()) {
      if (timestamps.get(baseOffset + offset) === timestamp) continue
      this.#tell(
        'rebuilt',
        name,
        `no batch that ends with offset ${baseOffset + offset} has timestamp ${timestamp}`,
        entry * 12,
        baseOffset + offset,
      )
    }
  }

  #verifyTransactionIndex({ baseOffset, aborted }: SegmentFacts): void {
    const name = segmentFileName(baseOffset, 'txnindex')
    const bytes = this.#read(name)
    const entries = bytes === undefined ? [] : decodeTransactionIndex(bytes, { baseOffset, nextOffset: this.endOffset })
    if (entries === undefined) return this.#tell('rebuilt', name, 'the index cannot be read')
    if (!this.#areProducersKnown) return
    const isSame =
      entries.length === aborted.length && entries.every((entry, at) => isSameTransaction(entry, aborted[at]))
    if (!isSame)
      this.#tell(
        'rebuilt',
        name,
        `the index has ${entries.length} aborted transactions, the batches have ${aborted.length}`,
      )
    return
  }

  /** The snapshot's entries, if there is one of this offset that can be read. */
  #verifySnapshot(offset: number): [number, ProducerEntry][] | undefined {
    const name = segmentFileName(offset, 'snapshot')
    const bytes = this.#read(name)
    if (bytes === undefined) return undefined
    const entries = decodeProducerSnapshot(bytes)
    if (entries === undefined) {
      this.#tell('rebuilt', name, 'the snapshot cannot be read')
      return undefined
    }
    // Producers that were silent for long are left out of later snapshots, so only those that are there are compared.
    for (const [producerId, entry] of this.#areProducersKnown ? entries : []) {
      const known = this.#states.entries.get(producerId)
      if (known === undefined || !isSameProducer(producerId, entry, known)) {
        this.#tell('rebuilt', name, `producer ${producerId} is not as the batches say`, 0, offset)
      }
    }
    return entries
  }

  #verifyEpochs(): void {
    const bytes = this.#read(leaderEpochFileName)
    const epochs = bytes && LeaderEpochs.decode(bytes)
    if (epochs === undefined) {
      if (this.batches > 0) this.#tell('rebuilt', leaderEpochFileName, 'the epochs are missing or cannot be read')
      return
    }
    for (const { leaderEpoch, startOffset } of this.#epochs.entries) {
      const known = epochs.epochAt(Math.max(startOffset, this.startOffset))
      if (known === leaderEpoch) continue
      this.#tell(
        'rebuilt',
        leaderEpochFileName,
        `offset ${startOffset} is of epoch ${leaderEpoch}, not ${known}`,
        0,
        startOffset,
      )
    }
  }

  #read(name: string): Buffer | undefined {
    return this.#disk.readSmallFile(`${this.path}/${name}`, maxFileBytes)
  }

  #tell(severity: Severity, name: string, reason: string, position = 0, offset?: number): void {
    this.problems.push({ severity, path: `${this.path}/${name}`, position, offset, reason })
  }
}

function isSameTransaction(a: AbortedTransactionEntry, b: AbortedTransactionEntry | undefined): boolean {
  return (
    b !== undefined && a.producerId === b.producerId && a.firstOffset === b.firstOffset && a.lastOffset === b.lastOffset
  )
}

function isSameProducer(producerId: number, a: ProducerEntry, b: ProducerEntry): boolean {
  // One of Kafka has the last batch of a producer only.
  const bytesOf = (entry: ProducerEntry) =>
    encodeProducerSnapshot(new Map([[producerId, { ...entry, batches: entry.batches.slice(-1) }]]))
  return bytesOf(a).equals(bytesOf(b))
}
