import { zeroUuid } from '../../../src/base/uuid.ts'
import type { Input } from '../../../src/protocol/schema.ts'
import { api } from '../../end-to-end/api.ts'
import { createUsableTopic, type Side } from '../side.ts'
import { range, type Scenarios } from './scenario.ts'

const unknownId = 'AAECAwQFBgcICQoLDA0ODw'

interface Wanted {
  readonly name?: string
  readonly partitions?: number
  readonly replicas?: number
  readonly assignments?: readonly (readonly number[])[]
  readonly indexes?: readonly number[]
  readonly configs?: readonly (readonly [string, string | null])[]
}

function creation(side: Side, name: string, wanted: Wanted) {
  const { partitions = 1, replicas = 1, assignments = [], configs = [] } = wanted
  return {
    name: wanted.name ?? side.named(name),
    numPartitions: partitions,
    replicationFactor: replicas,
    assignments: assignments.map((brokerIds, index) => ({
      partitionIndex: wanted.indexes?.[index] ?? index,
      brokerIds,
    })),
    configs: configs.map(([key, value]) => ({ name: key, value })),
  }
}

const wantedTopics: Readonly<Record<string, Wanted>> = {
  'no partitions': { partitions: 0 },
  'negative partitions': { partitions: -2 },
  'default partitions': { partitions: -1, replicas: -1 },
  'default partitions only': { partitions: -1 },
  'default replicas only': { replicas: -1 },
  'no replicas': { replicas: 0 },
  'negative replicas': { replicas: -2 },
  'too many replicas': { replicas: 3 },
  'empty name': { name: '' },
  'one dot': { name: '.' },
  'two dots': { name: '..' },
  'a blank': { name: 'a b' },
  'a slash': { name: 'a/b' },
  'not ASCII': { name: 'ü' },
  'long name': { name: 'x'.repeat(250) },
  'by hand': { partitions: -1, replicas: -1, assignments: [[1], [1]] },
  'by hand with numbers': { partitions: 2, replicas: 1, assignments: [[1], [1]] },
  'by hand, unknown broker': { partitions: -1, replicas: -1, assignments: [[9]] },
  'by hand, broker twice': { partitions: -1, replicas: -1, assignments: [[1, 1]] },
  'by hand, empty': { partitions: -1, replicas: -1, assignments: [[]] },
  'by hand, a gap': { partitions: -1, replicas: -1, assignments: [[1], [1]], indexes: [0, 2] },
  'by hand, from one': { partitions: -1, replicas: -1, assignments: [[1]], indexes: [1] },
  'by hand, twice the same': { partitions: -1, replicas: -1, assignments: [[1], [1]], indexes: [0, 0] },
  'unknown config': { configs: [['no.such.thing', '1']] },
  'config null': { configs: [['retention.ms', null]] },
  'config not a number': { configs: [['retention.ms', 'long']] },
  'config too small': { configs: [['segment.bytes', '1']] },
  'config out of range': { configs: [['min.cleanable.dirty.ratio', '2']] },
  'config of a list': { configs: [['cleanup.policy', 'delete,nothing']] },
  'config of an empty list': { configs: [['cleanup.policy', '']] },
  'config twice': {
    configs: [
      ['retention.ms', '1'],
      ['retention.ms', '2'],
    ],
  },
  'broker config': { configs: [['log.retention.ms', '1000']] },
  'good configs': {
    configs: [
      ['cleanup.policy', 'compact,delete'],
      ['compression.type', 'zstd'],
      ['min.insync.replicas', '2'],
      ['retention.bytes', '1000'],
    ],
  },
  'remote storage': { configs: [['remote.storage.enable', 'true']] },
  'local retention larger': {
    configs: [
      ['local.retention.ms', '2000'],
      ['retention.ms', '1000'],
    ],
  },
}

export const topicScenarios: Scenarios = {
  'CreateTopics: what is asked for wrongly': async side => {
    for (const version of [4, 5, 7]) {
      for (const validateOnly of [true, false]) {
        for (const [about, wanted] of Object.entries(wantedTopics)) {
          const name = `${about.replaceAll(/[^a-z]/g, '-')}-${version}`
          await side.ask(`v${version}, ${validateOnly ? 'validated' : 'made'}: ${about}`, api.createTopics, version, {
            topics: [creation(side, name, wanted)],
            validateOnly,
          })
        }
      }
    }
  },
  'CreateTopics: several in one request': async side => {
    const twice = creation(side, 'twice', {})
    await side.ask('the same twice', api.createTopics, 7, { topics: [twice, twice] })
    await side.ask('the same twice, one with many partitions', api.createTopics, 7, {
      topics: [creation(side, 'once', {}), twice, creation(side, 'twice', { partitions: 20_000 })],
      validateOnly: true,
    })
    await side.ask('the same twice, another with many partitions', api.createTopics, 7, {
      topics: [twice, twice, creation(side, 'many', { partitions: 20_000 })],
    })
    await side.ask('none', api.createTopics, 7, { topics: [] })
    await side.ask('one good, one bad', api.createTopics, 7, {
      topics: [creation(side, 'good', {}), creation(side, 'bad', { partitions: 0 })],
    })
    await side.ask('there already', api.createTopics, 7, { topics: [creation(side, 'good', {})] })
    await side.ask('names that collide', api.createTopics, 7, {
      topics: [creation(side, 'a.b', {}), creation(side, 'a_b', {})],
    })
    await side.ask('a name that collides', api.createTopics, 7, { topics: [creation(side, 'a_b', {})] })
    await side.ask('internal', api.createTopics, 7, { topics: [creation(side, '', { name: '__cluster_metadata' })] })
  },
  'DeleteTopics: by name and by id': async side => {
    for (const version of range(1, 5)) {
      const { topic } = await side.createTopic(`gone-${version}`)
      for (const about of ['there', 'not there any more']) {
        await side.ask(`v${version}: ${about}`, api.deleteTopics, version, { topicNames: [topic], timeoutMs: 5000 })
      }
    }
    await side.ask('twice the same', api.deleteTopics, 5, {
      topicNames: [side.named('x'), side.named('x')],
      timeoutMs: 5000,
    })
    await side.ask('none', api.deleteTopics, 5, { topicNames: [], timeoutMs: 5000 })
    await side.ask('an illegal name', api.deleteTopics, 5, { topicNames: ['a b', ''], timeoutMs: 5000 })
    const { topic, topicId } = await side.createTopic('gone-6')
    const ask = (label: string, topics: { name: string | null; topicId: string }[]) =>
      side.ask(`v6: ${label}`, api.deleteTopics, 6, { topics, timeoutMs: 5000 })
    await ask('unknown id', [{ name: null, topicId: unknownId }])
    await ask('neither', [{ name: null, topicId: zeroUuid }])
    await ask('both', [{ name: topic, topicId }])
    await ask('unknown name', [{ name: side.named('nowhere'), topicId: zeroUuid }])
    await ask('name and id of the same', [
      { name: topic, topicId: zeroUuid },
      { name: null, topicId },
    ])
    await ask('by id', [{ name: null, topicId }])
    await ask('by id again', [{ name: null, topicId }])
    await ask('the same unknown twice', [
      { name: null, topicId: unknownId },
      { name: null, topicId: unknownId },
    ])
  },
  'CreatePartitions: what is asked for wrongly': async side => {
    const { topic } = await side.createTopic('three', { partitions: 3 })
    const ask = (label: string, count: number, assignments: { brokerIds: number[] }[] | null = null, name = topic) =>
      side.ask(label, api.createPartitions, 3, {
        topics: [{ name, count, assignments }],
        timeoutMs: 5000,
        validateOnly: label.startsWith('validated'),
      })
    await ask('fewer', 2)
    await ask('as many', 3)
    await ask('none', 0)
    await ask('negative', -1)
    await ask('unknown', 5, null, side.named('nowhere'))
    await ask('illegal', 5, null, 'a b')
    await ask('empty assignments', 5, [])
    await ask('too few assignments', 5, [{ brokerIds: [1] }])
    await ask('too many assignments', 4, [{ brokerIds: [1] }, { brokerIds: [1] }])
    await ask('unknown broker', 4, [{ brokerIds: [9] }])
    await ask('other replication factor', 4, [{ brokerIds: [1, 1] }])
    await ask('empty assignment', 4, [{ brokerIds: [] }])
    await ask('validated', 4)
    await ask('still three', 4, [{ brokerIds: [1] }])
    await ask('five', 5)
    await side.ask('the same twice', api.createPartitions, 3, {
      topics: [
        { name: topic, count: 6, assignments: null },
        { name: topic, count: 7, assignments: null },
      ],
      timeoutMs: 5000,
      validateOnly: false,
    })
    await side.ask('none', api.createPartitions, 3, { topics: [], timeoutMs: 5000, validateOnly: false })
  },
  'Metadata: names, ids and operations': async side => {
    const { topic, topicId } = await side.createTopic('meta', { partitions: 2 })
    for (const version of range(0, 13)) {
      const flags = version >= 4 ? { allowAutoTopicCreation: false } : {}
      const operations = {
        ...(version >= 8 ? { includeTopicAuthorizedOperations: true } : {}),
        ...(version >= 8 && version <= 10 ? { includeClusterAuthorizedOperations: true } : {}),
      }
      await side.ask(`v${version}: there`, api.metadata, version, {
        topics: [{ name: topic }],
        ...flags,
        ...operations,
      })
      await side.ask(`v${version}: illegal`, api.metadata, version, {
        topics: [{ name: 'a b' }, { name: '' }],
        ...flags,
      })
      await side.ask(`v${version}: twice`, api.metadata, version, {
        topics: [{ name: topic }, { name: topic }],
        ...flags,
      })
      if (version >= 4) {
        await side.ask(`v${version}: not there`, api.metadata, version, {
          topics: [{ name: side.named('nowhere') }],
          ...flags,
          ...operations,
        })
      }
      if (version >= 1) await side.ask(`v${version}: none`, api.metadata, version, { topics: [], ...flags })
    }
    for (const version of [10, 11, 12, 13]) {
      const ask = (label: string, topics: { name: string | null; topicId: string }[]) =>
        side.ask(`v${version}: ${label}`, api.metadata, version, { topics, allowAutoTopicCreation: false })
      await ask('by id', [{ name: null, topicId }])
      await ask('unknown id', [{ name: null, topicId: unknownId }])
      await ask('both', [{ name: topic, topicId }])
      await ask('neither', [{ name: null, topicId: zeroUuid }])
      await ask('name and id', [
        { name: topic, topicId: zeroUuid },
        { name: null, topicId },
      ])
      await ask('known and unknown id', [
        { name: null, topicId: unknownId },
        { name: null, topicId },
      ])
    }
  },
  'Metadata: automatic topics': async side => {
    for (const version of [0, 1, 3, 4, 9, 12, 13]) {
      const name = side.named(`auto-${version}`)
      const flags = version >= 4 ? { allowAutoTopicCreation: true } : {}
      await side.client.call(api.metadata, version, { topics: [{ name }], ...flags })
      await new Promise(resolve => setTimeout(resolve, 300))
      await side.ask(`v${version}: asked for again`, api.metadata, version, { topics: [{ name }], ...flags })
    }
    await side.ask('an illegal name', api.metadata, 12, { topics: [{ name: 'a b' }], allowAutoTopicCreation: true })
  },
  'DescribeTopicPartitions: pages and cursors': async side => {
    const names = ['a', 'b', 'c'].map(name => side.named(name))
    for (const [index, name] of names.entries()) await createUsableTopic(side.client, name, { partitions: index + 1 })
    const topics = names.map(name => ({ name }))
    const ask = (label: string, body: Input<typeof api.describeTopicPartitions.request>) =>
      side.ask(label, api.describeTopicPartitions, 0, body)
    await ask('all of them', { topics })
    await ask('in another order', { topics: topics.toReversed() })
    await ask('twice', { topics: [topics[0], topics[0]] })
    await ask('unknown and illegal', { topics: [{ name: side.named('zz') }, { name: 'a b' }, { name: '' }] })
    for (const responsePartitionLimit of [0, -1, 1, 2, 3, 4, 6, 7]) {
      await ask(`limit ${responsePartitionLimit}`, { topics, responsePartitionLimit })
    }
    const unknown = [{ name: side.named('a-') }, { name: side.named('zz') }]
    for (const responsePartitionLimit of [1, 2, 3, 6]) {
      await ask(`unknown among them, limit ${responsePartitionLimit}`, {
        topics: [...topics, ...unknown],
        responsePartitionLimit,
      })
    }
    await ask('from the second', { topics, cursor: { topicName: names[1], partitionIndex: 0 } })
    await ask('from within the third', { topics, cursor: { topicName: names[2], partitionIndex: 1 } })
    await ask('from beyond the third', { topics, cursor: { topicName: names[2], partitionIndex: 9 } })
    await ask('from a name between', { topics, cursor: { topicName: `${names[0]}x`, partitionIndex: 0 } })
    await ask('from a name behind', { topics, cursor: { topicName: `${names[2]}x`, partitionIndex: 0 } })
    await ask('from a negative partition', { topics, cursor: { topicName: names[0], partitionIndex: -1 } })
  },
}
