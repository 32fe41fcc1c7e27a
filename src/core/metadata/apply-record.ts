import { assert, unreachable } from '../../base/assert.ts'
import { type BrokerImage, brokerOf, changedBroker } from './broker-image.ts'
import { ResourceType } from './metadata-image.ts'
import type { MetadataTables } from './metadata-store.ts'
import { changedPartition, type PartitionImage, partitionOf } from './partition-image.ts'
import type { MetadataRecord, RecordOf } from './records.ts'

/** The records that open and close a metadata transaction are the loader's; here everything else is carried out. */
export type AppliedRecord = Exclude<
  MetadataRecord,
  RecordOf<'beginTransaction'> | RecordOf<'endTransaction'> | RecordOf<'abortTransaction'>
>

/** What one record means, live and on replay, for the controller's state and for the image alike. */
export function applyRecord(tables: MetadataTables, record: AppliedRecord): void {
  switch (record.type) {
    case 'topic':
      tables.addTopic(record.topicId, record.name)
      break
    case 'removeTopic':
      removeTopic(tables, record)
      break
    case 'partition':
      tables.putPartition(partitionOf(record))
      break
    case 'partitionChange':
      tables.putPartition(changedPartition(partitionNamed(tables, record), record))
      break
    case 'clearElr':
      clearElr(tables, record)
      break
    case 'registerBroker':
      tables.putBroker(brokerOf(record))
      break
    case 'unregisterBroker':
      tables.removeBroker(record.brokerId)
      break
    case 'brokerRegistrationChange':
      tables.putBroker(changedBroker(brokerNamed(tables, record.brokerId, record.brokerEpoch), record))
      break
    case 'fenceBroker':
      tables.putBroker({ ...brokerNamed(tables, record.id, record.epoch), fenced: true })
      break
    case 'unfenceBroker':
      tables.putBroker({ ...brokerNamed(tables, record.id, record.epoch), fenced: false })
      break
    case 'registerController':
      tables.putController(record)
      break
    case 'unregisterController':
      tables.removeController(record.controllerId)
      break
    case 'config':
      applyConfig(tables, record)
      break
    case 'featureLevel':
      tables.setFeature(record.name, record.featureLevel)
      break
    case 'producerIds':
      tables.setNextProducerId(record.nextProducerId)
      break
    case 'noOp':
      break
    case 'unknown':
      tables.addUnknown(record)
      break
    default:
      keep(tables, record)
      break
  }
}

function partitionNamed(tables: MetadataTables, record: RecordOf<'partitionChange'>): PartitionImage {
  const partition = tables.partition(record.topicId, record.partitionId)
  assert(partition !== undefined, 'a partition that changes is there')
  return partition
}

function brokerNamed(tables: MetadataTables, id: number, epoch: number): BrokerImage {
  const broker = tables.broker(id)
  assert(broker !== undefined, 'a broker that changes is registered')
  assert(broker.epoch === epoch, 'a change of a broker is of its present life')
  return broker
}

/** Its settings go with it. */
function removeTopic(tables: MetadataTables, { topicId }: RecordOf<'removeTopic'>): void {
  const resourceName = tables.topicNameOf(topicId)
  assert(resourceName !== undefined, 'a topic that is removed is there')
  tables.removeTopic(topicId)
  const resource = { resourceType: ResourceType.topic, resourceName }
  if (tables.config(resource.resourceType, resourceName).size > 0) tables.putConfig({ ...resource, config: new Map() })
}

function applyConfig(tables: MetadataTables, { resourceType, resourceName, name, value }: RecordOf<'config'>): void {
  const config = new Map(tables.config(resourceType, resourceName))
  if (value === null) config.delete(name)
  else config.set(name, value)
  tables.putConfig({ resourceType, resourceName, config })
}

/** Of one topic, or of all where none is named. */
function clearElr(tables: MetadataTables, { topicName }: RecordOf<'clearElr'>): void {
  for (const topicId of topicName === '' ? tables.topicIds() : [tables.topicIdOf(topicName)]) {
    if (topicId === undefined) continue
    for (const id of tables.partitionIds(topicId)) {
      const partition = tables.partition(topicId, id)
      if (!partition || partition.elr.length + partition.lastKnownElr.length === 0) continue
      const partitionEpoch = partition.partitionEpoch + 1
      tables.putPartition({ ...partition, elr: [], lastKnownElr: [], partitionEpoch })
    }
  }
}

type KeptRecord = RecordOf<KeptType>

type KeptType =
  | 'accessControlEntry'
  | 'removeAccessControlEntry'
  | 'userScramCredential'
  | 'removeUserScramCredential'
  | 'delegationToken'
  | 'removeDelegationToken'
  | 'clientQuota'
  | 'zkMigrationState'

/** State of parts that Millrace does not have yet: each record is kept until another takes its place or removes it. */
function keep(tables: MetadataTables, record: KeptRecord): void {
  switch (record.type) {
    case 'accessControlEntry':
      tables.keep(`acl ${record.id}`, record)
      break
    case 'removeAccessControlEntry':
      tables.keep(`acl ${record.id}`, undefined)
      break
    case 'userScramCredential':
      tables.keep(`scram ${record.mechanism} ${record.name}`, record)
      break
    case 'removeUserScramCredential':
      tables.keep(`scram ${record.mechanism} ${record.name}`, undefined)
      break
    case 'delegationToken':
      tables.keep(`token ${record.tokenId}`, record)
      break
    case 'removeDelegationToken':
      tables.keep(`token ${record.tokenId}`, undefined)
      break
    case 'clientQuota':
      tables.keep(`quota ${quotaKey(record)}`, record.remove ? undefined : record)
      break
    case 'zkMigrationState':
      tables.keep('zk', record)
      break
    default:
      unreachable(record)
  }
}

/** The parts of an entity are a set: their order means nothing. */
function quotaKey({ entity, key }: RecordOf<'clientQuota'>): string {
  const parts = entity.map(({ entityType, entityName }) => JSON.stringify([entityType, entityName]))
  return `${parts.sort().join(' ')} ${key}`
}
