import { ErrorCode } from '../../../base/error-code.ts'
import { decodeSubscription, encodeAssignment } from '../../../protocol/consumer-protocol.ts'
import type { JoinGroupResponse } from '../../../protocol/messages/join-group.ts'
import { ProtocolError } from '../../../protocol/protocol-error.ts'
import type { Cluster } from '../../cluster/cluster.ts'
import { byTopic } from '../../cluster/leader-requests.ts'
import { MillraceError } from '../../millrace-error.ts'
import type { Assignor, GroupMember, PartitionCounts } from './assignor.ts'

/** One member's share, as SyncGroup carries it. */
export interface EncodedAssignment {
  readonly memberId: string
  readonly assignment: Buffer
}

/**
 * What the leader of a group does besides being a member: it shares the partitions out, and looks after the topics of all
 * members, also those that it does not read itself.
 */
export class GroupLeader {
  readonly #cluster: Cluster
  readonly #assignors: readonly Assignor[]
  #topics: readonly string[] = []
  #unwatch: (() => void)[] = []
  /** What the last assignment was made of; undefined while this member does not lead. */
  #counts: PartitionCounts | undefined

  constructor(cluster: Cluster, assignors: readonly Assignor[]) {
    this.#cluster = cluster
    this.#assignors = assignors
  }

  /** Waits for the members' topics to be known, for at most `timeoutMs`. */
  async assign(joined: JoinGroupResponse, timeoutMs: number): Promise<EncodedAssignment[]> {
    const assignor = this.#assignors.find(({ name }) => name === joined.protocolName)
    if (assignor === undefined) {
      const text = `the group chose the assignor ${joined.protocolName}, which this consumer did not offer`
      throw new MillraceError('PROTOCOL_BROKEN', text)
    }
    const members = joined.members.map(({ memberId, groupInstanceId, metadata }) => {
      return memberOf(memberId, groupInstanceId, metadata)
    })
    this.#watch([...new Set(members.flatMap(member => member.topics))])
    await this.#cluster.refresh(timeoutMs)
    this.#counts = this.#countPartitions()
    // A leader that has come back unchanged leaves things as they are.
    if (joined.skipAssignment) return []
    return [...assignor.assign(members, this.#counts)].map(([memberId, partitions]) => {
      const assignedPartitions = byTopic(partitions, ({ partition }) => partition).map(topic => {
        return { topic: topic.name, partitions: topic.partitions }
      })
      return { memberId, assignment: encodeAssignment({ assignedPartitions, userData: null }) }
    })
  }

  /** Somebody else leads, or nobody. */
  resign(): void {
    this.#watch([])
    this.#counts = undefined
  }

  /** The assignment was made for fewer or more partitions than there are. */
  get isOutdated(): boolean {
    const before = this.#counts
    if (before === undefined) return false
    const counts = this.#countPartitions()
    return counts.size !== before.size || [...counts].some(([topic, count]) => before.get(topic) !== count)
  }

  #watch(topics: readonly string[]): void {
    const ended = this.#unwatch
    this.#topics = topics
    this.#unwatch = topics.map(topic => this.#cluster.watch(topic, { create: false }))
    for (const end of ended) end()
  }

  #countPartitions(): PartitionCounts {
    const counts = new Map<string, number>()
    for (const name of this.#topics) {
      const state = this.#cluster.metadata.topic(name)
      if (state?.errorCode === ErrorCode.none) counts.set(name, state.partitions.length)
    }
    return counts
  }
}

/** A member whose subscription cannot be read takes part without any topics, rather than keep the group from working. */
function memberOf(memberId: string, groupInstanceId: string | null, metadata: Buffer): GroupMember {
  try {
    const { topics, ownedPartitions, generationId, userData } = decodeSubscription(metadata)
    const owned = ownedPartitions.flatMap(({ topic, partitions }) =>
      partitions.map(partition => ({ topic, partition })),
    )
    return { memberId, groupInstanceId, topics, ownedPartitions: owned, generationId, userData }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return { memberId, groupInstanceId, topics: [], ownedPartitions: [], generationId: -1, userData: null }
  }
}
