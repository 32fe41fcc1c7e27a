import type { Broker } from '../../broker/broker.ts'
import type { Partition } from '../../broker/partition.ts'
import type { History } from '../history/history.ts'
import type { Plan } from '../plan.ts'
import type { Violations } from '../violations.ts'

/** What was last seen of a partition in one life of a broker. */
interface Seen {
  logStartOffset: number
  highWatermark: number
  lastStableOffset: number
  /** Only where retention goes by size. */
  sizeBytes: number
}

export interface WatchParts {
  readonly plan: Plan
  readonly history: History
  readonly violations: Violations
  /** By the broker's clock. */
  readonly wallMs: () => number
}

/** The god view: looks at a running broker after every event, for what must hold at every moment (I9, I48, I56). */
export class BrokerWatch {
  readonly #violations: Violations
  readonly #history: History
  readonly #wallMs: () => number
  readonly #isAck: boolean
  /** By topic: how large logs stay, where nothing but their size makes them smaller. */
  readonly #retentionBytes: ReadonlyMap<string, number>
  /** Of these it is told when their logs begin further on. */
  readonly #timedTopics: ReadonlySet<string>
  #broker: Broker | undefined
  readonly #seen = new Map<object, Seen>()
  #brokerEpoch = -1
  readonly #directoryIds = new Map<string, string>()
  /** By directory: up to where its logs were synced when a sync failed there in the life of this process. */
  readonly #failedSyncs = new Map<string, ReadonlyMap<object, number>>()

  constructor({ plan, history, violations, wallMs }: WatchParts) {
    this.#isAck = plan.flush === 'ack'
    this.#retentionBytes = new Map(retentionBytesOf(plan))
    this.#timedTopics = new Set(timedTopicsOf(plan))
    this.#history = history
    this.#violations = violations
    this.#wallMs = wallMs
  }

  begin(broker: Broker): void {
    this.#broker = broker
    this.#seen.clear()
    this.#lookAtIds(broker)
  }

  /** A new process: what its disk had failed to sync is the affair of whoever reads it now. */
  processBegins(): void {
    this.#broker = undefined
    this.#failedSyncs.clear()
  }

  /** A sync of something in this directory has failed (I49). */
  syncFailed(directory: string): void {
    if (this.#failedSyncs.has(directory)) return
    const promised = new Map<object, number>()
    for (const { log } of this.#broker?.partitions.all() ?? []) promised.set(log, log.flushedOffset)
    this.#failedSyncs.set(directory, promised)
  }

  /** The epochs of brokers and the ids of directories are not given twice, and a directory keeps its own (I23). */
  #lookAtIds({ metadata, logs, nodeId }: Broker): void {
    const brokerEpoch = metadata.image.broker(nodeId)?.epoch ?? -1
    if (brokerEpoch <= this.#brokerEpoch)
      this.#violations.add('I23', `broker epoch ${brokerEpoch} comes after ${this.#brokerEpoch}`)
    this.#brokerEpoch = brokerEpoch
    for (const { path, id } of logs.directories) {
      const before = this.#directoryIds.get(path) ?? id
      const isTaken = [...this.#directoryIds].some(([other, otherId]) => other !== path && otherId === id)
      if (before !== id || isTaken) this.#violations.add('I23', `${path} has the id ${id}, and had ${before}`)
      this.#directoryIds.set(path, id)
    }
  }

  look(): void {
    for (const partition of this.#broker?.partitions.all() ?? []) {
      this.#lookAt(partition)
      this.#lookAtSize(partition)
    }
    for (const [directory, promised] of this.#failedSyncs) this.#lookAtPromises(directory, promised)
  }

  /** Once a sync has failed, this process takes nothing more in that directory for synced. */
  #lookAtPromises(directory: string, promised: ReadonlyMap<object, number>): void {
    for (const log of this.#broker?.logs.logs ?? []) {
      const before = promised.get(log)
      if (before === undefined || log.flushedOffset <= before || !log.path.startsWith(`${directory}/`)) continue
      const text = `${log.path} is synced up to ${log.flushedOffset}, after a sync had failed at ${before}`
      this.#violations.add('I49', text)
    }
  }

  /** Segments go only as long as what is left is as large as it should be (I56). */
  #lookAtSize({ log, topic, index }: Partition): void {
    const retentionBytes = this.#retentionBytes.get(topic)
    const before = this.#seen.get(log)
    if (retentionBytes === undefined || before === undefined) return
    const { sizeBytes } = log
    if (sizeBytes < before.sizeBytes && sizeBytes < retentionBytes) {
      const text = `${topic}-${index} has lost ${before.sizeBytes - sizeBytes} bytes, and ${sizeBytes} are left where ${retentionBytes} should stay`
      this.#violations.add('I56', text)
    }
    before.sizeBytes = sizeBytes
  }

  /** Whether the records were old enough is for those to check who know them. */
  #logStartMoved({ log, topic, topicId, index }: Partition, from: number): void {
    if (!this.#timedTopics.has(topic)) return
    const { logStartOffset: to, sizeBytes } = log
    const target = { topic, topicId, partition: index }
    this.#history.mark('logStartMoved', { ...target, from, to, wallMs: this.#wallMs(), sizeBytes })
  }

  #lookAt(partition: Partition): void {
    const { log, topic, index } = partition
    const { logStartOffset, highWatermark, lastStableOffset, logEndOffset, flushedOffset, nextOffset } = log
    const isOrdered = logStartOffset <= highWatermark && highWatermark <= logEndOffset && logEndOffset <= nextOffset
    // Nobody is served from a log that is offline. Its directory may have failed before what was loaded was synced.
    const isPromised = !this.#isAck || log.isOffline || highWatermark <= flushedOffset
    const before = this.#seen.get(log)
    const hasGoneBack =
      before !== undefined &&
      (logStartOffset < before.logStartOffset ||
        highWatermark < before.highWatermark ||
        lastStableOffset < before.lastStableOffset)
    if (isOrdered && isPromised && !hasGoneBack && lastStableOffset <= highWatermark) {
      if (before === undefined) this.#seen.set(log, { logStartOffset, highWatermark, lastStableOffset, sizeBytes: 0 })
      else {
        if (logStartOffset > before.logStartOffset) this.#logStartMoved(partition, before.logStartOffset)
        before.logStartOffset = logStartOffset
        before.highWatermark = highWatermark
        before.lastStableOffset = lastStableOffset
      }
      return
    }
    const invariant = hasGoneBack ? 'I9' : isPromised ? 'I56' : 'I48'
    const watermarks = `start ${logStartOffset}, high watermark ${highWatermark}, stable ${lastStableOffset}`
    const ends = `synced ${flushedOffset}, end ${logEndOffset}, next ${nextOffset}`
    this.#violations.add(
      invariant,
      `${topic}-${index} holds ${watermarks}, ${ends}${hasGoneBack ? ', less than before' : ''}`,
    )
  }
}

function retentionBytesOf({ topics, clients, faults }: Plan): (readonly [topic: string, bytes: number])[] {
  // What failed to be written makes a log smaller, too.
  const { fullDiskMs, readOnlyMs, syncErrorMs } = faults
  const failsToWrite = [fullDiskMs, readOnlyMs, syncErrorMs].some(ms => ms !== undefined)
  const deletesRecords = (clients.admin?.deleteRecordsRate ?? 0) > 0
  if (failsToWrite || deletesRecords) return []
  const bySize = topics.filter(
    ({ config, isCompacted }) => isCompacted !== true && 'retention.bytes' in config && !('retention.ms' in config),
  )
  return bySize.map(({ name, config }) => [name, Number(config['retention.bytes'])])
}

/** Where the clock is set, what was too old may not seem so any more once it is gone. */
function timedTopicsOf({ topics, faults }: Plan): string[] {
  if (faults.clockStepMs !== undefined) return []
  return topics
    .filter(({ config, isCompacted }) => isCompacted !== true && 'retention.ms' in config)
    .map(({ name }) => name)
}
