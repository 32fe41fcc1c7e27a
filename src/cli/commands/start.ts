import { resolve } from 'node:path'
import type { Command } from 'commander'
import pc from 'picocolors'
import type { BoundListener } from '../../broker/broker-options.ts'
import { type RunningBroker, startBroker } from '../../broker/start.ts'
import { StartError } from '../../broker/start-error.ts'
import type { LoadedConfig } from '../../config/load-config.ts'
import type { LogSink } from '../../io/log-sink.ts'
import { consoleLogSink } from '../../io/node/console-log-sink.ts'
import { endOfStop } from '../end-of-stop.ts'
import { addConfigFlags, type ConfigFlags, load } from '../load.ts'
import { CommandFailure, ExitCode, printLine } from '../output.ts'
import { onStopSignal } from '../stop-signals.ts'

const example = `
Examples:
  millrace start                                     development: data in ./data, clients at localhost:9092
  millrace start --config server.properties
  millrace start -o listeners=PLAINTEXT://localhost:19092 -o log.dirs=/tmp/millrace`

interface StartFlags extends ConfigFlags {
  readonly json?: true
}

export function addStart(program: Command): void {
  const command = program.command('start').description('Start a broker, and run it until Ctrl-C.')
  addConfigFlags(command)
    .option('--json', 'print what runs where as one line of JSON once it is ready')
    .addHelpText('after', example)
    .action((flags: StartFlags) => run(flags))
}

const stopping = 'Stopping: answering what is under way, syncing, marking the directories clean.\n'

const patienceAfterFailureMs = 10_000

/** A broker goes on when nobody reads its words any more (`millrace start | head`), and stops in good order. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => undefined)
  }
}

async function run(flags: StartFlags): Promise<void> {
  outliveReaders()
  const warnings: string[] = []
  const loaded = load(flags, line => warnings.push(line))
  const log = await logSinkOf(loaded)
  for (const warning of warnings) log.write('warn', warning)
  const asked = Promise.withResolvers<undefined>()
  const failure = Promise.withResolvers<Error>()
  onStopSignal(() => asked.resolve(undefined))
  const running = await Promise.race([start(loaded, log, failure.resolve), asked.promise])
  // Nothing has been acknowledged yet, so there is nothing to put in order.
  if (running === undefined) process.exit(ExitCode.ok)
  if (flags.json) printLine(summary(running, loaded))
  else process.stdout.write(banner(running, loaded))
  const reason = await Promise.race([asked.promise, failure.promise])
  if (reason !== undefined) process.exit(ExitCode.failed)
  if (!flags.json) process.stdout.write(stopping)
  const isClean = await endOfStop(running.close(), failure.promise, patienceAfterFailureMs)
  if (isClean === undefined) log.write('error', 'the stop does not end after this failure: it is broken off')
  process.exit(isClean ? ExitCode.ok : ExitCode.failed)
}

async function start(loaded: LoadedConfig, log: LogSink, failed: (reason: Error) => void): Promise<RunningBroker> {
  try {
    return await startBroker({ loaded, log, failed, formatsEmptyDirectories: loaded.isDevelopment })
  } catch (error) {
    if (error instanceof StartError) throw new CommandFailure(error.message)
    throw error
  }
}

/** The library for JSON lines is loaded by those who want them. */
async function logSinkOf({ config }: LoadedConfig): Promise<LogSink> {
  const level = config.millraceLogLevel
  if (config.millraceLogFormat === 'text') return consoleLogSink({ level })
  const { jsonLogSink } = await import('../../io/node/json-log-sink.ts')
  return jsonLogSink(level)
}

/** What the banner says, for programs. */
function summary({ broker, adminPort }: RunningBroker, { isDevelopment }: LoadedConfig): object {
  const { adminListener, logDirs } = broker.config
  return {
    nodeId: broker.nodeId,
    clusterId: broker.clusterId,
    listeners: broker.listeners.map(({ name, advertisedHost, advertisedPort }) => {
      return { name, host: advertisedHost, port: advertisedPort }
    }),
    data: logDirs.map(path => resolve(path)),
    admin: adminListener === undefined ? null : { host: adminListener.host, port: adminPort },
    profile: isDevelopment ? 'development' : null,
  }
}

function banner({ broker, adminPort }: RunningBroker, loaded: LoadedConfig): string {
  const { adminListener, logDirs } = broker.config
  const [first] = broker.listeners
  const lines = [
    '',
    `${pc.bold('Millrace')} is ready. Node ${broker.nodeId} of cluster ${broker.clusterId}.`,
    `  clients    ${broker.listeners.map(addressOf).join(', ')}`,
    `  data       ${logDirs.map(path => resolve(path)).join(', ')}`,
  ]
  if (adminListener !== undefined) lines.push(`  metrics    http://${adminListener.host}:${adminPort}/metrics`)
  if (loaded.isDevelopment) {
    lines.push('  profile    development: formats an empty data folder, one replica of all')
  }
  lines.push('', 'Try, in another terminal:', ...suggestions(first), '', 'Ctrl-C stops it.', '')
  return `${lines.join('\n')}\n`
}

function addressOf({ advertisedHost, advertisedPort }: BoundListener): string {
  return `${advertisedHost}:${advertisedPort}`
}

function suggestions(listener: BoundListener | undefined): string[] {
  const millrace = commandName()
  const isDefault = listener?.advertisedPort === 9092
  const at = listener === undefined || isDefault ? '' : ` -b ${addressOf(listener)}`
  return [
    `  ${millrace} topic create orders --partitions 3${at}`,
    `  echo hello | ${millrace} produce orders${at}`,
    `  ${millrace} consume orders --from-beginning --exit${at}`,
  ]
}

/** In a checkout the command is an npm script; in a project that has the package, npx or a script of its own finds it. */
function commandName(): string {
  if (import.meta.filename.endsWith('.ts')) return 'npm run -s millrace --'
  return process.env.npm_lifecycle_event === undefined ? 'millrace' : 'npx millrace'
}
