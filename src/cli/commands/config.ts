import type { Command } from 'commander'
import { countOf } from '../../base/count-of.ts'
import type { Client, ConfigChange, ConfigResource } from '../../client/index.ts'
import { addConnectFlags, type ConnectFlags, only, withClient } from '../connect.ts'
import { maxInt32, repeated, someText, valued, wholeNumber } from '../option-values.ts'
import { CommandFailure, ExitCode, print, table } from '../output.ts'

interface ResourceFlags extends ConnectFlags {
  readonly topic?: string
  readonly broker?: number
  readonly allBrokers?: true
  readonly group?: string
}

export function addConfig(program: Command): void {
  const config = program.command('config').description('Read and change settings of topics, brokers and groups.')
  addResourceFlags(addConnectFlags(config.command('get [keys...]')))
    .description('Show settings: all that differ from their defaults, or those named.')
    .option('-a, --all', 'those at their defaults too')
    .addHelpText(
      'after',
      '\nExamples:\n  millrace config get --topic orders\n  millrace config get --broker 1 num.partitions',
    )
    .action(get)
  addResourceFlags(addConnectFlags(config.command('set [settings...]')))
    .description('Change settings: KEY=VALUE, KEY+=VALUE and KEY-=VALUE for lists.')
    .addOption(repeated('--delete <key>', 'back to the default', someText))
    .addHelpText(
      'after',
      '\nExample:\n  millrace config set --topic orders retention.ms=3600000 --delete cleanup.policy',
    )
    .action(set)
}

function addResourceFlags(command: Command): Command {
  return command
    .addOption(valued('-t, --topic <name>', 'a topic', someText))
    .addOption(valued('--broker <id>', 'one broker', wholeNumber(0, maxInt32)))
    .option('--all-brokers', 'what is set for all brokers')
    .addOption(valued('-g, --group <id>', 'a group', someText))
}

function resourceOf({ topic, broker, allBrokers, group }: ResourceFlags): ConfigResource {
  const resources: ConfigResource[] = []
  if (topic !== undefined) resources.push({ type: 'topic', name: topic })
  if (broker !== undefined) resources.push({ type: 'broker', name: String(broker) })
  if (allBrokers) resources.push({ type: 'broker', name: '' })
  if (group !== undefined) resources.push({ type: 'group', name: group })
  if (resources.length !== 1)
    throw new CommandFailure('say one of --topic, --broker, --all-brokers, --group', ExitCode.usage)
  return resources[0]
}

/** A broker that is not there would be waited for, as one that is just starting. */
async function expectBroker(client: Client, { broker }: ResourceFlags): Promise<void> {
  if (broker === undefined) return
  const { brokers } = await client.admin().describeCluster({ includeFencedBrokers: true })
  if (brokers.some(({ nodeId }) => nodeId === broker)) return
  const ids = brokers.map(({ nodeId }) => nodeId).join(', ')
  throw new CommandFailure(
    `there is no broker ${broker}: the cluster has ${countOf(brokers.length, 'broker')} (${ids})`,
  )
}

async function get(keys: string[], flags: ResourceFlags & { readonly all?: true }): Promise<void> {
  const resource = resourceOf(flags)
  await withClient(flags, async client => {
    await expectBroker(client, flags)
    const query = keys.length === 0 ? resource : { ...resource, keys }
    const described = only(await client.admin().describeConfigs([query]))
    if (described.error !== undefined) throw described.error
    const entries = described.configs
    const missing = keys.find(key => !entries.some(entry => entry.name === key))
    if (missing !== undefined) throw new CommandFailure(`${missing} is not a setting of this kind of resource`)
    const shown = entries
      .filter(entry => flags.all || keys.length > 0 || entry.source !== 'default')
      .map(({ name, value, source, isReadOnly, isSensitive }) => ({
        name,
        value,
        source,
        readOnly: isReadOnly,
        sensitive: isSensitive,
      }))
    print(shown, flags.json, all =>
      all.length === 0
        ? 'Everything is at its default; --all shows it.'
        : table(
            ['setting', 'value', 'from'],
            all.map(one => [one.name, one.sensitive ? '(withheld)' : one.value, one.source]),
          ),
    )
  })
}

async function set(settings: string[], flags: ResourceFlags & { readonly delete?: readonly string[] }): Promise<void> {
  const resource = resourceOf(flags)
  const changes = [
    ...settings.map(changeOf),
    ...(flags.delete ?? []).map(name => ({ name, operation: 'delete' as const })),
  ]
  if (changes.length === 0)
    throw new CommandFailure('nothing to change: say KEY=VALUE, or --delete KEY', ExitCode.usage)
  await withClient(flags, async client => {
    await expectBroker(client, flags)
    only(await client.admin().alterConfigs([{ ...resource, changes }]))
    print({ resource, changes }, flags.json, () => changes.map(change => `${change.name}: done`).join('\n'))
  })
}

function changeOf(text: string): ConfigChange {
  const match = /^([^=+-][^=]*?)([+-]?)=(.*)$/s.exec(text)
  if (match === null) throw new CommandFailure(`${text}: KEY=VALUE, KEY+=VALUE or KEY-=VALUE is needed`, ExitCode.usage)
  const operation = match[2] === '+' ? 'append' : match[2] === '-' ? 'subtract' : 'set'
  return { name: match[1], operation, value: match[3] }
}
