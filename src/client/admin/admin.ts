import type { Uuid } from '../../base/uuid.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { Coordinators } from '../cluster/coordinators.ts'
import type { CommittedOffset, OffsetToCommit } from '../cluster/group-offsets.ts'
import type { TopicPartition } from '../cluster/leader-requests.ts'
import type { FoundOffset, OffsetQuery } from '../cluster/list-offsets.ts'
import type { AdminOptions, AdminResult } from './admin-result.ts'
import * as configs from './configs.ts'
import * as info from './describe-cluster.ts'
import * as descriptions from './describe-topics.ts'
import * as groupOffsets from './group-offsets.ts'
import * as groups from './groups.ts'
import * as records from './records.ts'
import * as topics from './topics.ts'

/**
 * Manages a cluster. Calls about several resources resolve with one result for each, in their order: it has an `error`, or
 * what was asked for; `allSucceeded` turns the first error into a rejection. Each request goes to the node that it
 * concerns, and is tried again when that has moved. Made by `client.admin()`.
 */
export class Admin {
  readonly #cluster: Cluster
  readonly #groups: groups.GroupsContext

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    this.#groups = { cluster, coordinators: new Coordinators(cluster) }
  }

  describeCluster(
    options: AdminOptions & { readonly includeFencedBrokers?: boolean } = {},
  ): Promise<info.ClusterDescription> {
    return info.describeCluster(this.#cluster, options)
  }

  /** Versions and features of one broker, or of any. */
  describeVersions(options: AdminOptions & { readonly nodeId?: number } = {}): Promise<info.NodeVersions> {
    return info.describeVersions(this.#cluster, options.nodeId, options)
  }

  /** All topics that the user may see, by name. */
  listTopics(options: AdminOptions = {}): Promise<descriptions.ListedTopic[]> {
    return descriptions.listTopics(this.#cluster, options)
  }

  describeTopics(
    names: readonly string[],
    options: AdminOptions = {},
  ): Promise<AdminResult<{ name: string }, descriptions.TopicDescription>[]> {
    return descriptions.describeTopics(this.#cluster, names, options)
  }

  createTopics(
    newTopics: readonly topics.NewTopic[],
    options: AdminOptions & topics.ValidateOption = {},
  ): Promise<AdminResult<{ name: string }, topics.CreatedTopic>[]> {
    return topics.createTopics(this.#cluster, newTopics, options)
  }

  deleteTopics(
    refs: readonly topics.TopicRef[],
    options: AdminOptions = {},
  ): Promise<AdminResult<{ name: string | undefined; topicId: Uuid | undefined }>[]> {
    return topics.deleteTopics(this.#cluster, refs, options)
  }

  createPartitions(
    more: readonly topics.MorePartitions[],
    options: AdminOptions & topics.ValidateOption = {},
  ): Promise<AdminResult<{ topic: string }>[]> {
    return topics.createPartitions(this.#cluster, more, options)
  }

  deleteRecords(
    deletions: readonly records.RecordsToDelete[],
    options: AdminOptions = {},
  ): Promise<AdminResult<TopicPartition, { logStartOffset: number }>[]> {
    return records.deleteRecords(this.#cluster, deletions, options)
  }

  /** Offsets by name (`earliest`, `latest`, …) or by time; -1 where no record is as late as asked. */
  listOffsets(
    queries: readonly OffsetQuery[],
    options: records.ListOffsetsOptions = {},
  ): Promise<AdminResult<TopicPartition, FoundOffset>[]> {
    return records.listPartitionOffsets(this.#cluster, queries, options)
  }

  describeConfigs(
    queries: readonly configs.ConfigQuery[],
    options: configs.DescribeConfigsOptions = {},
  ): Promise<AdminResult<configs.ConfigResource, { configs: readonly configs.ConfigEntry[] }>[]> {
    return configs.describeConfigs(this.#cluster, queries, options)
  }

  /** Changes single settings; the others stay as they are. */
  alterConfigs(
    alterations: readonly configs.ConfigAlteration[],
    options: AdminOptions & topics.ValidateOption = {},
  ): Promise<AdminResult<configs.ConfigResource>[]> {
    return configs.alterConfigs(this.#cluster, alterations, options)
  }

  /** Replaces all settings of a resource: those that are not named go back to their defaults. */
  replaceConfigs(
    replacements: readonly configs.ConfigReplacement[],
    options: AdminOptions & topics.ValidateOption = {},
  ): Promise<AdminResult<configs.ConfigResource>[]> {
    return configs.replaceConfigs(this.#cluster, replacements, options)
  }

  listGroups(options: groups.ListGroupsOptions = {}): Promise<groups.ListedGroup[]> {
    return groups.listGroups(this.#cluster, options)
  }

  describeGroups(
    groupIds: readonly string[],
    options: AdminOptions = {},
  ): Promise<AdminResult<{ groupId: string }, groups.GroupDescription>[]> {
    return groups.describeGroups(this.#groups, groupIds, options)
  }

  deleteGroups(groupIds: readonly string[], options: AdminOptions = {}): Promise<AdminResult<{ groupId: string }>[]> {
    return groups.deleteGroups(this.#groups, groupIds, options)
  }

  removeMembers(
    groupId: string,
    members: readonly groups.MemberRef[],
    options: AdminOptions & { readonly reason?: string } = {},
  ): Promise<AdminResult<groups.MemberRef>[]> {
    return groups.removeMembers(this.#groups, groupId, members, options)
  }

  listGroupOffsets(
    groupId: string,
    options: groupOffsets.GroupOffsetsOptions = {},
  ): Promise<readonly CommittedOffset[]> {
    return groupOffsets.listGroupOffsets(this.#groups, groupId, options)
  }

  /** Sets committed offsets of a group that has no members. */
  alterGroupOffsets(
    groupId: string,
    offsets: readonly OffsetToCommit[],
    options: AdminOptions = {},
  ): Promise<AdminResult<TopicPartition>[]> {
    return groupOffsets.alterGroupOffsets(this.#groups, groupId, offsets, options)
  }

  deleteGroupOffsets(
    groupId: string,
    partitions: readonly TopicPartition[],
    options: AdminOptions = {},
  ): Promise<AdminResult<TopicPartition>[]> {
    return groupOffsets.deleteGroupOffsets(this.#groups, groupId, partitions, options)
  }
}
