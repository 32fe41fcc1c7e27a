#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { addFormat } from './commands/format.ts'
import { addStart } from './commands/start.ts'
import { CommandFailure, ExitCode } from './output.ts'

// Before anything uses the thread pool: cold reads, syncs and unpacking share it, and Node's four threads are few.
process.env.UV_THREADPOOL_SIZE ??= '16'

const program = new Command('millrace')
  .description("A distributed message queue that speaks Kafka's protocol.")
  .showHelpAfterError('(millrace --help shows what there is)')
  .exitOverride()
addStart(program)
addFormat(program)

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? ExitCode.ok : ExitCode.usage
  else if (error instanceof CommandFailure) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = error.exitCode
  } else throw error
}
