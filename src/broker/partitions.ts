import { assert } from '../base/assert.ts'
import { ErrorCode } from '../base/error-code.ts'
import type { Random } from '../base/random.ts'
import type { Uuid } from '../base/uuid.ts'
import type { StaticTexts } from '../config/load-config.ts'
import { topicConfigOf } from '../config/topic-config.ts'
import type { DeletedTopic } from '../core/group/commands.ts'
import type { ChangedPartition, MetadataDelta } from '../core/metadata/metadata-delta.ts'
import { type MetadataImage, ResourceType, type TopicImage } from '../core/metadata/metadata-image.ts'
import { noLeader, type PartitionImage } from '../core/metadata/partition-image.ts'
import type { LogSink } from '../io/log-sink.ts'
import type { LogDirectories } from '../storage/log-directories.ts'
import type { SegmentedLog } from '../storage/segmented-log.ts'
import type { Deadlines } from './deadlines.ts'
import { Partition, type PartitionHost, type PartitionState } from './partition.ts'
import type { PartitionLookup } from './services.ts'
import { type UnmadePartition, UnmadePartitions } from './unmade-partitions.ts'

/** Told of partitions that this broker begins or ceases to lead. */
export interface LeadershipListener {
  leads(partition: Partition): void
  leadsNoMore(topic: string, partitionIndex: number): void
  topicsDeleted(topics: readonly DeletedTopic[]): void
}

export interface PartitionsOptions {
  readonly nodeId: number
  readonly host: Omit<PartitionHost, 'leadershipBegan' | 'leadershipEnded'>
  readonly logs: LogDirectories
  readonly log: LogSink
  readonly random: Random
  readonly deadlines: Deadlines
  readonly listener: LeadershipListener
  /** The settings of topics as they are in force. */
  readonly configs: ConfigSource
  /** The texts of this broker's settings that are in force. */
  readonly brokerTexts: () => StaticTexts
}

/** Making logs lets others run after this long. */
const sliceMs = 5

interface LocalTopic {
  readonly topicId: Uuid
  readonly name: string
  readonly partitions: Map<number, Partition>
}

/** What of the metadata is needed of a topic: the image's, or what a delta makes of it. */
type ConfigSource = Pick<MetadataImage, 'config'>

/** The partitions that this broker has replicas of. Opened, changed and closed as the metadata says, in one turn. */
export class Partitions implements PartitionLookup {
  readonly #options: PartitionsOptions
  readonly #host: PartitionHost
  readonly #byId = new Map<Uuid, LocalTopic>()
  readonly #byName = new Map<string, LocalTopic>()
  readonly #unmade: UnmadePartitions
  /** The log that `prepare` could not make, and where a part of it may lie: it must not be made in another directory. */
  #begun: { readonly topicId: Uuid; readonly partition: number; readonly directoryId: Uuid | undefined } | undefined
  /** The broker stops: what the metadata goes on to say is for the next start. */
  #isClosed = false

  constructor(options: PartitionsOptions) {
    this.#options = options
    const { host, listener, log, random, deadlines } = options
    const { clock } = host
    this.#unmade = new UnmadePartitions({ clock, random, deadlines, log, retry: () => this.openUnmade() })
    this.#host = {
      ...host,
      leadershipBegan: partition => listener.leads(partition),
      leadershipEnded: ({ topic, index }) => listener.leadsNoMore(topic, index),
    }
  }

  byId(topicId: Uuid, index: number): Partition | undefined {
    return this.#byId.get(topicId)?.partitions.get(index)
  }

  byName(topic: string, index: number): Partition | undefined {
    return this.#byName.get(topic)?.partitions.get(index)
  }

  absenceById(topicId: Uuid, index: number): ErrorCode {
    return absence(this.#unmade.byId(topicId, index))
  }

  absenceByName(topic: string, index: number): ErrorCode {
    return absence(this.#unmade.byName(topic, index))
  }

  *all(): Iterable<Partition> {
    for (const topic of this.#byId.values()) yield* topic.partitions.values()
  }

  /** Partitions of this broker that have no log, since it cannot be made. */
  get unmadeCount(): number {
    return this.#unmade.count
  }

  /** Whether the metadata has this partition on this broker. */
  static belongsHere(image: MetadataImage, nodeId: number, at: { topicId: Uuid; partition: number }): boolean {
    return image.partition(at.topicId, at.partition)?.replicas.includes(nodeId) ?? false
  }

  /**
   * At the start: everything that the image has of this broker, without a leader. What an earlier life of the broker led is
   * over: the controller elects anew when it registers this one.
   */
  openAll(image: MetadataImage): void {
    for (const topic of image.topics()) {
      for (const partition of topic.partitions)
        this.#open(topic, { ...partition, leader: noLeader }, image, { mayExist: true })
    }
    this.#unmade.tell()
  }

  /** A directory may take now what could not be made before. */
  openUnmade(): void {
    if (this.#isClosed) return
    for (const unmade of this.#unmade.all()) {
      if (this.#tryOpen(unmade, this.#options.configs) === undefined) this.#unmade.made(unmade)
    }
    this.#unmade.tell()
  }

  /**
   * Before `apply`, for as long as it takes: makes the logs of the partitions that will be new here. The disk takes a millisecond or
   * more for each, so others are served in between. What cannot be made, `apply` tries once more, and tells.
   */
  async prepare(delta: MetadataDelta): Promise<void> {
    const { clock } = this.#host
    let sliceEndMs = clock.now().monotonicMs + sliceMs
    for (const { topicId, topicName, before, after } of delta.changedPartitions()) {
      if (this.#isClosed || (before === undefined && !this.#prepareLog(topicId, topicName, after, delta))) return
      if (clock.now().monotonicMs < sliceEndMs) continue
      await clock.yieldTurn()
      sliceEndMs = clock.now().monotonicMs + sliceMs
    }
  }

  /** False when the disk is in the way. */
  #prepareLog(topicId: Uuid, topic: string, image: PartitionImage, configs: ConfigSource): boolean {
    const { nodeId, logs, brokerTexts } = this.#options
    if (!image.replicas.includes(nodeId) || this.#unmade.isLeft(topicId, image.partition)) return true
    const config = topicConfigOf(configs.config(ResourceType.topic, topic), brokerTexts()).log
    const created = logs.create({ topic, topicId, partition: image.partition, config })
    if (created.type === 'created') return true
    // The same change may give the name free.
    if (created.errorCode === ErrorCode.inconsistentTopicId) return true
    this.#begun = { topicId, partition: image.partition, directoryId: created.begunIn }
    return false
  }

  /** Before the image moves. */
  apply(delta: MetadataDelta): void {
    if (this.#isClosed) return
    const deleted = [...delta.deletedTopics()]
    for (const topic of deleted) this.#delete(topic)
    if (deleted.length > 0) {
      this.#options.listener.topicsDeleted(deleted.map(({ id, name }) => ({ topicId: id, name })))
    }
    for (const { topicId, topicName, before, after } of delta.changedPartitions()) {
      this.#change({ id: topicId, name: topicName }, { before, after }, delta)
    }
    for (const { resourceType, resourceName } of delta.changedConfigs()) {
      if (resourceType === ResourceType.topic) this.#configure(resourceName, delta)
    }
    this.#begun = undefined
    this.#unmade.tell()
  }

  /** The settings of the broker have changed, and with them what topics leave to it. */
  configureAll(image: ConfigSource): void {
    for (const topic of this.#byName.keys()) this.#configure(topic, image)
  }

  /** Everybody who waits is told that this broker serves no more. No log is made or deleted from here on. */
  closeAll(): void {
    this.#isClosed = true
    this.#unmade.close()
    for (const partition of this.all()) partition.close(ErrorCode.notLeaderOrFollower)
    this.#byId.clear()
    this.#byName.clear()
  }

  #change(
    topic: { readonly id: Uuid; readonly name: string },
    { before, after: image }: Pick<ChangedPartition, 'before' | 'after'>,
    configs: ConfigSource,
  ): void {
    const { nodeId } = this.#options
    const isHere = image.replicas.includes(nodeId)
    const open = this.byId(topic.id, image.partition)
    const unmade = this.#unmade.byId(topic.id, image.partition)
    if (!isHere) {
      if (open !== undefined) this.#remove(topic.id, open, ErrorCode.notLeaderOrFollower)
      if (unmade !== undefined) this.#unmade.leave(unmade)
    } else if (open !== undefined) this.#update(open, image, configs)
    else if (unmade !== undefined) unmade.image = image
    else this.#open(topic, image, configs, { mayExist: before?.replicas.includes(nodeId) ?? false })
  }

  /** `mayExist`: it was here before. */
  #open(
    topic: { readonly id: Uuid; readonly name: string },
    image: PartitionImage,
    configs: ConfigSource,
    { mayExist }: { readonly mayExist: boolean },
  ): void {
    if (!image.replicas.includes(this.#options.nodeId)) return
    const left = this.#unmade.takeLeft(topic.id, image.partition)
    const isBegun = this.#begun?.topicId === topic.id && this.#begun.partition === image.partition
    const wanted = {
      topicId: topic.id,
      topic: topic.name,
      image,
      mayExist: mayExist || left?.mayExist === true,
      directoryId: isBegun ? this.#begun?.directoryId : left?.directoryId,
    }
    const problem = this.#tryOpen(wanted, configs)
    if (problem !== undefined) this.#unmade.add(wanted, problem)
  }

  /** Returns why it cannot be. */
  #tryOpen(wanted: UnmadePartition, configs: ConfigSource): string | undefined {
    const { topicId, topic, image, mayExist, directoryId } = wanted
    const { partition: index } = image
    const config = topicConfigOf(configs.config(ResourceType.topic, topic), this.#options.brokerTexts())
    const request = { topic, topicId, partition: index, config: config.log, mayExist, directoryId }
    const created = this.#options.logs.create(request)
    if (created.type === 'refused') {
      wanted.directoryId ??= created.begunIn
      return created.message
    }
    created.log.configure(config.log)
    const partition = new Partition(created.log, stateOf(image, config.minInsyncReplicas), this.#host)
    this.#localTopic(topicId, topic).partitions.set(index, partition)
    partition.start()
    return undefined
  }

  #update(partition: Partition, image: PartitionImage, configs: ConfigSource): void {
    const config = topicConfigOf(configs.config(ResourceType.topic, partition.topic), this.#options.brokerTexts())
    partition.update(stateOf(image, config.minInsyncReplicas))
  }

  #configure(topic: string, configs: ConfigSource): void {
    const local = this.#byName.get(topic)
    if (local === undefined) return
    const config = topicConfigOf(configs.config(ResourceType.topic, topic), this.#options.brokerTexts())
    for (const partition of local.partitions.values()) {
      partition.log.configure(config.log)
      partition.update({ ...partition.state, minInsyncReplicas: config.minInsyncReplicas })
    }
  }

  #delete(topic: TopicImage): void {
    this.#unmade.deleteTopic(topic.id)
    const local = this.#byId.get(topic.id)
    if (local === undefined) return
    for (const partition of [...local.partitions.values()]) {
      this.#remove(topic.id, partition, ErrorCode.unknownTopicOrPartition)
    }
  }

  #remove(topicId: Uuid, partition: Partition, errorCode: ErrorCode): void {
    const { logs, listener } = this.#options
    const local = this.#byId.get(topicId)
    assert(local !== undefined, 'a partition that is removed is there')
    if (partition.isLeader) listener.leadsNoMore(partition.topic, partition.index)
    local.partitions.delete(partition.index)
    if (local.partitions.size === 0) {
      this.#byId.delete(topicId)
      if (this.#byName.get(local.name) === local) this.#byName.delete(local.name)
    }
    partition.close(errorCode)
    logs.delete(partition.log as SegmentedLog)
  }

  #localTopic(topicId: Uuid, name: string): LocalTopic {
    const known = this.#byId.get(topicId)
    if (known !== undefined) return known
    const topic: LocalTopic = { topicId, name, partitions: new Map() }
    this.#byId.set(topicId, topic)
    this.#byName.set(name, topic)
    return topic
  }
}

function absence(unmade: UnmadePartition | undefined): ErrorCode {
  return unmade === undefined ? ErrorCode.unknownTopicOrPartition : ErrorCode.kafkaStorageError
}

function stateOf(image: PartitionImage, minInsyncReplicas: number): PartitionState {
  const { leader, leaderEpoch, partitionEpoch, replicas, isr, addingReplicas, removingReplicas } = image
  const isReassigning = addingReplicas.length > 0 || removingReplicas.length > 0
  return { leaderId: leader, leaderEpoch, partitionEpoch, replicas, isr, isReassigning, minInsyncReplicas }
}
