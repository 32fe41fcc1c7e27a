import assert from 'node:assert/strict'
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'

const launcher = resolve(import.meta.dirname, '../../scripts/run.cjs')
const main = resolve(import.meta.dirname, '../../src/cli/main.ts')

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The command of the checkout as a program and its arguments. */
export function commandOf(args: readonly string[]): [string, ...string[]] {
  return [process.execPath, launcher, main, ...args]
}

/** The command of the checkout, with its streams for the test to read and write. */
export function startMillrace(
  args: readonly string[],
  bootstrap: string,
  more: NodeJS.ProcessEnv = {},
): ChildProcessWithoutNullStreams {
  const env = { ...process.env, MILLRACE_BOOTSTRAP: bootstrap, NO_COLOR: '1', ...more }
  const [command, ...rest] = commandOf(args)
  return spawn(command, rest, { env })
}

/** What the child prints from now on, and how it ends. */
export async function endOf(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, stdout, stderr }
}

/** Runs the command to its end. */
export async function millrace(
  args: readonly string[],
  {
    input = '',
    bootstrap,
    env,
  }: { readonly input?: string | Buffer; readonly bootstrap: string; readonly env?: NodeJS.ProcessEnv },
): Promise<Ended> {
  const child = startMillrace(args, bootstrap, env)
  // One that has ended already reads no more.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return await endOf(child)
}

/** Every record of a topic, as `consume --json` prints it. */
export async function consumed(
  topic: string,
  { bootstrap, flags = [] }: { readonly bootstrap: string; readonly flags?: readonly string[] },
): Promise<Record<string, unknown>[]> {
  const args = ['consume', topic, '--from-beginning', '--exit', '--json', ...flags]
  const { code, stdout, stderr } = await millrace(args, { bootstrap })
  assert.equal(code, 0, stderr)
  return stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
}
