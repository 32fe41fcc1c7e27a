import type { Command } from 'commander'
import { countOf } from '../../base/count-of.ts'
import { confirm } from '../confirm.ts'
import { addConnectFlags, type ConnectFlags, failIfAny, only, withClient } from '../connect.ts'
import { keyAndValue, maxInt32, repeated, someText, valued, wholeNumber } from '../option-values.ts'
import { CommandFailure, ExitCode, print, printDone, printFound, table } from '../output.ts'

export function addTopic(program: Command): void {
  const topic = program.command('topic').description('Create, list, describe, alter and delete topics.')
  addConnectFlags(topic.command('create <name>'))
    .description('Create a topic.')
    .addOption(
      valued('-p, --partitions <n>', 'how many; as the brokers are configured if not given', wholeNumber(1, maxInt32)),
    )
    .addOption(
      valued(
        '-r, --replication-factor <n>',
        'copies of each partition; as the brokers are configured if not given',
        wholeNumber(1, 32_767),
      ),
    )
    .addOption(repeated('-c, --config <key=value>', 'a setting of the topic', keyAndValue))
    .option('--if-not-exists', 'succeed when it is there already')
    .addHelpText('after', '\nExample:\n  millrace topic create orders --partitions 3 --config retention.ms=86400000')
    .action(create)
  addConnectFlags(topic.command('list'))
    .description('List topics.')
    .option('-a, --all', 'internal topics too')
    .addHelpText('after', '\nExample:\n  millrace topic list --json')
    .action(list)
  addConnectFlags(topic.command('describe <names...>'))
    .description('Show partitions, leaders, replicas and offsets.')
    .addHelpText('after', '\nExample:\n  millrace topic describe orders')
    .action(describe)
  addConnectFlags(topic.command('alter <name>'))
    .description('Add partitions, or change settings.')
    .addOption(valued('-p, --partitions <n>', 'how many there shall be in all', wholeNumber(1, maxInt32)))
    .addOption(repeated('-c, --config <key=value>', 'set a setting', keyAndValue))
    .addOption(repeated('--delete-config <key>', 'back to the default', someText))
    .addHelpText('after', '\nExample:\n  millrace topic alter orders --partitions 6 --config retention.ms=3600000')
    .action(alter)
  addConnectFlags(topic.command('delete <names...>'))
    .description('Delete topics and all their records.')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  millrace topic delete orders --yes')
    .action(remove)
}

interface CreateFlags extends ConnectFlags {
  readonly partitions?: number
  readonly replicationFactor?: number
  readonly config?: readonly (readonly [string, string])[]
  readonly ifNotExists?: true
}

async function create(name: string, flags: CreateFlags): Promise<void> {
  const request = {
    name,
    partitions: flags.partitions,
    replicationFactor: flags.replicationFactor,
    configs: Object.fromEntries(flags.config ?? []),
  }
  await withClient(flags, async client => {
    const [result] = await client.admin().createTopics([request])
    const isThere = result.error?.code === 'TOPIC_ALREADY_EXISTS'
    if (result.error !== undefined && !(isThere && flags.ifNotExists)) throw result.error
    if (result.error !== undefined) {
      print({ name, created: false }, flags.json, () => `${name} is there already.`)
      return
    }
    const { topicId, partitions, replicationFactor } = result
    print(
      { name, created: true, topicId, partitions, replicationFactor },
      flags.json,
      one =>
        `${name} created: ${countOf(one.partitions, 'partition')}, ${countOf(one.replicationFactor, 'replica')} each.`,
    )
  })
}

async function list(flags: ConnectFlags & { readonly all?: true }): Promise<void> {
  await withClient(flags, async client => {
    const topics = (await client.admin().listTopics())
      .filter(topic => flags.all || !topic.isInternal)
      .map(({ name, topicId, partitionCount, isInternal }) => ({
        name,
        topicId,
        partitions: partitionCount,
        internal: isInternal,
      }))
    print(topics, flags.json, all =>
      all.length === 0
        ? 'There are no topics.'
        : table(
            ['name', 'partitions', 'id'],
            all.map(one => [one.name, one.partitions, one.topicId]),
          ),
    )
  })
}

async function describe(names: string[], flags: ConnectFlags): Promise<void> {
  await withClient(flags, async client => {
    const admin = client.admin()
    const results = await admin.describeTopics(names)
    const topics = []
    for (const described of results) {
      if (described.error !== undefined) continue
      const { name, topicId, isInternal, partitions } = described
      const queries = (spec: 'earliest' | 'latest') =>
        partitions.map(({ partition }) => ({ topic: name, partition, spec }))
      const [earliest, latest] = await Promise.all([
        admin.listOffsets(queries('earliest')),
        admin.listOffsets(queries('latest')),
      ])
      topics.push({
        name,
        topicId,
        internal: isInternal,
        partitions: partitions.map(({ partition, leader, leaderEpoch, replicas, isr }, index) => ({
          ...{ partition, leader, leaderEpoch, replicas, isr },
          logStartOffset: earliest[index].error === undefined ? earliest[index].offset : null,
          highWatermark: latest[index].error === undefined ? latest[index].offset : null,
        })),
      })
    }
    printFound(topics, flags.json, all =>
      all
        .map(({ name, topicId, partitions }) => {
          const rows = partitions.map(one => [
            one.partition,
            one.leader < 0 ? 'none' : one.leader,
            one.replicas.join(','),
            one.isr.join(','),
            one.logStartOffset,
            one.highWatermark,
          ])
          return `${name} (${topicId})\n${table(['partition', 'leader', 'replicas', 'in sync', 'start', 'end'], rows)}`
        })
        .join('\n\n'),
    )
    failIfAny(results)
  })
}

interface AlterFlags extends ConnectFlags {
  readonly partitions?: number
  readonly config?: readonly (readonly [string, string])[]
  readonly deleteConfig?: readonly string[]
}

async function alter(name: string, flags: AlterFlags): Promise<void> {
  const changes = [
    ...Object.entries(Object.fromEntries(flags.config ?? [])).map(([key, value]) => ({ name: key, value })),
    ...(flags.deleteConfig ?? []).map(key => ({ name: key, operation: 'delete' as const })),
  ]
  if (flags.partitions === undefined && changes.length === 0) {
    throw new CommandFailure('nothing to alter: say --partitions, --config or --delete-config', ExitCode.usage)
  }
  const count = flags.partitions
  await withClient(flags, async client => {
    const admin = client.admin()
    if (count !== undefined) only(await admin.createPartitions([{ topic: name, count }]))
    if (changes.length > 0) only(await admin.alterConfigs([{ type: 'topic', name, changes }]))
    print({ name, partitions: count ?? null, changes }, flags.json, () => `${name} altered.`)
  })
}

async function remove(names: string[], flags: ConnectFlags & { readonly yes?: true }): Promise<void> {
  await confirm(`Delete ${names.join(', ')} with all records?`, flags.yes)
  await withClient(flags, async client => {
    const results = await client.admin().deleteTopics(names)
    const deleted = names.filter((_, index) => results[index].error === undefined)
    printDone(
      deleted.map(name => ({ name, deleted: true })),
      flags.json,
      one => `${one.name} deleted.`,
    )
    failIfAny(results)
  })
}
