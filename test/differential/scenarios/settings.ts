import { api } from '../../end-to-end/api.ts'
import type { Side } from '../side.ts'
import { range, type Scenarios } from './scenario.ts'

const type = { topic: 2, broker: 4, logger: 8, clientMetrics: 16, group: 32 }
const operation = { set: 0, delete: 1, append: 2, subtract: 3 }

/** Kafka answers before the change is in what it describes. */
async function then(side: Side): Promise<void> {
  if (side.name === 'kafka') await new Promise(resolve => setTimeout(resolve, 150))
}

async function described(
  side: Side,
  label: string,
  resourceType: number,
  resourceName: string,
  keys: string[] | null = null,
  version = 4,
) {
  if (label.includes('then')) await then(side)
  return await side.ask(label, api.describeConfigs, version, {
    resources: [{ resourceType, resourceName, configurationKeys: keys }],
    includeSynonyms: true,
  })
}

interface Change {
  readonly name: string
  readonly value: string | null
  readonly operation?: number
}

function altered(
  side: Side,
  label: string,
  resourceType: number,
  resourceName: string,
  changes: readonly Change[],
  validateOnly = false,
) {
  return side.ask(label, api.incrementalAlterConfigs, 1, {
    resources: [
      {
        ...{ resourceType, resourceName },
        configs: changes.map(change => ({ ...change, configOperation: change.operation ?? operation.set })),
      },
    ],
    validateOnly,
  })
}

const wrongTopicChanges: Readonly<Record<string, readonly Change[]>> = {
  nothing: [],
  'an unknown key': [{ name: 'no.such.thing', value: '1' }],
  'an unknown key deleted': [{ name: 'no.such.thing', value: null, operation: operation.delete }],
  'not a number': [{ name: 'retention.ms', value: 'x' }],
  'an empty number': [{ name: 'retention.ms', value: '' }],
  'too small': [{ name: 'segment.bytes', value: '1' }],
  'a null value': [{ name: 'retention.ms', value: null }],
  'not a boolean': [{ name: 'unclean.leader.election.enable', value: 'yes' }],
  'a boolean in capitals': [{ name: 'preallocate', value: 'TRUE' }],
  'spaces around': [{ name: 'retention.ms', value: ' 1000 ' }],
  'an unknown choice': [{ name: 'compression.type', value: 'rar' }],
  'the same key twice': [
    { name: 'retention.ms', value: '1' },
    { name: 'retention.ms', value: '2' },
  ],
  'append to a number': [{ name: 'retention.ms', value: '1', operation: operation.append }],
  'an unknown operation': [{ name: 'retention.ms', value: '1', operation: 9 }],
  'append nonsense to a list': [{ name: 'cleanup.policy', value: 'x', operation: operation.append }],
  'append what is there': [{ name: 'cleanup.policy', value: 'delete', operation: operation.append }],
  append: [{ name: 'cleanup.policy', value: 'compact', operation: operation.append }],
  'subtract what is not there': [{ name: 'cleanup.policy', value: 'none', operation: operation.subtract }],
  subtract: [{ name: 'cleanup.policy', value: 'delete', operation: operation.subtract }],
  'subtract the last': [{ name: 'cleanup.policy', value: 'compact', operation: operation.subtract }],
  'append several': [{ name: 'cleanup.policy', value: 'delete,compact', operation: operation.append }],
  'append null': [{ name: 'cleanup.policy', value: null, operation: operation.append }],
  delete: [{ name: 'cleanup.policy', value: null, operation: operation.delete }],
  'delete with a value': [{ name: 'cleanup.policy', value: 'compact', operation: operation.delete }],
  'one good, one bad': [
    { name: 'retention.ms', value: '5000' },
    { name: 'segment.ms', value: 'x' },
  ],
  'min above max': [
    { name: 'min.compaction.lag.ms', value: '10' },
    { name: 'max.compaction.lag.ms', value: '5' },
  ],
  'a broker setting': [{ name: 'log.retention.ms', value: '1' }],
  'good ones': [
    { name: 'retention.ms', value: '5000' },
    { name: 'max.message.bytes', value: '2000' },
  ],
}

const brokerChanges: Readonly<Record<string, readonly Change[]>> = {
  'an unknown key': [{ name: 'no.such.thing', value: '1' }],
  'read-only': [{ name: 'node.id', value: '9' }],
  'read-only of no harm': [{ name: 'num.partitions', value: '3' }],
  'cluster-wide': [{ name: 'log.retention.ms', value: '123456' }],
  'not a number': [{ name: 'log.retention.ms', value: 'x' }],
  'a number out of range': [{ name: 'max.connections', value: '-1' }],
  'per broker': [{ name: 'max.connections.per.ip', value: '1000' }],
  'a list': [{ name: 'log.cleanup.policy', value: 'compact', operation: operation.append }],
  'deleted again': [
    { name: 'log.retention.ms', value: null, operation: operation.delete },
    { name: 'max.connections.per.ip', value: null, operation: operation.delete },
    { name: 'log.cleanup.policy', value: null, operation: operation.delete },
    { name: 'no.such.thing', value: null, operation: operation.delete },
  ],
}

export const settingScenarios: Scenarios = {
  'DescribeConfigs: every resource': async side => {
    const { topic } = await side.createTopic('described', {
      configs: { 'retention.ms': '1000', 'cleanup.policy': 'compact' },
    })
    for (const version of range(1, 4)) {
      await described(side, `v${version}: topic`, type.topic, topic, null, version)
      await described(side, `v${version}: no keys`, type.topic, topic, [], version)
      await described(
        side,
        `v${version}: some keys`,
        type.topic,
        topic,
        ['retention.ms', 'no.such.thing', 'retention.ms'],
        version,
      )
    }
    await described(side, 'unknown topic', type.topic, side.named('nowhere'))
    await described(side, 'illegal topic', type.topic, 'a b')
    await described(side, 'no topic', type.topic, '')
    await described(side, 'broker', type.broker, '1')
    await described(side, 'one of the broker', type.broker, '1', [
      'num.partitions',
      'log.retention.ms',
      'log.retention.hours',
    ])
    await described(side, 'other broker', type.broker, '2')
    await described(side, 'no broker', type.broker, 'x')
    await described(side, 'cluster', type.broker, '')
    await described(side, 'loggers', type.logger, '1', ['no.such.logger'])
    await described(side, 'loggers of another', type.logger, '2')
    await described(side, 'loggers of none', type.logger, '')
    await described(side, 'client metrics', type.clientMetrics, side.named('m'))
    await described(side, 'client metrics of none', type.clientMetrics, '')
    await described(side, 'group', type.group, side.named('g'))
    await described(side, 'group of none', type.group, '')
    for (const unknown of [0, 1, 3, 64, -1]) await described(side, `type ${unknown}`, unknown, 'x')
    await side.ask('several', api.describeConfigs, 4, {
      resources: [
        { resourceType: type.topic, resourceName: topic, configurationKeys: ['retention.ms'] },
        { resourceType: type.topic, resourceName: side.named('nowhere'), configurationKeys: null },
        { resourceType: type.topic, resourceName: topic, configurationKeys: ['segment.ms'] },
      ],
    })
    await side.ask('none', api.describeConfigs, 4, { resources: [] })
  },
  'IncrementalAlterConfigs: topics': async side => {
    const { topic } = await side.createTopic('altered')
    for (const [about, changes] of Object.entries(wrongTopicChanges)) {
      await altered(side, `validated: ${about}`, type.topic, topic, changes, true)
      await altered(side, about, type.topic, topic, changes)
      await described(side, `then, ${about}`, type.topic, topic, [
        'cleanup.policy',
        'retention.ms',
        'segment.ms',
        'preallocate',
      ])
    }
    const good = [{ name: 'retention.ms', value: '1' }]
    await altered(side, 'unknown topic', type.topic, side.named('nowhere'), good)
    await altered(side, 'illegal topic', type.topic, 'a b', good)
    await altered(side, 'no topic', type.topic, '', good)
    await altered(side, 'type 1', 1, 'x', good)
    await altered(side, 'type 3', 3, 'x', good)
    await altered(side, 'type 0', 0, 'x', good)
    await side.ask('none', api.incrementalAlterConfigs, 1, { resources: [], validateOnly: false })
    const resource = {
      resourceType: type.topic,
      resourceName: topic,
      configs: [{ name: 'retention.ms', configOperation: 0, value: '7' }],
    }
    await side.ask('the same twice', api.incrementalAlterConfigs, 1, {
      resources: [resource, resource],
      validateOnly: false,
    })
  },
  'IncrementalAlterConfigs: broker and cluster': async side => {
    for (const name of ['1', '']) {
      for (const [about, changes] of Object.entries(brokerChanges)) {
        await altered(side, `${name || 'cluster'}: ${about}`, type.broker, name, changes)
        await described(side, `${name || 'cluster'}: then, ${about}`, type.broker, '1', [
          'log.retention.ms',
          'max.connections.per.ip',
          'log.cleanup.policy',
          'num.partitions',
          'node.id',
        ])
      }
    }
    await altered(side, 'another broker', type.broker, '7', [{ name: 'max.connections.per.ip', value: '5' }])
    await altered(side, 'no broker', type.broker, 'x', [{ name: 'max.connections.per.ip', value: '5' }])
    await altered(side, 'undo another broker', type.broker, '7', [
      { name: 'max.connections.per.ip', value: null, operation: operation.delete },
    ])
  },
  'IncrementalAlterConfigs: groups, client metrics and loggers': async side => {
    const group = side.named('g')
    await altered(side, 'group', type.group, group, [{ name: 'consumer.session.timeout.ms', value: '50000' }])
    await described(side, 'group then', type.group, group, ['consumer.session.timeout.ms'])
    await altered(side, 'group, out of range', type.group, group, [{ name: 'consumer.session.timeout.ms', value: '1' }])
    await altered(side, 'group, unknown key', type.group, group, [{ name: 'no.such.thing', value: '1' }])
    await altered(side, 'group of none', type.group, '', [{ name: 'consumer.session.timeout.ms', value: '50000' }])
    await altered(side, 'group, undone', type.group, group, [
      { name: 'consumer.session.timeout.ms', value: null, operation: operation.delete },
    ])
    const metrics = side.named('m')
    await altered(side, 'client metrics', type.clientMetrics, metrics, [{ name: 'interval.ms', value: '1000' }])
    await described(side, 'client metrics then', type.clientMetrics, metrics)
    await altered(side, 'client metrics, wrong', type.clientMetrics, metrics, [{ name: 'interval.ms', value: '1' }])
    await altered(side, 'client metrics, unknown', type.clientMetrics, metrics, [{ name: 'no.such.thing', value: '1' }])
    await altered(side, 'client metrics, undone', type.clientMetrics, metrics, [
      { name: 'interval.ms', value: null, operation: operation.delete },
    ])
    await altered(side, 'logger, unknown', type.logger, '1', [{ name: 'no.such.logger', value: 'INFO' }])
    await altered(side, 'logger, another broker', type.logger, '2', [{ name: 'kafka', value: 'INFO' }])
  },
  'AlterConfigs: replaces everything': async side => {
    const { topic } = await side.createTopic('replaced', { configs: { 'retention.ms': '1000' } })
    for (const version of range(0, 2)) {
      const ask = (
        label: string,
        configs: readonly { name: string; value: string | null }[],
        resourceName = topic,
        resourceType = type.topic,
      ) =>
        side.ask(`v${version}: ${label}`, api.alterConfigs, version, {
          resources: [{ resourceType, resourceName, configs }],
          validateOnly: false,
        })
      await ask('another', [{ name: 'segment.ms', value: '5000' }])
      await described(side, `v${version}: then`, type.topic, topic, ['retention.ms', 'segment.ms'])
      await ask('a null value', [{ name: 'retention.ms', value: null }])
      await ask('wrong', [{ name: 'retention.ms', value: 'x' }])
      await ask('unknown', [{ name: 'no.such.thing', value: '1' }])
      await ask('twice', [
        { name: 'retention.ms', value: '1' },
        { name: 'retention.ms', value: '2' },
      ])
      await ask('nothing', [])
      await described(side, `v${version}: then nothing`, type.topic, topic, ['retention.ms', 'segment.ms'])
      await ask('unknown topic', [], side.named('nowhere'))
      await ask('read-only of the broker', [{ name: 'node.id', value: '1' }], '1', type.broker)
      await ask('another broker', [{ name: 'log.retention.ms', value: '1' }], '7', type.broker)
      await ask('type 1', [], 'x', 1)
    }
  },
}
