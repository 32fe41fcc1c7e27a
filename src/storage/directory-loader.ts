import {
  isTornPartitionMetadata,
  type PartitionDirectoryName,
  parsePartitionDirectoryName,
  partitionMetadataFileName,
  renamedDirectoryName,
  segmentFileName,
} from '../core/log/file-names.ts'
import { type DirectoryEntry, DiskError, expectDiskError } from '../io/disk.ts'
import { type CleanEnd, readCleanEnds, removeCleanEnds } from './clean-ends.ts'
import type { ClaimedDirectory } from './directory-claim.ts'
import { type OffsetCheckpointName, readOffsetCheckpoint, removeCleanShutdown } from './directory-files.ts'
import type { OpenOptions } from './log-directories.ts'
import { loadLog, maxPartitionMetadataBytes, namesakeFileName, readTopicId } from './log-loader.ts'
import { SegmentedLog } from './segmented-log.ts'
import type { StorageContext } from './storage-context.ts'

export interface LoadProgress {
  readonly directory: string
  readonly partitions: number
  readonly opened: number
  /** Bytes that recovery has read so far. */
  readonly recoveredBytes: number
}

/** A partition whose directory is there, but cannot be used. */
export interface UnopenedPartition {
  readonly directory: string
  readonly name: string
  readonly reason: string
  /** Where it is one of the disk's. */
  readonly error?: DiskError
}

export interface LoadedDirectory {
  readonly logs: readonly SegmentedLog[]
  readonly unopened: readonly UnopenedPartition[]
}

/** Kafka's own metadata log: whoever runs the quorum opens it. */
const metadataTopic = '__cluster_metadata'
const bootFileName = 'millrace-boot'
const maxBootFileBytes = 1024
const opensAtOnce = 4
const yieldAfterMs = 5
const removeDelayMs = 1000

/** Opens all partitions of one directory. */
export async function loadDirectory(
  context: StorageContext,
  claim: ClaimedDirectory,
  options: OpenOptions,
): Promise<LoadedDirectory> {
  const loader = new DirectoryLoader(context, claim, options)
  try {
    await loader.load()
  } catch (error) {
    expectDiskError(error)
    claim.directory.fail(error)
  }
  return loader
}

const nothingSaid = {
  isClean: false,
  hasNamesake: true,
  recoveryPoint: 0,
  logStartOffset: 0,
  isNamed: false,
  isLogStartKnown: false,
  highWatermark: 0,
  cleanEnd: undefined,
  cleanedOffset: undefined,
}

class DirectoryLoader implements LoadedDirectory {
  readonly logs: SegmentedLog[] = []
  readonly unopened: UnopenedPartition[] = []
  readonly #context: StorageContext
  readonly #claim: ClaimedDirectory
  readonly #options: OpenOptions
  readonly #path: string
  #recoveryPoints = new Map<string, number>()
  #logStarts = new Map<string, number>()
  #highWatermarks = new Map<string, number>()
  #cleaned = new Map<string, number>()
  #cleanEnds: Map<string, CleanEnd> | undefined
  #isClean = false
  #isPageCacheKept = false
  #partitions = 0
  #recoveredBytes = 0
  #lastYieldMs = 0

  constructor(context: StorageContext, claim: ClaimedDirectory, options: OpenOptions) {
    this.#context = context
    this.#claim = claim
    this.#options = options
    this.#path = claim.directory.path
  }

  async load(): Promise<void> {
    const { disk } = this.#context
    this.#isClean = this.#claim.cleanShutdown !== undefined
    this.#isPageCacheKept = this.#isSameBoot()
    this.#cleanEnds = readCleanEnds(disk, this.#path)
    if (this.#cleanEnds !== undefined) await removeCleanEnds(disk, this.#path)
    if (this.#isClean) await removeCleanShutdown(disk, this.#path)
    this.#recoveryPoints = this.#checkpoint('recovery-point-offset-checkpoint')
    this.#logStarts = this.#checkpoint('log-start-offset-checkpoint')
    this.#highWatermarks = this.#checkpoint('replication-offset-checkpoint')
    this.#cleaned = this.#checkpoint('cleaner-offset-checkpoint')
    const entries = disk.list(this.#path)
    await this.#removeTemporary(entries)
    const names = entries.flatMap(({ name, isDirectory }) => {
      const parsed = isDirectory ? parsePartitionDirectoryName(name) : undefined
      return parsed === undefined || parsed.topic === metadataTopic ? [] : [{ name, ...parsed }]
    })
    const partitions = names.filter(({ kind }) => kind === 'current')
    for (const { name, kind } of names) if (kind === 'delete') this.#removeSoon(`${this.#path}/${name}`)
    this.#partitions = partitions.length
    await this.#openAll(partitions)
    // Not before: what the power took is not known until all is recovered, and this start may come to nothing.
    const isAllRecovered = this.#claim.directory.unrecovered === undefined
    if (this.#options.bootId !== undefined && isAllRecovered) this.#writeBootFile()
  }

  /** Without room for it the next start takes a kill for a power cut. */
  #writeBootFile(): void {
    try {
      this.#context.disk.writeSmallFile(`${this.#path}/${bootFileName}`, this.#bootFile())
    } catch (error) {
      expectDiskError(error)
      this.#claim.directory.writeFailed(error)
    }
  }

  /** What was being written when the process ended, or when the disk was full. */
  async #removeTemporary(entries: readonly DirectoryEntry[]): Promise<void> {
    for (const { name, isDirectory } of entries)
      if (!isDirectory && name.endsWith('.tmp')) await this.#context.disk.remove(`${this.#path}/${name}`)
  }

  #isSameBoot(): boolean {
    const { bootId } = this.#options
    if (bootId === undefined) return false
    const bytes = this.#context.disk.readSmallFile(`${this.#path}/${bootFileName}`, maxBootFileBytes)
    return bytes?.equals(this.#bootFile()) ?? false
  }

  #bootFile(): Buffer {
    return Buffer.from(JSON.stringify({ version: 1, bootId: this.#options.bootId }))
  }

  /** A checkpoint that cannot be read says nothing: the conservative answer is that nothing is synced. */
  #checkpoint(name: OffsetCheckpointName): Map<string, number> {
    const offsets = readOffsetCheckpoint(this.#context.disk, this.#path, name)
    if (offsets !== undefined) return offsets
    this.#isClean = false
    this.#context.faults.damaged({
      path: `${this.#path}/${name}`,
      position: 0,
      length: undefined,
      offset: undefined,
      reason: 'the checkpoint cannot be read',
    })
    return new Map()
  }

  async #openAll(partitions: readonly ({ name: string } & PartitionDirectoryName)[]): Promise<void> {
    let next = 0
    const failures: unknown[] = []
    const worker = async () => {
      while (next < partitions.length && failures.length === 0) {
        await this.#open(partitions[next++])
        await this.#yieldSometimes()
      }
    }
    const noteFailure = (error: unknown) => void failures.push(error)
    // Nothing goes on in a directory that is given up: a recovery that was under way would cut logs of it.
    await Promise.all(Array.from({ length: opensAtOnce }, () => worker().catch(noteFailure)))
    if (failures.length > 0) throw failures[0]
    this.#tellProgress()
  }

  /** A file that this user may not use, or a directory in the place of one, is no fault of the disk: the other partitions open. */
  async #open(found: { name: string } & PartitionDirectoryName): Promise<void> {
    const { name } = found
    const path = `${this.#path}/${name}`
    try {
      await this.#openLog(path, found)
    } catch (error) {
      const isOfLog = error instanceof DiskError && (error.path === path || error.path.startsWith(`${path}/`))
      if (!isOfLog || (error.code !== 'notPermitted' && error.code !== 'isDirectory')) throw error
      this.#keep(found)
      this.unopened.push({ directory: this.#path, name, reason: error.message, error })
    }
  }

  /** What the checkpoints say of it stays in them, for the start after somebody has mended what is in the way. */
  #keep({ name, topic, partition }: { name: string } & PartitionDirectoryName): void {
    const said = this.#isClean || !this.#mayHaveNamesake(name)
    this.#claim.directory.keep({
      topic,
      partition,
      recoveryPoint: said ? this.#recoveryPoints.get(name) : undefined,
      durableLogStart: said ? this.#logStarts.get(name) : undefined,
      highWatermark: said ? this.#highWatermarks.get(name) : undefined,
      cleanedOffset: said ? this.#cleaned.get(name) : undefined,
      mustBeRecovered: !this.#isClean,
    })
  }

  /** Where even that cannot be read, the conservative answer. */
  #mayHaveNamesake(name: string): boolean {
    try {
      return this.#hasNamesake(name)
    } catch (error) {
      expectDiskError(error)
      return true
    }
  }

  async #openLog(path: string, found: { name: string } & PartitionDirectoryName): Promise<void> {
    const { name, topic, partition } = found
    const topicId = readTopicId(this.#context, path)
    if (topicId === undefined) {
      if (this.#wasNeverFlushed(name)) this.#setAside(name, topic, partition, 'it was being made when the broker ended')
      else {
        this.#keep(found)
        this.#leave(name, 'partition.metadata is missing or damaged')
      }
      return
    }
    if (this.#options.isStray({ topic, topicId, partition })) {
      this.#setAside(name, topic, partition, 'the cluster does not know the partition')
      return
    }
    const hasNamesake = this.#hasNamesake(name)
    // What it warns of is over: a clean shutdown has saved the checkpoints. Kafka's has left that of the cleaner as it was.
    if (this.#isClean && hasNamesake) {
      this.#cleaned.delete(name)
      await this.#context.disk.remove(`${path}/${namesakeFileName}`)
    }
    const loaded = await loadLog(this.#context, {
      topicId,
      topic,
      partition,
      path,
      config: this.#options.configOf(topic),
      isPageCacheKept: this.#isPageCacheKept,
      isContiguous: false,
      ...this.#saidOf(name, hasNamesake),
      damageFound: damage => this.#context.faults.damaged(damage),
      progress: bytes => {
        this.#recoveredBytes += bytes
      },
    })
    const log = new SegmentedLog(this.#context, this.#claim.directory, loaded)
    this.#claim.directory.add(log)
    this.logs.push(log)
  }

  /** What the files of the directory say of a log. */
  #saidOf(name: string, hasNamesake: boolean) {
    // A clean shutdown has saved them for every log.
    if (!this.#isClean && hasNamesake) return nothingSaid
    return {
      isClean: this.#isClean,
      hasNamesake: false,
      recoveryPoint: this.#recoveryPoints.get(name) ?? 0,
      logStartOffset: this.#logStarts.get(name) ?? 0,
      isNamed: [this.#recoveryPoints, this.#logStarts, this.#highWatermarks, this.#cleaned].some(one => one.has(name)),
      isLogStartKnown: this.#logStarts.has(name),
      highWatermark: this.#highWatermarks.get(name) ?? 0,
      cleanEnd: this.#cleanEnds?.get(name),
      cleanedOffset: this.#cleaned.get(name),
    }
  }

  #hasNamesake(name: string): boolean {
    return this.#context.disk.status(`${this.#path}/${name}/${namesakeFileName}`) !== undefined
  }

  #leave(name: string, reason: string): void {
    this.unopened.push({ directory: this.#path, name, reason })
  }

  /**
   * The file that identifies a partition is synced before anything else of it. The checkpoints may speak of another log, when
   * this one has a namesake, or nothing at all: what names it would be there first. Where the file holds anything else it may have
   * been damaged since, unless there is nothing in the log that it could have been synced for.
   */
  #wasNeverFlushed(name: string): boolean {
    const { disk } = this.#context
    const bytes = disk.readSmallFile(`${this.#path}/${name}/${partitionMetadataFileName}`, maxPartitionMetadataBytes)
    if (bytes !== undefined && !isTornPartitionMetadata(bytes) && !this.#isAsMade(name)) return false
    if (!this.#recoveryPoints.has(name)) return true
    return this.#hasNamesake(name) || disk.list(`${this.#path}/${name}`).length === 0
  }

  /** Nothing is there but what a log begins with. */
  #isAsMade(name: string): boolean {
    const { disk } = this.#context
    const path = `${this.#path}/${name}`
    const first = segmentFileName(0, 'log')
    const made = [partitionMetadataFileName, namesakeFileName, first]
    return disk.list(path).every(one => made.includes(one.name)) && !disk.status(`${path}/${first}`)?.sizeBytes
  }

  #setAside(name: string, topic: string, partition: number, reason: string): void {
    const id = this.#context.random.bytes(16).toString('hex')
    const to = renamedDirectoryName({ topic, partition }, 'stray', id)
    this.#context.disk.rename(`${this.#path}/${name}`, `${this.#path}/${to}`)
    this.#leave(to, reason)
  }

  #removeSoon(path: string): void {
    const { directory } = this.#claim
    directory.after(removeDelayMs, () =>
      this.#removeRenamed(path).catch(error => {
        expectDiskError(error)
        directory.writeFailed(error)
      }),
    )
  }

  /** A kill may have left the new name to a power cut that comes later. */
  async #removeRenamed(path: string): Promise<void> {
    const { disk } = this.#context
    await disk.syncDirectory(this.#path)
    await disk.remove(path)
  }

  async #yieldSometimes(): Promise<void> {
    const { monotonicMs } = this.#context.clock.now()
    if (monotonicMs - this.#lastYieldMs < yieldAfterMs) return
    this.#tellProgress()
    await this.#context.clock.yieldTurn()
    this.#lastYieldMs = this.#context.clock.now().monotonicMs
  }

  #tellProgress(): void {
    this.#options.progress?.({
      directory: this.#path,
      partitions: this.#partitions,
      opened: this.logs.length,
      recoveredBytes: this.#recoveredBytes,
    })
  }
}
