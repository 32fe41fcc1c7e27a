import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { type LoadedConfig, loadConfig } from '../config/load-config.ts'
import { problemText } from '../config/problem.ts'
import { CommandFailure } from './output.ts'

export interface ConfigFlags {
  readonly config?: string
  readonly override: string[]
}

/** The flags of every command that reads a broker's configuration. */
export function addConfigFlags(command: Command): Command {
  const collect = (value: string, before: string[]) => [...before, value]
  return command
    .option('-c, --config <file>', "a server.properties file, with Kafka's names")
    .option('-o, --override <key=value>', 'one setting, before all other places; may be repeated', collect, [])
}

/** Warnings go to `warn`; problems end the command, a line each. */
export function load(flags: ConfigFlags, warn: (line: string) => void): LoadedConfig {
  const file = flags.config === undefined ? undefined : { path: flags.config, text: read(flags.config) }
  const loaded = loadConfig({ file, overrides: flags.override, environment: process.env })
  if (loaded.type === 'invalid') throw new CommandFailure(loaded.problems.map(problemText).join('\n'))
  for (const warning of loaded.warnings) warn(warning)
  return loaded
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CommandFailure(`--config ${path}: ${(error as Error).message}`)
  }
}
