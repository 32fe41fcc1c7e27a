import type { Uuid } from '../../base/uuid.ts'
import type { BrokerEndpoint, BrokerFeature } from '../../protocol/records/metadata-nodes.ts'
import type { RecordOf } from './records.ts'

/** One registered broker. Never changed: a change makes a new one. */
export interface BrokerImage {
  readonly id: number
  /** One for each life of a broker; grows over all brokers. */
  readonly epoch: number
  readonly incarnationId: Uuid
  readonly endpoints: readonly BrokerEndpoint[]
  readonly features: readonly BrokerFeature[]
  readonly rack: string | null
  /** Not yet, or no longer, in service: leads nothing and is in no ISR. */
  readonly fenced: boolean
  readonly inControlledShutdown: boolean
  readonly logDirs: readonly Uuid[]
  /** Directories that take no new replicas. */
  readonly cordonedLogDirs: readonly Uuid[]
  readonly isMigratingZkBroker: boolean
}

/** May lead and be in sync. */
export function isActive(broker: BrokerImage | undefined): boolean {
  return broker !== undefined && !broker.fenced && !broker.inControlledShutdown
}

export function brokerOf(record: RecordOf<'registerBroker'>): BrokerImage {
  return {
    id: record.brokerId,
    epoch: record.brokerEpoch,
    incarnationId: record.incarnationId,
    endpoints: record.endPoints,
    features: record.features,
    rack: record.rack,
    fenced: record.fenced,
    inControlledShutdown: record.inControlledShutdown,
    logDirs: record.logDirs,
    cordonedLogDirs: record.cordonedLogDirs ?? [],
    isMigratingZkBroker: record.isMigratingZkBroker,
  }
}

/** In a change, 1 is fenced and -1 unfenced; no directories are those before. */
export function changedBroker(before: BrokerImage, change: RecordOf<'brokerRegistrationChange'>): BrokerImage {
  return {
    ...before,
    fenced: change.fenced === 0 ? before.fenced : change.fenced > 0,
    inControlledShutdown:
      change.inControlledShutdown === 0 ? before.inControlledShutdown : change.inControlledShutdown > 0,
    logDirs: change.logDirs.length === 0 ? before.logDirs : change.logDirs,
    cordonedLogDirs: change.cordonedLogDirs ?? before.cordonedLogDirs,
  }
}
