import type { Replica } from './replica.ts'
import type { PartitionMetadata } from './views.ts'

/**
 * The metadata says this of the partition. A leader may know it, or more, from the controller's own answer: what is not newer
 * changes nothing, above all not what was asked for since.
 */
export function adoptMetadata(replica: Replica, partition: PartitionMetadata): void {
  const { metadata, role } = replica
  if (metadata !== undefined && partition.partitionEpoch <= metadata.partitionEpoch) return
  replica.metadata = partition
  const isRoleOver = role.type !== 'idle' && !isOf(replica, role.leaderEpoch, partition)
  if (isRoleOver && !leadsOn(replica, partition)) replica.becomeIdle()
  else if (role.type === 'leader' && !isRoleOver) {
    if (partition.partitionEpoch > role.isr.partitionEpoch) role.isr.adopt(partition)
    role.assign(partition.replicas, replica.nowMs)
  }
}

/** Whether the role goes on: same leadership, and this broker still holds a replica. */
function isOf(replica: Replica, leaderEpoch: number, partition: PartitionMetadata): boolean {
  return partition.leaderEpoch === leaderEpoch && partition.replicas.includes(replica.config.nodeId)
}

/** Elected again: what is on its way into its log is its own, so it does not wait for it. */
function leadsOn({ role, config }: Replica, { leader }: PartitionMetadata): boolean {
  return role.type === 'leader' && leader === config.nodeId
}

/**
 * Takes the role that the metadata says, as soon as the log allows it. A leader must know where its log ends; a follower
 * asks for nothing before it knows, so it may begin at once.
 */
export function settleRole(replica: Replica): void {
  const { metadata, role, config } = replica
  if (metadata === undefined || !metadata.replicas.includes(config.nodeId) || metadata.leader < 0) return
  if (role.type !== 'idle' && role.leaderEpoch === metadata.leaderEpoch) return
  if (metadata.leader !== config.nodeId) replica.becomeFollower(metadata)
  else if (role.type === 'leader' || replica.isLogSettled) replica.becomeLeader(metadata)
}
