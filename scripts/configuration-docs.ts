/**
 * Writes docs/configuration.md from the declarations of the settings. A test says when it is out of date.
 *
 *   node scripts/configuration-docs.ts
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brokerSettings, staticSettings } from '../src/config/broker-settings.ts'
import { developmentSettings } from '../src/config/development.ts'
import { isFixedHere } from '../src/config/effective-config.ts'
import { isSensitive, type Setting } from '../src/config/setting.ts'
import { allTopicSettings } from '../src/config/topic-config.ts'
import { brokerSettingsOf } from '../src/config/topic-settings.ts'

const intro = `# Configuration

<!-- Written by scripts/configuration-docs.ts from src/config. Change it there. -->

Settings have Kafka 4.4's names, defaults and bounds. A value comes from the first of these that has one:

1. \`--override key=value\` (\`-o\`) on the command line
2. \`MILLRACE_*\` in the environment: \`MILLRACE_LOG_DIRS\` is \`log.dirs\`, \`MILLRACE_FLUSH\` is \`millrace.flush\`
3. \`KAFKA_*\` in the environment, as in the image of Apache Kafka: \`_\` is a dot, \`__\` an underscore, \`___\` a dash;
   \`CLUSTER_ID\` is \`--cluster-id\` of \`millrace format\`
4. the file of \`--config\` (\`server.properties\`)
5. the default

An unknown name is warned about, with the one that was probably meant, and ignored. A value that is not allowed ends the start with file, line, name, what was
given and what is allowed. Settings marked *cluster* or *broker* can be changed while the broker runs, for all brokers or
for one: \`millrace config set --broker 1 log.retention.ms=3600000\`.
`

const columns = '| name | default | allowed | changes | meaning |\n|---|---|---|---|---|'

function row(setting: Setting): string {
  const { name, allowed, update, doc } = setting
  const isFixed = update === 'read-only' || isFixedHere(name)
  const changes = isFixed ? 'at start' : update === 'per-broker' ? 'broker' : 'cluster'
  return line([code(name), defaultOf(setting), cell(allowed), changes, cell(doc)])
}

function defaultOf(setting: Setting): string {
  if (setting.default === undefined) return '(must be given)'
  if (setting.default === null || isSensitive(setting)) return ''
  return setting.default === '' ? '(empty)' : code(setting.default)
}

function code(text: string): string {
  return `\`${text}\``
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

function byName(settings: Iterable<Setting>): Setting[] {
  return [...settings].filter(one => !one.isInternal).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Those that change nothing, by the reason. */
function inertLists(): string[] {
  const reasons = new Map<string, string[]>()
  for (const { name, inertBecause } of byName(staticSettings.values())) {
    if (inertBecause === undefined) continue
    reasons.set(inertBecause, [...(reasons.get(inertBecause) ?? []), code(name)])
  }
  return [...reasons].map(([reason, names]) => `- ${reason}: ${names.join(', ')}`)
}

function topicRow(setting: Setting): string {
  const brokerName = brokerSettingsOf.get(setting.name)?.[0]?.name
  const standIn = brokerName === undefined ? defaultOf(setting) : code(brokerName)
  return line([code(setting.name), standIn, cell(setting.allowed), cell(setting.doc)])
}

export function configurationDocs(): string {
  const own = byName(Object.values(brokerSettings)).filter(one => one.name.startsWith('millrace.'))
  const kafkas = byName(Object.values(brokerSettings)).filter(one => !one.name.startsWith('millrace.'))
  const topics = byName(allTopicSettings.values()).filter(one => one.inertBecause === undefined)
  return [
    intro,
    '## The development profile',
    '',
    'It holds when there is neither a file nor `process.roles`, `node.id` or `log.dirs` in the environment, and means:',
    '',
    ...[...developmentSettings].map(([name, value]) => `- ${code(`${name}=${value}`)}`),
    '',
    'An empty or absent data folder is formatted at once. Everywhere else an unformatted directory ends the start.',
    '',
    "## Millrace's own",
    ...['', columns, ...own.map(row), ''],
    "## Kafka's",
    ...['', columns, ...kafkas.map(row), ''],
    '## Of a topic',
    '',
    'Set with `millrace topic create --config` or `millrace config set --topic`; in force at once. Where a topic sets nothing,',
    'the setting of the broker that is named as default counts.',
    ...['', '| name | default | allowed | meaning |', '|---|---|---|---|', ...topics.map(topicRow), ''],
    '## Accepted, without effect here',
    '',
    "These are Kafka's, are read and checked, and change nothing, because:",
    ...['', ...inertLists(), ''],
  ].join('\n')
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, '../docs/configuration.md'), configurationDocs())
