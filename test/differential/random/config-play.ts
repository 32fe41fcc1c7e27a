import { staticSettings } from '../../../src/config/broker-settings.ts'
import { clientMetricsSettings, groupConfigSettings } from '../../../src/config/resource-settings.ts'
import type { Setting } from '../../../src/config/setting.ts'
import { allTopicSettings } from '../../../src/config/topic-config.ts'
import { api } from '../../end-to-end/api.ts'
import { createUsableTopic, type Side } from '../side.ts'
import type { Dice } from './dice.ts'

/** Values of which name classes and directories, which Kafka looks for, or size what is not here yet. */
const notHere = new Set(['metric.reporters', 'cordoned.log.dirs', 'remote.log.reader.threads'])

function isForBrokers([name, { isInternal, update, type }]: readonly [string, Setting]): boolean {
  if (isInternal || update === 'read-only' || type === 'class') return false
  return !name.startsWith('millrace.') && !notHere.has(name)
}

const names = {
  2: [...allTopicSettings].filter(([, setting]) => !setting.isInternal).map(([name]) => name),
  4: [...staticSettings].filter(isForBrokers).map(([name]) => name),
  16: clientMetricsSettings.map(setting => setting.name),
  32: groupConfigSettings.filter(one => !one.setting.isInternal).map(one => one.setting.name),
} as const

const values = [
  ...[
    '',
    ' ',
    '0',
    '1',
    '-1',
    '-2',
    '2',
    '3',
    '10',
    '99',
    '100',
    '101',
    '1000',
    '1048576',
    '1048575',
    '2147483647',
    '2147483648',
    '-2147483648',
  ],
  ...[
    '9223372036854775807',
    '9223372036854775808',
    '-9223372036854775808',
    '0.5',
    '1.0',
    '1.1',
    '-0.1',
    '1e-1',
    'NaN',
    '0x10',
    '010',
    '+5',
    ' 7 ',
    '1_000',
    '1L',
    '5d',
    '.5',
    'Infinity',
  ],
  ...['true', 'false', 'TRUE', ' true ', 'yes', 'null'],
  ...[
    'delete',
    'compact',
    'compact,delete',
    'delete, compact',
    'delete,delete',
    'none',
    ',',
    ',,',
    'delete,',
    ',compact',
    'Delete',
    'a',
    'a,b',
    '*',
    '*,a',
  ],
  ...['producer', 'uncompressed', 'gzip', 'GZIP', 'zstd', 'snappy', 'lz4', 'none'],
  ...[
    'CreateTime',
    'LogAppendTime',
    'createtime',
    '4.4',
    '3.0-IV1',
    'all',
    '0:1',
    '0:1,1:1',
    '1:0',
    '0',
    'latest',
    'earliest',
    'by_duration:P1D',
    'by_duration:x',
    'read_committed',
    'READ_UNCOMMITTED',
    'uniform',
    'range',
  ],
] as const

/** Settings of every kind, set to anything. */
export class ConfigPlay {
  readonly #side: Side
  readonly #dice: Dice

  constructor(side: Side, dice: Dice) {
    this.#side = side
    this.#dice = dice
  }

  async run(steps: number): Promise<void> {
    const { topic } = await createUsableTopic(this.#side.client, this.#side.named('topic'))
    for (let step = 0; step < steps; step++) {
      const kind = this.#dice.weighted({ 2: 10, 4: 5, 16: 1, 32: 3 })
      const name = kind === '2' ? topic : kind === '4' ? this.#dice.of(['', '1']) : this.#side.named('resource')
      await this.#change(`step ${step}`, Number(kind) as 2, name)
    }
  }

  async #change(label: string, resourceType: keyof typeof names, resourceName: string): Promise<void> {
    const dice = this.#dice
    const how = dice.weighted({ incremental: 8, all: resourceType === 4 ? 0 : 2, create: resourceType === 2 ? 3 : 0 })
    const chosen = new Set(Array.from({ length: dice.of([1, 1, 1, 2]) }, () => dice.of<string>(names[resourceType])))
    const changes = [...chosen].map(name => ({
      name,
      value: dice.of<string>(values),
      configOperation: dice.of([0, 0, 0, 0, 1, 2, 3]),
    }))
    // What is set for a broker would be for all that play.
    const validateOnly = resourceType === 4 || dice.chance(0.3)
    const what = `${label}, ${how} ${resourceType} ${JSON.stringify(changes.map(({ name, value, configOperation }) => [name, how === 'incremental' ? configOperation : 0, value]))}`
    const configs = changes.map(({ name, value }) => ({ name, value }))
    if (how === 'incremental') {
      await this.#side.ask(what, api.incrementalAlterConfigs, 1, {
        resources: [{ resourceType, resourceName, configs: changes }],
        validateOnly,
      })
    } else if (how === 'all') {
      await this.#side.ask(what, api.alterConfigs, 2, {
        resources: [{ resourceType, resourceName, configs }],
        validateOnly,
      })
    } else {
      const topics = [
        { name: this.#side.named('new'), numPartitions: 1, replicationFactor: 1, assignments: [], configs },
      ]
      await this.#side.ask(what, api.createTopics, 7, { topics, validateOnly: true })
      return
    }
    if (this.#side.name === 'kafka') await new Promise(resolve => setTimeout(resolve, 150))
    if (resourceType === 4) return
    await this.#side.ask(`${what}, then`, api.describeConfigs, 4, {
      resources: [{ resourceType, resourceName, configurationKeys: [...chosen] }],
      includeSynonyms: true,
    })
  }
}
