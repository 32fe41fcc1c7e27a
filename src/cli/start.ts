import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { type RunningBroker, startBroker } from '../broker/start.ts'
import { StartError } from '../broker/start-error.ts'
import { loadConfig } from '../config/load-config.ts'
import { problemText } from '../config/problem.ts'
import { consoleLogSink } from '../io/node/console-log-sink.ts'

interface StartFlags {
  readonly config?: string
  readonly override: string[]
}

export function addStart(program: Command): void {
  program
    .command('start')
    .description('Start a broker.')
    .option('--config <file>', 'server.properties, with the names of Kafka')
    .option(
      '--override <key=value>',
      'a setting, before all others',
      (value: string, before: string[]) => [...before, value],
      [],
    )
    .addHelpText('after', '\nExample:\n  millrace start --override listeners=PLAINTEXT://localhost:19092')
    .action((flags: StartFlags) => run(flags))
}

async function run(flags: StartFlags): Promise<void> {
  process.env.UV_THREADPOOL_SIZE ??= '16'
  const loaded = loadConfig({
    file: flags.config === undefined ? undefined : { path: flags.config, text: readFileSync(flags.config, 'utf8') },
    overrides: flags.override,
    environment: process.env,
  })
  if (loaded.type === 'invalid') {
    for (const problem of loaded.problems) console.error(problemText(problem))
    process.exitCode = 1
    return
  }
  const log = consoleLogSink()
  for (const warning of loaded.warnings) log.write('warn', warning)
  let running: RunningBroker
  try {
    running = await startBroker({
      loaded,
      log,
      formatsEmptyDirectories: loaded.isDevelopment,
      failed: () => {
        process.exitCode = 1
      },
    })
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    console.error(error.message)
    process.exitCode = 1
    return
  }
  for (const { advertisedHost, advertisedPort } of running.broker.listeners)
    console.log(`listening on ${advertisedHost}:${advertisedPort}`)
  const stop = () => {
    void running.close().then(() => process.exit(process.exitCode ?? 0))
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}
