import type { Listener } from '../../config/listeners.ts'
import { type Endpoint, NetworkError } from '../../io/network.ts'
import { apiOf } from '../../protocol/apis.ts'
import { allHandlers } from '../handlers/all-handlers.ts'
import { bind, bindProblem } from '../network/bind.ts'
import { SocketServer } from '../network/socket-server.ts'
import { StartError } from '../start-error.ts'
import type { BrokerParts } from './broker-parts.ts'
import { brokerServices } from './broker-services.ts'

/** Binds all listeners of brokers. Nobody is served yet. Rejects with `StartError`. */
export async function startListening(parts: BrokerParts): Promise<void> {
  const { clock, network, log } = parts.io
  const config = parts.config
  const server = new SocketServer({
    clock,
    network,
    log,
    budget: parts.budget,
    metrics: parts.metrics,
    handlers: allHandlers(brokerServices(parts)),
    apiName: apiKey => apiOf(apiKey)?.name ?? String(apiKey),
    maxRequestBytes: config.socketRequestMaxBytes,
    maxIdleMs: config.connectionsMaxIdleMs,
    frameTimeoutMs: config.millraceFrameTimeoutMs,
    slowReaderTimeoutMs: config.millraceSlowReaderTimeoutMs,
    failed: error => parts.fail(error),
    maxConnections: () => parts.config.maxConnections,
    maxConnectionsOf: address =>
      parts.config.maxConnectionsPerIpOverrides.get(address) ?? parts.config.maxConnectionsPerIp,
  })
  parts.server = server
  for (const listener of config.brokerListeners) {
    const port = await bindListener(listener, {
      listen: endpoint => server.listen(listener.name, endpoint),
      stop: () => server.stopListening(listener.name),
    })
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

/**
 * Looks whether all listeners can be bound, and gives them back. An empty directory is not to be formatted by a start that comes to
 * nothing. Rejects with `StartError`.
 */
export async function tryListening({ io, config, options }: BrokerParts): Promise<void> {
  const bound: { close(): Promise<void> }[] = []
  const stop = async () => {
    for (const listener of bound.splice(0)) await listener.close()
  }
  const listen = async (endpoint: Endpoint) => {
    const listener = await io.network.listen(endpoint, { accept: connection => connection.destroy() })
    bound.push(listener)
    return listener.endpoint
  }
  try {
    for (const listener of config.brokerListeners)
      if (listener.port !== 0) await bindListener(listener, { listen, stop: () => Promise.resolve() })
    await options.beforeFormat?.()
  } finally {
    await stop()
  }
}

interface Binding {
  readonly listen: (endpoint: Endpoint) => Promise<Endpoint>
  readonly stop: () => Promise<void>
}

async function bindListener({ name, host, port }: Listener, { listen, stop }: Binding): Promise<number> {
  try {
    return await bind({ host, port }, listen, stop)
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error
    const where = `${host === '' ? 'all interfaces' : host}, port ${port}`
    throw new StartError(`listeners: ${name} cannot listen on ${where}: ${bindProblem(error)}`, { cause: error })
  }
}
