import type { Uuid } from '../base/uuid.ts'
import type { MetadataImage, TopicImage } from '../core/metadata/metadata-image.ts'
import { lostDirectory, type PartitionImage } from '../core/metadata/partition-image.ts'
import type { ClusterView, NodeView, PartitionView, TopicView } from './cluster-view.ts'
import { isInternalTopic } from './topic-names.ts'

export interface ImageClusterViewOptions {
  readonly clusterId: string
  readonly image: () => MetadataImage
  readonly controllerId: () => number
}

/** The committed image as clients are told of it. */
export class ImageClusterView implements ClusterView {
  readonly #options: ImageClusterViewOptions

  constructor(options: ImageClusterViewOptions) {
    this.#options = options
  }

  get clusterId(): string {
    return this.#options.clusterId
  }

  get controllerId(): number {
    return this.#options.controllerId()
  }

  brokers(listenerName: string): readonly NodeView[] {
    const nodes: NodeView[] = []
    for (const { id, endpoints, rack, fenced } of this.#options.image().brokers()) {
      const endpoint = endpoints.find(one => one.name === listenerName)
      if (endpoint === undefined) continue
      nodes.push({ nodeId: id, host: endpoint.host, port: endpoint.port, rack, isFenced: fenced })
    }
    return nodes
  }

  topicByName(name: string): TopicView | undefined {
    return this.#view(this.#options.image().topic(name))
  }

  topicById(topicId: Uuid): TopicView | undefined {
    return this.#view(this.#options.image().topicById(topicId))
  }

  *topics(): Iterable<TopicView> {
    for (const topic of this.#options.image().topics()) yield this.#view(topic)!
  }

  #view(topic: TopicImage | undefined): TopicView | undefined {
    if (topic === undefined) return undefined
    const { name, id, partitions } = topic
    return {
      name,
      topicId: id,
      isInternal: isInternalTopic(name),
      partitionCount: partitions.length,
      partition: index => {
        const partition = partitions[index]
        return partition === undefined ? undefined : this.#partition(partition)
      },
    }
  }

  #partition(image: PartitionImage): PartitionView {
    return {
      index: image.partition,
      leaderId: image.leader,
      leaderEpoch: image.leaderEpoch,
      replicas: image.replicas,
      isr: image.isr,
      elr: image.elr,
      lastKnownElr: image.lastKnownElr,
      offlineReplicas: image.replicas.filter((id, index) => this.#isOffline(id, image.directories[index])),
    }
  }

  #isOffline(brokerId: number, directory: Uuid): boolean {
    const broker = this.#options.image().broker(brokerId)
    return broker === undefined || broker.fenced || directory === lostDirectory
  }
}
