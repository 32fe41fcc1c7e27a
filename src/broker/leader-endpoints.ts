import type { NodeEndpoint } from '../protocol/messages/produce.ts'
import type { Request } from './network/request.ts'
import type { BrokerServices } from './services.ts'

/** KIP-951: where the leaders are that an answer names, each once. */
export function leaderEndpoints(
  services: BrokerServices,
  request: Request,
  leaderIds: ReadonlySet<number>,
): readonly NodeEndpoint[] {
  if (leaderIds.size === 0) return []
  return services.nodeEndpoints(request).filter(({ nodeId }) => leaderIds.has(nodeId))
}
