import type { MetadataDelta } from '../../core/metadata/metadata-delta.ts'
import { noLeader, type PartitionImage } from '../../core/metadata/partition-image.ts'

/** Counts of all partitions of the cluster, kept up with each change of the metadata: nobody has to walk through them. */
export class ClusterCounts {
  offlinePartitions = 0
  /** Partitions that are not led by their first replica, those without a leader among them. */
  notLedByPreferred = 0
  /** Since this broker has started. */
  uncleanElections = 0

  /** Before the image moves. `isReplay`: it says what was, before this broker had started. */
  apply(delta: MetadataDelta, { isReplay }: { readonly isReplay: boolean }): void {
    for (const { partitions } of delta.deletedTopics()) for (const partition of partitions) this.#add(partition, -1)
    for (const { before, after } of delta.changedPartitions()) {
      if (before !== undefined) this.#add(before, -1)
      this.#add(after, 1)
    }
    if (!isReplay) this.uncleanElections += delta.uncleanElections
  }

  #add({ leader, replicas }: PartitionImage, one: 1 | -1): void {
    if (leader === noLeader) this.offlinePartitions += one
    if (leader !== replicas[0]) this.notLedByPreferred += one
  }
}
