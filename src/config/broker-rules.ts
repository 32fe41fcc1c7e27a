import type { BrokerConfig } from './broker-config.ts'
import { findSharedPort, listenerText } from './listeners.ts'

/** A rule across settings that is broken; `key` is the one to change. */
export interface BrokenRule {
  readonly key: string
  readonly allowed: string
  /** The part of the value that breaks it; undefined: the whole. */
  readonly given?: string
}

/** Kafka's rules that no setting can check for itself, and Millrace's. `given` tells which settings have a value of their own. */
export function brokenRules(config: BrokerConfig, given: ReadonlySet<string>): readonly BrokenRule[] {
  return [...brokenListenerRules(config), ...brokenQuorumRules(config), ...brokenLimitRules(config, given)]
}

function brokenListenerRules(config: BrokerConfig): BrokenRule[] {
  const broken: BrokenRule[] = []
  const all = [...config.brokerListeners, ...config.controllerListeners]
  const secured = all.find(one => one.securityProtocol !== 'PLAINTEXT')
  const shared = findSharedPort(all)
  if (secured) {
    const allowed = `PLAINTEXT listeners only, so far; by listener.security.protocol.map this is ${secured.securityProtocol}`
    // Nothing else about the listeners is worth saying before this is mended.
    return [{ key: 'listeners', given: listenerText(secured), allowed }]
  }
  if (shared !== undefined) {
    broken.push({ key: 'listeners', allowed: `a port of its own for each listener, and ${shared} is shared` })
  }
  if (config.isBroker) broken.push(...brokenAdvertisedRules(config))
  if (config.isController && config.controllerListeners.length === 0) {
    broken.push({
      key: 'controller.listener.names',
      allowed: 'at least one that stands in listeners, for a controller',
    })
  }
  if (!config.isController && config.controllerListeners.length > 0) {
    broken.push({ key: 'listeners', allowed: 'none of controller.listener.names, for a node that is only a broker' })
  }
  if (!config.isBroker && config.brokerListeners.length > 0) {
    broken.push({
      key: 'listeners',
      allowed: 'only those of controller.listener.names, for a node that is only a controller',
    })
  }
  return broken
}

function brokenAdvertisedRules({ advertisedListeners, brokerListeners, interBrokerListenerName }: BrokerConfig) {
  const broken: BrokenRule[] = []
  const names = brokerListeners.map(one => one.name)
  const stranger = advertisedListeners.find(one => !names.includes(one.name))
  if (advertisedListeners.length === 0) {
    broken.push({ key: 'listeners', allowed: 'at least one that is not in controller.listener.names, for a broker' })
  } else if (!advertisedListeners.some(one => one.name === interBrokerListenerName)) {
    const allowed = `one of the advertised listeners: ${advertisedListeners.map(one => one.name).join(', ')}`
    broken.push({ key: 'inter.broker.listener.name', allowed })
  }
  if (stranger)
    broken.push({ key: 'advertised.listeners', allowed: `names that stand in listeners: ${names.join(', ')}` })
  if (advertisedListeners.some(one => one.host === '0.0.0.0' || one.host === '::')) {
    broken.push({ key: 'advertised.listeners', allowed: 'an address that others can connect to' })
  }
  return broken
}

function brokenQuorumRules(config: BrokerConfig): BrokenRule[] {
  const voters = config.controllerQuorumVoters.map(voter => voter.id)
  const key = 'controller.quorum.voters'
  if (voters.length === 0 && config.controllerQuorumBootstrapServers.length === 0) {
    return [{ key, allowed: 'a list of ID@HOST:PORT, or controller.quorum.bootstrap.servers' }]
  }
  if (new Set(voters).size !== voters.length) return [{ key, allowed: 'each id once' }]
  if (config.isController && voters.length > 0 && !voters.includes(config.nodeId)) {
    return [{ key, allowed: `a list with node ${config.nodeId}, since this node is a controller` }]
  }
  if (!config.isController && voters.includes(config.nodeId)) {
    return [{ key, allowed: `a list without node ${config.nodeId}, since this node is only a broker` }]
  }
  return []
}

/** The rules of Kafka on single numbers that a range cannot say, and those on pairs. */
function brokenLimitRules(config: BrokerConfig, given: ReadonlySet<string>): BrokenRule[] {
  const rules: [boolean, string, string][] = [
    [config.logRetentionMs === 0, firstGiven(given, 'log.retention', ['ms', 'minutes', 'hours']), '-1, or at least 1'],
    [config.logRollMs < 1, 'log.roll.ms', 'at least 1'],
    [config.logRollJitterMs < 0, 'log.roll.jitter.ms', 'at least 0'],
    [
      config.queuedMaxRequestBytes > 0 && config.queuedMaxRequestBytes < config.socketRequestMaxBytes,
      'queued.max.request.bytes',
      `-1, or at least socket.request.max.bytes (${config.socketRequestMaxBytes})`,
    ],
    [
      config.replicaFetchWaitMaxMs > config.replicaLagTimeMaxMs,
      'replica.fetch.wait.max.ms',
      `at most replica.lag.time.max.ms (${config.replicaLagTimeMaxMs})`,
    ],
    [
      config.maxConnectionsPerIp === 0 && config.maxConnectionsPerIpOverrides.size === 0,
      'max.connections.per.ip',
      'at least 1 unless max.connections.per.ip.overrides is given',
    ],
    [
      config.offsetsTopicCompressionCodec < 0 || config.offsetsTopicCompressionCodec > 4,
      'offsets.topic.compression.codec',
      'a whole number from 0 to 4',
    ],
    [
      given.has('inter.broker.listener.name') && given.has('security.inter.broker.protocol'),
      'security.inter.broker.protocol',
      'only one of it and inter.broker.listener.name',
    ],
    [
      config.logCleanerEnable &&
        config.logCleanerThreads > 0 &&
        config.logCleanerDedupeBufferSize / config.logCleanerThreads <= 1_048_576,
      'log.cleaner.dedupe.buffer.size',
      'more than 1048576 for each of log.cleaner.threads',
    ],
    [config.authorizerClassName !== '', 'authorizer.class.name', 'nothing, since there is no authorizer so far'],
  ]
  return rules.filter(([isBroken]) => isBroken).map(([, key, allowed]) => ({ key, allowed }))
}

function firstGiven(given: ReadonlySet<string>, prefix: string, units: readonly string[]): string {
  return units.map(unit => `${prefix}.${unit}`).find(name => given.has(name)) ?? `${prefix}.${units[0]}`
}
