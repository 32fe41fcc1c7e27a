import { readFileSync, statSync } from 'node:fs'
import type { Command } from 'commander'
import { type LoadedConfig, loadConfig } from '../config/load-config.ts'
import { problemText } from '../config/problem.ts'
import { keyAndValue, Needed, type Parse, quoted, repeated } from './option-values.ts'
import { CommandFailure, ExitCode } from './output.ts'

export interface ConfigFlags {
  readonly config?: string
  readonly override?: readonly string[]
}

/** The flags of every command that reads a broker's configuration. */
export function addConfigFlags(command: Command): Command {
  return command
    .option('-c, --config <file>', "a server.properties file, with Kafka's names")
    .addOption(repeated('-o, --override <key=value>', 'one setting, before all other places', setting))
}

const setting: Parse<string> = text => {
  const pair = keyAndValue(text)
  return pair instanceof Needed ? pair : text
}

/** Warnings go to `warn`; problems end the command, a line each. */
export function load(flags: ConfigFlags, warn: (line: string) => void): LoadedConfig {
  const file = flags.config === undefined ? undefined : { path: flags.config, text: read(flags.config) }
  const loaded = loadConfig({ file, overrides: flags.override ?? [], environment: process.env })
  if (loaded.type === 'invalid') {
    const { warnings, problems, hint } = loaded
    const lines = [...warnings, ...problems.map(problemText), ...(hint === undefined ? [] : [hint])]
    throw new CommandFailure(lines.map(asTyped).join('\n'), ExitCode.usage)
  }
  for (const warning of loaded.warnings) warn(asTyped(warning))
  return loaded
}

/** The configuration knows the option by its long name only. */
function asTyped(line: string): string {
  const isLong = process.argv.some(arg => arg.startsWith('--override'))
  return isLong ? line : line.replace(/^--override\b|(?<=; )--override\b/, '-o')
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'this is a directory, and a file is needed',
  EACCES: 'this user may not read it',
}

/** What the shell has opened for this process: `<(…)` and pipes. It is read to its end, which is where its writer ends. */
const openedByShell = /^\/(dev\/(fd\/\d+|stdin)|proc\/self\/fd\/\d+)$/

function read(path: string): string {
  const flag = process.argv.includes('-c') ? '-c' : '--config'
  const refuse = (reason: string) => new CommandFailure(`${flag} ${quoted(path)}: ${reason}`, ExitCode.usage)
  try {
    const status = statSync(path)
    // Opening a named pipe waits for a writer, and some devices have no end.
    const isRead = status.isFile() || status.isDirectory() || (status.isFIFO() && openedByShell.test(path))
    if (!isRead) throw refuse('this is no regular file')
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    const { code = '', message } = error as NodeJS.ErrnoException
    throw refuse(reasons[code] ?? message)
  }
}
