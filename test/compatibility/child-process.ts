import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Starts a program that does not outlive this process: whatever ends us, short of SIGKILL, ends it too. */
export function start(command: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const child = spawn(command, args, options)
  const end = (): void => {
    child.kill('SIGKILL')
  }
  process.setMaxListeners(0)
  process.on('exit', end)
  child.once('exit', () => process.off('exit', end))
  child.once('error', () => process.off('exit', end))
  return child
}

/** Turns the signals that end a program into an ordinary exit, so that `start`'s promise holds. Call it once, in a main. */
export function exitOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
}

export interface RunOptions extends SpawnOptions {
  readonly stdin?: string
  readonly timeoutMs?: number
}

/** Runs a program to its end and collects what it printed. Rejects only if it cannot be started. */
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const { stdin, timeoutMs, ...spawnOptions } = options
  const child = start(command, args, { ...spawnOptions, stdio: ['pipe', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  child.stdin?.on('error', () => {}) // it may end before it has read everything
  child.stdin?.end(stdin ?? '')
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(timer)
  return { code, ...output }
}

/** As `run`, but an exit code other than 0 is an error that shows what the program said. */
export async function runOrThrow(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const finished = await run(command, args, options)
  if (finished.code !== 0) {
    const said = `${finished.stdout}\n${finished.stderr}`.trim().split('\n').slice(-20).join('\n')
    throw new Error(`${[command, ...args].join(' ').slice(0, 300)} ended with ${finished.code}:\n${said}`)
  }
  return finished.stdout
}
