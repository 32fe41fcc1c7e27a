#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'
import { Command, CommanderError } from 'commander'
import { CommandFailure, ExitCode } from './output.ts'

// Before anything uses the thread pool: cold reads, syncs and unpacking share it, and Node's four threads are few.
process.env.UV_THREADPOOL_SIZE ??= '16'

// Buffers lie outside of V8's heap. By its own rule some 64 MB of new ones bring on a collection of everything, which at full
// load was a fifth of all time; by this one the heap as a whole has to have grown. V8 14 (Node 26) has it.
if (Number.parseInt(process.versions.v8, 10) >= 14) {
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  setFlagsFromString('--external-memory-max-growing-factor=4')
}

const program = new Command('millrace')
  .description("A distributed message queue that speaks Kafka's protocol.")
  .showHelpAfterError('(millrace --help shows what there is)')
  .exitOverride()
for (const add of await commandsFor(process.argv[2])) add(program)

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? ExitCode.ok : ExitCode.usage
  else if (error instanceof CommandFailure) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = error.exitCode
  } else throw error
}

type AddCommand = (program: Command) => void

/** A command's file, with all that it needs, is loaded only when it is called, or for the help that names all. */
async function commandsFor(name: string | undefined): Promise<AddCommand[]> {
  const files: Readonly<Record<string, () => Promise<AddCommand>>> = {
    start: async () => (await import('./commands/start.ts')).addStart,
    format: async () => (await import('./commands/format.ts')).addFormat,
    topic: async () => (await import('./commands/topic.ts')).addTopic,
    produce: async () => (await import('./commands/produce.ts')).addProduce,
    consume: async () => (await import('./commands/consume.ts')).addConsume,
    group: async () => (await import('./commands/group.ts')).addGroup,
    config: async () => (await import('./commands/config.ts')).addConfig,
    log: async () => (await import('./commands/log.ts')).addLog,
  }
  const wanted = name === undefined ? undefined : files[name]
  return await Promise.all(wanted === undefined ? Object.values(files).map(load => load()) : [wanted()])
}
