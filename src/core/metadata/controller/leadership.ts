import { noLeader, type PartitionImage } from '../partition-image.ts'
import type { RecordOf } from '../records.ts'
import {
  type ControllerState,
  type ElectionRules,
  electionRules,
  isActiveBroker,
  metadataVersionOf,
  textsInForce,
} from './controller-state.ts'
import type { Draft } from './draft.ts'
import { decidePartitionChange } from './partition-change.ts'

interface BrokerMove {
  /** Leaves every ISR it is in and leads nothing. */
  readonly leaving?: number
  /** May lead from now on. */
  readonly coming?: number
  /** Of `leaving`: it may have lost what it had. */
  readonly isUnclean?: boolean
}

/** Elects leaders and shrinks in-sync replicas in all partitions that a broker's coming or going concerns. */
export function moveLeaderships(
  state: ControllerState,
  draft: Draft,
  { leaving, coming, isUnclean }: BrokerMove,
): void {
  const metadataVersion = metadataVersionOf(state)
  const broker = textsInForce(state)
  const mayLead = (id: number) => id !== leaving && (id === coming || isActiveBroker(state, id))
  for (const topic of state.metadata.topics()) {
    let rules: ElectionRules | undefined
    for (const partition of topic.partitions) {
      if (!isConcerned(partition, leaving, coming, isUnclean)) continue
      rules ??= electionRules(state, topic.name, broker)
      const isr = partition.isr.filter(id => id !== leaving)
      const uncleanBroker = isUnclean ? leaving : undefined
      const change = decidePartitionChange(partition, { isr, mayLead, rules, metadataVersion, uncleanBroker })
      if (change) draft.add(change)
    }
  }
}

function isConcerned(
  partition: PartitionImage,
  leaving: number | undefined,
  coming: number | undefined,
  isUnclean: boolean | undefined,
): boolean {
  if (coming !== undefined) return partition.leader === noLeader && partition.replicas.includes(coming)
  if (leaving === undefined) return false
  return partition.isr.includes(leaving) || (isUnclean === true && partition.elr.includes(leaving))
}

type RegistrationChange = RecordOf<'brokerRegistrationChange'>

/** A change of a broker's registration, in the oldest version that can say it. */
export function registrationChange(
  broker: { readonly brokerId: number; readonly brokerEpoch: number },
  change: Partial<Pick<RegistrationChange, 'fenced' | 'inControlledShutdown' | 'logDirs' | 'cordonedLogDirs'>>,
): RegistrationChange {
  const version = change.cordonedLogDirs ? 3 : change.logDirs ? 2 : change.inControlledShutdown ? 1 : 0
  return {
    type: 'brokerRegistrationChange',
    version,
    ...broker,
    fenced: 0,
    inControlledShutdown: 0,
    logDirs: [],
    cordonedLogDirs: null,
    ...change,
  }
}

/** Takes a broker out of service. The records may lie in several batches: each leaves a state that is right. */
export function fenceBroker(state: ControllerState, draft: Draft, brokerId: number): void {
  const broker = state.metadata.broker(brokerId)
  if (!broker) return
  moveLeaderships(state, draft, { leaving: brokerId })
  draft.add(registrationChange({ brokerId, brokerEpoch: broker.epoch }, { fenced: 1 }))
  draft.maySplit = true
}
