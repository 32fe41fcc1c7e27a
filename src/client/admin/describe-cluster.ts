import { ErrorCode } from '../../base/error-code.ts'
import { type ApiKey, apiOf } from '../../protocol/apis.ts'
import { describeClusterRequest, describeClusterResponse } from '../../protocol/messages/describe-cluster.ts'
import { metadataApi } from '../cluster/api-messages.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { brokerError, toMillraceError } from '../millrace-error.ts'
import type { AdminOptions } from './admin-result.ts'
import { adminLane } from './controller.ts'

const describeClusterApi = { request: describeClusterRequest, response: describeClusterResponse }

export interface ClusterDescription {
  readonly clusterId: string
  /** -1 if unknown. Where brokers are no controllers, any broker. */
  readonly controllerId: number
  readonly brokers: readonly {
    readonly nodeId: number
    readonly host: string
    readonly port: number
    readonly rack: string | null
    /** Registered, but not serving. Only where they were asked for. */
    readonly isFenced: boolean
  }[]
}

export interface ApiVersionRange {
  readonly apiKey: ApiKey
  /** undefined for an API that this client does not know. */
  readonly name: string | undefined
  readonly minVersion: number
  readonly maxVersion: number
  /** The version in which this client speaks it; undefined when there is none in common. */
  readonly usedVersion: number | undefined
}

export interface NodeVersions {
  readonly apis: readonly ApiVersionRange[]
  readonly features: readonly { readonly name: string; readonly minVersion: number; readonly maxVersion: number }[]
  /** Levels that the cluster has agreed on. */
  readonly finalizedFeatures: readonly { readonly name: string; readonly level: number }[]
}

export async function describeCluster(
  cluster: Cluster,
  options: AdminOptions & { readonly includeFencedBrokers?: boolean },
): Promise<ClusterDescription> {
  const { timeoutMs = cluster.config.apiTimeoutMs, includeFencedBrokers = false } = options
  return cluster.retry('describing the cluster', timeoutMs, async leftMs => {
    const where = { lane: adminLane, timeoutMs: leftMs }
    try {
      const answer = await cluster.sendToAny(
        describeClusterApi,
        version => ({
          includeClusterAuthorizedOperations: false,
          ...(version >= 2 ? { includeFencedBrokers } : {}),
        }),
        where,
      )
      if (answer.errorCode !== ErrorCode.none) throw brokerError(answer.errorCode, 'the cluster', answer.errorMessage)
      const brokers = answer.brokers.map(({ brokerId, ...one }) => ({ nodeId: brokerId, ...one }))
      return { clusterId: answer.clusterId, controllerId: answer.controllerId, brokers }
    } catch (thrown) {
      if (toMillraceError(thrown).code !== 'UNSUPPORTED_VERSION') throw thrown
    }
    const answer = await cluster.sendToAny(metadataApi, { topics: [] }, where)
    const brokers = answer.brokers.map(one => ({ ...one, isFenced: false }))
    return { clusterId: answer.clusterId ?? '', controllerId: answer.controllerId, brokers }
  })
}

/** What one broker speaks. Without `nodeId` any broker is asked. */
export async function describeVersions(
  cluster: Cluster,
  nodeId: number | undefined,
  options: AdminOptions,
): Promise<NodeVersions> {
  const { timeoutMs = cluster.config.apiTimeoutMs } = options
  const channel = await cluster.retry('asking for versions', timeoutMs, async leftMs => {
    if (nodeId !== undefined && cluster.metadata.broker(nodeId) === undefined) await cluster.refresh(leftMs)
    return cluster.channelTo(nodeId ?? cluster.anyNode(adminLane), { lane: adminLane, timeoutMs: leftMs })
  })
  const { apiKeys, supportedFeatures, finalizedFeatures } = channel.apiVersions
  return {
    apis: apiKeys.map(({ apiKey, minVersion, maxVersion }) => {
      const usedVersion = channel.versionOf(apiKey)
      return { apiKey, name: apiOf(apiKey)?.name, minVersion, maxVersion, usedVersion }
    }),
    features: supportedFeatures,
    finalizedFeatures: finalizedFeatures.map(({ name, maxVersionLevel: level }) => ({ name, level })),
  }
}
