#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { Command, CommanderError } from 'commander'
import { nearestName } from '../base/nearest-name.ts'
import { CommandFailure, ExitCode } from './output.ts'

// Before anything uses the thread pool: cold reads, syncs and unpacking share it, and Node's four threads are few.
process.env.UV_THREADPOOL_SIZE ??= '16'

// Buffers lie outside of V8's heap. By its own rule some 64 MB of new ones bring on a collection of everything, which at full
// load was a fifth of all time; by this one the heap as a whole has to have grown. V8 14 (Node 26) has it.
if (Number.parseInt(process.versions.v8, 10) >= 14) {
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  setFlagsFromString('--external-memory-max-growing-factor=4')
}
// Little survives a young collection here. To share it out among threads takes longer, on a busy machine by milliseconds.
setFlagsFromString('--no-parallel-scavenge')
// Nor is anything to be made among the old at once, only because what the same code made some time ago has lived long: lists of
// answers, of which each was garbage at once, came to 150 MB there before a collection of everything.
setFlagsFromString('--no-allocation-site-pretenuring')

// Whoever reads us has gone, as `| head` does: that ends a command that has no better end of its own.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (process.stdout.listenerCount('error') > 1) return
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

const program = new Command('millrace')
  .description("A distributed message queue that speaks Kafka's protocol.")
  .showHelpAfterError('(millrace --help shows what there is)')
  .helpCommand(false)
  .exitOverride()

/** A command's file, with all that it needs, is loaded only when it is called. The help that names all needs none. */
const files: Readonly<Record<string, CommandFile>> = {
  start: {
    usage: 'start',
    description: 'Start a broker, and run it until Ctrl-C.',
    load: async () => (await import('./commands/start.ts')).addStart,
  },
  format: {
    usage: 'format',
    description: 'Make log directories those of a new cluster.',
    load: async () => (await import('./commands/format.ts')).addFormat,
  },
  topic: {
    usage: 'topic',
    description: 'Create, list, describe, alter and delete topics.',
    load: async () => (await import('./commands/topic.ts')).addTopic,
  },
  produce: {
    usage: 'produce <topic>',
    description: 'Send records: lines of standard input, or one that is given.',
    load: async () => (await import('./commands/produce.ts')).addProduce,
  },
  consume: {
    usage: 'consume <topic>',
    description: 'Print records, one a line, until Ctrl-C.',
    load: async () => (await import('./commands/consume.ts')).addConsume,
  },
  group: {
    usage: 'group',
    description: 'List, describe, reset and delete consumer groups.',
    load: async () => (await import('./commands/group.ts')).addGroup,
  },
  config: {
    usage: 'config',
    description: 'Read and change settings of topics, brokers and groups.',
    load: async () => (await import('./commands/config.ts')).addConfig,
  },
  log: {
    usage: 'log',
    description: 'Look into the files of a partition or log directory.',
    load: async () => (await import('./commands/log.ts')).addLog,
  },
}

const rootHelp = `
millrace COMMAND --help shows the flags of a command, with examples.

Examples:
  millrace start
  millrace topic create orders --partitions 3
  echo hello | millrace produce orders
  millrace consume orders --from-beginning --exit`

// `help topic create` is `topic create --help`.
if (process.argv[2] === 'help') process.argv.splice(2, process.argv.length, ...process.argv.slice(3), '--help')
const asked = process.argv[2]
const wanted = Object.hasOwn(files, asked ?? '') ? files[asked] : undefined
if (wanted !== undefined) (await wanted.load())(program)
else {
  program.version(version(), '-V, --version', 'print the version').addHelpText('after', rootHelp)
  for (const { usage, description } of Object.values(files)) program.command(usage).description(description)
}

for (const command of program.commands) sayHelp(command, `millrace ${command.name()}`)

try {
  if (wanted === undefined && asked !== undefined && !asked.startsWith('-'))
    program.error(`error: unknown command '${asked}'${suggestion(asked)}`)
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? ExitCode.ok : ExitCode.usage
  else if (error instanceof CommandFailure) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = error.exitCode
  } else throw error
}

/** As the library says it of a command's own commands. */
function suggestion(name: string): string {
  const meant = nearestName(name, Object.keys(files))
  return meant === undefined ? '' : `\n(Did you mean ${meant}?)`
}

/** Whoever calls a command wrongly is told of its own help. */
function sayHelp(command: Command, name: string): void {
  command.showHelpAfterError(`(${name} --help shows what there is)`)
  for (const one of command.commands) sayHelp(one, `${name} ${one.name()}`)
}

/** Of the package that this is run from: the checkout's or the built one's. */
function version(): string {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).version
}

type AddCommand = (program: Command) => void

interface CommandFile {
  readonly usage: string
  readonly description: string
  readonly load: () => Promise<AddCommand>
}
