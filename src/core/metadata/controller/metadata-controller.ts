import { assert, unreachable } from '../../../base/assert.ts'
import { ErrorCode } from '../../../base/error-code.ts'
import type { Now } from '../../../base/time.ts'
import type { StateMachine } from '../../state-machine/state-machine.ts'
import { applyRecord } from '../apply-record.ts'
import { metadataVersionFeature } from '../features.ts'
import type { MetadataStore } from '../metadata-store.ts'
import type { MetadataRecord } from '../records.ts'
import { decideAlterConfigs, decideIncrementalAlterConfigs } from './alter-configs.ts'
import { decideAlterPartition } from './alter-partition.ts'
import { decideBrokerHeartbeat, decideTimeout } from './broker-heartbeat.ts'
import { decideRegisterBroker, decideRegisterController } from './broker-registration.ts'
import { BrokerSessions, type SessionChange } from './broker-sessions.ts'
import type { ActivateCommand, ControllerCommand } from './commands.ts'
import type { ControllerOptions, ControllerState } from './controller-state.ts'
import { decideCreatePartitions } from './create-partitions.ts'
import { decideCreateTopics } from './create-topics.ts'
import { decideDeleteTopics } from './delete-topics.ts'
import { decideAssignReplicasToDirs } from './directories.ts'
import { type ControllerDecision, Draft } from './draft.ts'
import { decideAllocateProducerIds } from './producer-ids.ts'
import { type ControllerReply, failureReply } from './replies.ts'
import { decideUpdateFeatures } from './update-features.ts'

/** Kafka's bound on what one request of a client may write: it is one batch, and everybody waits until it is carried out. */
const maxRecordsPerRequest = 10_000
const clientCommands: ReadonlySet<ControllerCommand['type']> = new Set([
  'createTopics',
  'deleteTopics',
  'createPartitions',
  'incrementalAlterConfigs',
  'alterConfigs',
])

/** Where the controller's own state begins: a copy of the committed image, and the offset up to which that goes. */
export interface ControllerStart {
  readonly metadata: MetadataStore
  readonly endOffset: number
}

/**
 * Decides for the cluster: which brokers it has, which topics, partitions and leaders, which settings, features and producer
 * ids. Made by the quorum's leader once its own LeaderChange is committed, from a copy of the image as it is then, so
 * there is nothing to replay; dropped when the leader is deposed. It runs ahead of the image by what is not committed.
 *
 * Durable is the metadata; soft are the sessions of brokers.
 */
export class MetadataController
  implements StateMachine<ControllerCommand, MetadataRecord, SessionChange, ControllerReply, never, undefined>
{
  readonly #options: ControllerOptions
  readonly #metadata: MetadataStore
  readonly #sessions: BrokerSessions
  #endOffset: number

  constructor(options: ControllerOptions, { metadata, endOffset }: ControllerStart) {
    this.#options = options
    this.#metadata = metadata
    this.#endOffset = endOffset
    this.#sessions = new BrokerSessions(options.config.brokerSessionTimeoutMs)
  }

  decide(command: ControllerCommand, now: Now): ControllerDecision {
    const draft = this.#draft(command, new Draft(now))
    if (draft.records.length <= maxRecordsPerRequest || !clientCommands.has(command.type)) return draft.finish()
    const message = 'Unable to perform excessively large batch operation.'
    return new Draft(now).reply(command, failureReply(command, ErrorCode.policyViolation, message)).finish()
  }

  apply(record: MetadataRecord, { offset }: { readonly offset: number }): void {
    assert(offset >= this.#endOffset, 'records are applied once, in their order')
    assert(
      record.type !== 'beginTransaction' && record.type !== 'endTransaction',
      'the controller opens no transaction',
    )
    if (record.type !== 'abortTransaction') applyRecord(this.#metadata, record)
    this.#endOffset = offset + 1
  }

  applyMarker(): void {
    assert(false, 'the metadata log has no transaction markers')
  }

  applySoft(change: SessionChange): void {
    this.#sessions.apply(change)
  }

  loaded(now: Now): void {
    this.#sessions.start(this.#inService(), now.monotonicMs)
  }

  nextDeadlineMs(): number | undefined {
    return this.#sessions.earliestEndMs(this.#inService())
  }

  inspect(): { readonly durable: unknown; readonly soft: unknown } {
    return { durable: this.#metadata.inspect(), soft: this.#sessions.inspect() }
  }

  *#inService(): Iterable<number> {
    for (const broker of this.#metadata.brokers()) if (!broker.fenced) yield broker.id
  }

  #draft(command: ControllerCommand, draft: Draft): Draft {
    const state: ControllerState = {
      options: this.#options,
      metadata: this.#metadata,
      sessions: this.#sessions,
      endOffset: this.#endOffset,
    }
    switch (command.type) {
      case 'registerBroker':
        return decideRegisterBroker(command, state, draft)
      case 'brokerHeartbeat':
        return decideBrokerHeartbeat(command, state, draft)
      case 'registerController':
        return decideRegisterController(command, state, draft)
      case 'createTopics':
        return decideCreateTopics(command, state, draft)
      case 'deleteTopics':
        return decideDeleteTopics(command, state, draft)
      case 'createPartitions':
        return decideCreatePartitions(command, state, draft)
      case 'incrementalAlterConfigs':
        return decideIncrementalAlterConfigs(command, state, draft)
      case 'alterConfigs':
        return decideAlterConfigs(command, state, draft)
      case 'alterPartition':
        return decideAlterPartition(command, state, draft)
      case 'assignReplicasToDirs':
        return decideAssignReplicasToDirs(command, state, draft)
      case 'allocateProducerIds':
        return decideAllocateProducerIds(command, state, draft)
      case 'updateFeatures':
        return decideUpdateFeatures(command, state, draft)
      case 'activate':
        return decideActivate(command, state, draft)
      case 'timeout':
        return decideTimeout(state, draft)
      default:
        return unreachable(command)
    }
  }
}

/** Ends what a controller before has left open, and gives a new cluster what it was formatted with. */
function decideActivate(command: ActivateCommand, { metadata }: ControllerState, draft: Draft): Draft {
  if (command.hasOpenTransaction) {
    draft.add({ type: 'abortTransaction', version: 0, reason: 'failover' })
  }
  const isNew = metadata.featureLevel(metadataVersionFeature) === 0
  if (isNew) draft.add(...command.bootstrapRecords)
  return draft
}
