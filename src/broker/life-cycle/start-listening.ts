import { listenerText } from '../../config/listener-text.ts'
import type { Listener } from '../../config/listeners.ts'
import { NetworkError } from '../../io/network.ts'
import { apiOf } from '../../protocol/apis.ts'
import { bind, bindProblem } from '../network/bind.ts'
import { SocketServer } from '../network/socket-server.ts'
import { StartError } from '../start-error.ts'
import type { BrokerParts } from './broker-parts.ts'

const maxInt32 = 2 ** 31 - 1

/** Binds all listeners of brokers, unless they are. Nobody is served yet. Rejects with `StartError`. */
export async function startListening(parts: BrokerParts): Promise<void> {
  if (parts.server !== undefined) return
  const { clock, network, log } = parts.io
  const config = parts.config
  const server = new SocketServer({
    clock,
    network,
    log,
    budget: parts.budget,
    metrics: parts.metrics,
    apiName: apiKey => apiOf(apiKey)?.name ?? String(apiKey),
    maxRequestBytes: config.socketRequestMaxBytes,
    maxIdleMs: config.connectionsMaxIdleMs,
    frameTimeoutMs: config.millraceFrameTimeoutMs,
    slowReaderTimeoutMs: config.millraceSlowReaderTimeoutMs,
    failed: error => parts.fail(error),
    maxConnections: () => parts.config.maxConnections,
    maxConnectionsOfListener: name =>
      Number(listenerText(parts.effectiveTexts, name, 'max.connections') ?? Number.POSITIVE_INFINITY),
    maxConnectionsOf: address =>
      parts.config.maxConnectionsPerIpOverrides.get(address) ?? parts.config.maxConnectionsPerIp,
    creationRates: listenerName => creationRates(parts, listenerName),
    backlog: parts.texts.has('socket.listen.backlog.size') ? config.socketListenBacklogSize : undefined,
  })
  parts.server = server
  for (const listener of config.brokerListeners) {
    const port = await bindListener(server, listener)
    const advertised = config.advertisedListeners.find(one => one.name === listener.name)
    if (advertised === undefined) continue
    parts.listeners.push({
      name: listener.name,
      host: listener.host,
      port,
      advertisedHost: advertised.host || parts.options.hostName,
      advertisedPort: advertised.port === 0 ? port : advertised.port,
    })
  }
}

/** As in Kafka, brokers among themselves are not held up by a storm of clients on another listener. */
function creationRates({ config, effectiveTexts }: BrokerParts, listenerName: string) {
  const { brokerListeners, interBrokerListenerName, maxConnectionCreationRate } = config
  const isExempt = brokerListeners.length > 1 && listenerName === interBrokerListenerName
  const own = listenerText(effectiveTexts, listenerName, 'max.connection.creation.rate')
  return {
    broker: isExempt ? undefined : unlessUnlimited(maxConnectionCreationRate),
    listener: own === undefined ? Number.POSITIVE_INFINITY : unlessUnlimited(Number(own)),
  }
}

function unlessUnlimited(rate: number): number {
  return rate === maxInt32 ? Number.POSITIVE_INFINITY : rate
}

async function bindListener(server: SocketServer, { name, host, port }: Listener): Promise<number> {
  try {
    return await bind(
      { host, port },
      endpoint => server.listen(name, endpoint),
      () => server.stopListening(name),
    )
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error
    const where = `${host === '' ? 'all interfaces' : host}, port ${port}`
    throw new StartError(`listeners: ${name} cannot listen on ${where}: ${bindProblem(error)}`, { cause: error })
  }
}
