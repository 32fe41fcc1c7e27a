import type { BrokerConfig } from '../../config/broker-config.ts'
import { topicConfigOf } from '../../config/topic-config.ts'
import { ResourceType } from '../../core/metadata/metadata-image.ts'
import { readRecordCount } from '../../records/batch.ts'
import { Compactor, type CompactorSettings } from '../../storage/compaction/compactor.ts'
import { DuplicateLogError } from '../../storage/duplicate-logs.ts'
import { knownDirectoriesPath } from '../../storage/known-directories.ts'
import { LogDirectories, type OpenOptions } from '../../storage/log-directories.ts'
import { remedyFor } from '../directory-problem.ts'
import { GroupCoordinator, groupTopic } from '../groups/group-coordinator.ts'
import type { Partition } from '../partition.ts'
import { Partitions, type PartitionsOptions } from '../partitions.ts'
import { Unpacker } from '../produce/unpacker.ts'
import { StartError } from '../start-error.ts'
import type { BrokerParts } from './broker-parts.ts'
import { missingDirectories } from './known-directories.ts'

/** Coordinators are loaded all at a time, where Kafka loads one after the other. */
const maxLoadBufferBytes = 1 << 20

/** Opens all logs, and makes of them the partitions that the image has of this broker. Rejects with `StartError`. */
export async function openLogs(parts: BrokerParts): Promise<void> {
  const { clock, log } = parts.io
  const image = parts.metadata!.image
  const config = parts.config
  const options: OpenOptions = {
    directories: parts.claims,
    unclaimed: parts.unclaimed,
    missing: missingDirectories(parts).map(({ path }) => path),
    missingNote: knownDirectoriesPath(config.metadataLogDir),
    configOf: topic => topicConfigOf(image.config(ResourceType.topic, topic), parts.effectiveTexts).log,
    isStray: at => !Partitions.belongsHere(image, config.nodeId, at),
    intervals: {
      recoveryPointCheckpointMs: config.logFlushOffsetCheckpointIntervalMs,
      logStartCheckpointMs: config.logFlushStartOffsetCheckpointIntervalMs,
      highWatermarkCheckpointMs: config.replicaHighWatermarkCheckpointIntervalMs,
      retentionCheckMs: config.logRetentionCheckIntervalMs,
      producerExpiryCheckMs: config.producerIdExpirationCheckIntervalMs,
    },
    bootId: parts.options.bootId,
  }
  try {
    parts.logs = await LogDirectories.open(parts.storage, options)
  } catch (error) {
    if (!(error instanceof DuplicateLogError)) throw error
    throw new StartError(`log.dirs: ${error.message}`, { cause: error })
  }
  for (const { directory, name, reason, error } of parts.logs.unopened) {
    const remedy = error === undefined ? '' : `. ${remedyFor(error)}, and restart the broker`
    log.write('error', `${directory}/${name} is not served: ${reason}${remedy}`, { directory, name })
  }
  parts.groups = new GroupCoordinator({
    clock,
    random: parts.io.random,
    deadlines: parts.deadlines,
    log,
    topics: {
      topic: name => {
        const topic = image.topic(name)
        return topic === undefined ? undefined : { topicId: topic.id, partitionCount: topic.partitions.length }
      },
    },
    config: () => groupConfigOf(parts.config),
    partitionCount: () => image.topic(groupTopic)?.partitions.length,
    commitTimeoutMs: config.offsetsCommitTimeoutMs,
    compressionCodec: config.offsetsTopicCompressionCodec,
    loadBufferBytes: Math.min(config.offsetsLoadBufferSize, maxLoadBufferBytes),
  })
  parts.partitions = new Partitions({
    nodeId: config.nodeId,
    host: partitionHost(parts),
    logs: parts.logs,
    log,
    random: parts.io.random,
    deadlines: parts.deadlines,
    configs: image,
    listener: {
      leads: partition => {
        if (partition.topic === groupTopic) parts.groups!.open(partition)
      },
      leadsNoMore: (topic, index) => {
        if (topic === groupTopic) parts.groups!.close(index)
      },
      topicsDeleted: topics => {
        parts.groups!.topicsDeleted(topics)
        for (const { name } of topics) {
          parts.metrics.forgetTopic(name)
          parts.deletedNames.add(name)
        }
      },
    },
    brokerTexts: () => parts.effectiveTexts,
  })
  parts.partitions.openAll(image)
  if (config.millraceFlush === 'ack') await syncRecovered(parts)
  parts.compactor = new Compactor({
    clock,
    compute: parts.io.compute,
    logs: () => parts.logs!.logs,
    settings: () => compactorSettingsOf(parts.config),
    listener: parts.faultLog,
  })
}

/**
 * What recovery found in the page cache may be beyond what was synced. Nobody is served before it is, so that the high
 * watermark does not begin below what clients have seen.
 */
async function syncRecovered(parts: BrokerParts): Promise<void> {
  const flushes = [...parts.logs!.logs].map(log => log.flush())
  // A directory that fails meanwhile is offline, and its partitions say so.
  await Promise.allSettled(flushes)
}

function partitionHost(parts: BrokerParts): PartitionsOptions['host'] {
  return {
    clock: parts.io.clock,
    unpacker: new Unpacker({
      compute: parts.io.compute,
      clock: parts.io.clock,
      roomBytes: parts.budget.capacityBytes,
      failed: error => parts.fail(error),
    }),
    nodeId: parts.config.nodeId,
    flushBeforeAck: parts.config.millraceFlush === 'ack',
    replicaLagTimeMaxMs: parts.config.replicaLagTimeMaxMs,
    replicaFetchBackoffMs: parts.config.replicaFetchBackoffMs,
    brokers: { broker: id => parts.metadata?.image.broker(id) },
    isrUpdated: outcome => {
      parts.metrics.isrUpdates[outcome]++
    },
    appended: (partition: Partition, batch: Buffer) => {
      parts.metrics.appended(partition.topic, readRecordCount(batch, 0), batch.length)
    },
  }
}

function compactorSettingsOf(config: BrokerConfig): CompactorSettings {
  return {
    threads: config.logCleanerEnable ? config.logCleanerThreads : 0,
    backoffMs: config.logCleanerBackoffMs,
    ioMaxBytesPerSecond: config.logCleanerIoMaxBytesPerSecond,
    dedupeBufferBytes: config.logCleanerDedupeBufferSize,
    ioBufferBytes: config.logCleanerIoBufferSize,
    loadFactor: config.logCleanerIoBufferLoadFactor,
    maxUncompressedBytes: config.millraceMaxUncompressedBatchBytes,
  }
}

function groupConfigOf(config: BrokerConfig) {
  return {
    minSessionTimeoutMs: config.groupMinSessionTimeoutMs,
    maxSessionTimeoutMs: config.groupMaxSessionTimeoutMs,
    maxSize: config.groupMaxSize,
    initialRebalanceDelayMs: config.groupInitialRebalanceDelayMs,
    offsetMetadataMaxBytes: config.offsetMetadataMaxBytes,
    offsetsRetentionMs: config.offsetsRetentionMinutes * 60_000,
    offsetsRetentionCheckIntervalMs: config.offsetsRetentionCheckIntervalMs,
  }
}
