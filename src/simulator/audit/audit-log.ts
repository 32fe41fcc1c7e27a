import type { LogRead } from '../../core/log/partition-log.ts'
import { ProducerStates } from '../../core/log/producer-states.ts'
import type { FileRange } from '../../io/disk.ts'
import {
  addToSequence,
  batchSizeAt,
  isControlBatch,
  isCrcValid,
  readBaseOffset,
  readBaseSequence,
  readLastOffset,
  readLastSequence,
  readPartitionLeaderEpoch,
  readProducerEpoch,
  readProducerId,
} from '../../records/batch.ts'
import { openBatch } from '../../records/open-batch.ts'
import type { LogInspection, SegmentedLog } from '../../storage/segmented-log.ts'
import type { Violations } from '../violations.ts'

/** Offsets and times of one log that are looked up one by one; of longer logs a sample. */
const maxLookups = 60
const maxUnpackedBytes = 64 * 1024 * 1024

/** A record as a scan of the batches sees it. */
interface ScannedRecord {
  readonly offset: number
  readonly timestamp: bigint
}

export interface ScannedLog {
  readonly batches: readonly Buffer[]
  readonly records: readonly ScannedRecord[]
}

/** Reads a log from its start to its end, and checks what can be said of its batches alone (I4, I5, I25, I50). */
export async function scanLog(log: SegmentedLog, violations: Violations): Promise<ScannedLog | undefined> {
  const name = `${log.topic}-${log.partition}`
  const batches: Buffer[] = []
  let offset = log.logStartOffset
  while (offset < log.logEndOffset) {
    const bytes = await read(log, offset, 100_000)
    if (bytes === undefined || bytes.length === 0) {
      violations.add('I50', `${name} cannot be read at ${offset} in a cold audit`)
      return undefined
    }
    const before = offset
    for (let at = 0, size = batchSizeAt(bytes, 0); size > 0; at += size, size = batchSizeAt(bytes, at)) {
      const batch = bytes.subarray(at, at + size)
      if (!isCrcValid(batch, 0, size)) violations.add('I50', `${name} gives out a damaged batch at ${offset}`)
      if (readLastOffset(batch, 0) < offset) continue
      if (batches.length > 0 && readBaseOffset(batch, 0) !== offset && !log.config.isCompacted)
        violations.add('I4', `${name} has a gap at ${offset}`)
      batches.push(batch)
      offset = readLastOffset(batch, 0) + 1
    }
    if (offset === before) {
      violations.add('I40', `a reader of ${name} does not get beyond ${offset}`)
      return undefined
    }
  }
  if (!log.config.isCompacted) checkSequences(name, batches, violations)
  checkEpochs(log, batches, violations)
  return { batches, records: batches.flatMap(recordsOf) }
}

/** Every offset and time is found where the scan has it (I52). */
export async function checkLookups(log: SegmentedLog, { records }: ScannedLog, violations: Violations): Promise<void> {
  const name = `${log.topic}-${log.partition}`
  const inLog = records.filter(record => record.offset >= log.logStartOffset)
  const step = Math.max(1, Math.ceil(inLog.length / maxLookups))
  for (let at = 0; at < inLog.length; at += step) {
    const { offset, timestamp } = inLog[at]!
    const bytes = await read(log, offset, 1)
    const found = bytes === undefined || bytes.length === 0 ? undefined : bytes
    if (found === undefined || readBaseOffset(found, 0) > offset || readLastOffset(found, 0) < offset) {
      violations.add('I52', `${name}: a read at ${offset} does not begin with the batch that holds it`)
    }
    const expected = inLog.find(record => record.timestamp >= timestamp)
    const answer = await log.findByTimestamp(timestamp)
    const answered = answer === undefined || 'errorCode' in answer ? -1 : answer.offset
    if (answered !== expected?.offset) {
      violations.add(
        'I52',
        `${name}: time ${timestamp} is found at ${answered}, a scan finds it at ${expected?.offset}`,
      )
    }
  }
}

export type KnownProducers = LogInspection['producers']

/** What a log knows of its producers is what its batches say (I27); `producers`: what it knew of them while it was in use. */
export function checkProducers(
  log: SegmentedLog,
  { batches }: ScannedLog,
  violations: Violations,
  producers: KnownProducers = log.inspect().producers,
): void {
  const replayed = new ProducerStates()
  for (const batch of batches) {
    replayed.append(batch, 0)
    replayed.complete(Number.POSITIVE_INFINITY)
  }
  const known = new Map(producers)
  for (const [producerId, entry] of replayed.entries) {
    const now = known.get(producerId)
    // Compaction keeps the last batch of each producer, and of those before what it likes.
    const batchesLeft = log.config.isCompacted ? entry.batches.slice(-1) : entry.batches
    const expected = batchesLeft.map(batch => `${batch.lastSequence}@${batch.lastOffset}`).join()
    // Batches that retention has removed are still known, so only the newest ones can be compared.
    const newest = now?.batches.slice(-batchesLeft.length)
    const found = newest?.map(batch => `${batch.lastSequence}@${batch.lastOffset}`).join()
    if (found === expected && now?.producerEpoch === entry.producerEpoch) continue
    const text = `producer ${producerId} of ${log.topic}-${log.partition} is known by ${found}; its batches are ${expected}`
    violations.add('I27', text)
  }
}

function checkSequences(name: string, batches: readonly Buffer[], violations: Violations): void {
  const last = new Map<string, number>()
  for (const batch of batches) {
    if (readProducerId(batch, 0) < 0 || isControlBatch(batch, 0)) continue
    const producer = `${readProducerId(batch, 0)}/${readProducerEpoch(batch, 0)}`
    const before = last.get(producer)
    const sequence = readBaseSequence(batch, 0)
    if (before !== undefined && sequence !== addToSequence(before, 1)) {
      violations.add(
        'I25',
        `${name}: producer ${producer} goes from sequence ${before} to ${sequence} at ${readBaseOffset(batch, 0)}`,
      )
    }
    last.set(producer, readLastSequence(batch, 0))
  }
}

/** Epochs do not fall, and the cache has for every offset the one that wrote it (I5). */
export function checkEpochs(log: SegmentedLog, batches: readonly Buffer[], violations: Violations): void {
  const name = `${log.topic}-${log.partition}`
  const known = log.inspect().epochs
  let latest = -1
  for (const batch of batches) {
    const epoch = readPartitionLeaderEpoch(batch, 0)
    // The first batch may begin below the start of the log.
    const offset = Math.max(readBaseOffset(batch, 0), log.logStartOffset)
    if (epoch < latest) violations.add('I5', `${name}: leader epoch ${epoch} follows ${latest} at ${offset}`)
    latest = Math.max(latest, epoch)
    const cached = known.findLast(entry => entry.startOffset <= offset)
    if (cached?.leaderEpoch !== epoch)
      violations.add('I5', `${name}: offset ${offset} is of epoch ${epoch}, the cache says ${cached?.leaderEpoch}`)
  }
}

function recordsOf(batch: Buffer): ScannedRecord[] {
  const reader = openBatch(batch, 0, maxUnpackedBytes)
  return 'type' in reader ? [] : [...reader].map(({ offset, timestamp }) => ({ offset, timestamp }))
}

/** undefined when it is refused. */
async function read(log: SegmentedLog, offset: number, maxBytes: number): Promise<Buffer | undefined> {
  const answer = await log.read({ offset, maxBytes, minOneBatch: true, isolation: 'logEndOffset' })
  return answer.type === 'refused' ? undefined : bytesOfRead(answer)
}

export async function bytesOfRead({ parts }: Pick<LogRead<FileRange>, 'parts'>): Promise<Buffer> {
  const bytes: Buffer[] = []
  for (const part of parts) bytes.push(Buffer.isBuffer(part) ? part : await readRange(part))
  return Buffer.concat(bytes)
}

async function readRange({ file, position, length }: FileRange): Promise<Buffer> {
  try {
    return await file.read(position, length)
  } finally {
    file.release()
  }
}
