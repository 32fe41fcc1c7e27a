import { ErrorCode } from '../../base/error-code.ts'
import type { Api, Body } from '../../channel/channel-options.ts'
import type { Fields, Infer, Message } from '../../protocol/schema.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { toMillraceError } from '../millrace-error.ts'

/** The connection of admin calls: they may take long, and nothing else should wait for them. */
export const adminLane = 'admin'
/** How much longer than the broker may take its answer may be on its way. */
export const answerGraceMs = 5000

/** One request to the controller, or to a broker that passes it on. Tried once. */
export async function sendToController<Q extends Fields, R extends Fields>(
  cluster: Cluster,
  api: Api<Q, R>,
  body: Body<Q>,
  leftMs: number,
): Promise<Infer<Message<R>>> {
  const isKnown = () => cluster.metadata.broker(cluster.metadata.controllerId) !== undefined
  if (!isKnown()) await cluster.refresh(leftMs)
  const options = { lane: adminLane, timeoutMs: leftMs + answerGraceMs }
  if (!isKnown()) return cluster.sendToAny(api, body, options)
  try {
    return await cluster.send(cluster.metadata.controllerId, api, body, options)
  } catch (thrown) {
    // A controller that cannot be reached is no longer the controller before long.
    const error = toMillraceError(thrown)
    if (error.retriable) cluster.metadata.controllerId = -1
    throw error
  }
}

/** To be told of every answer: who is not the controller is not asked again before there is newer metadata. */
export function noteControllerError(cluster: Cluster, errorCode: ErrorCode): void {
  if (errorCode === ErrorCode.notController) cluster.metadata.controllerId = -1
}
