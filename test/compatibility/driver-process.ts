import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { start } from './child-process.ts'

/** How to start a client's driver, before verb, bootstrap and arguments. */
export interface DriverCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface SeenRecord {
  readonly event: 'record'
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly timestamp: number
  readonly key: string
  readonly value: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Acked {
  readonly event: 'acked'
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly n: number
}

export type DriverEvent =
  | SeenRecord
  | Acked
  | { readonly event: 'assigned'; readonly partitions: readonly number[] }
  | { readonly event: 'committed'; readonly partition: number; readonly offset: number }
  | { readonly event: 'done' }

const STDERR_KEPT = 4000

/** One run of a driver. `clients/README.md` has what it is told and what it tells. */
export class DriverProcess {
  readonly events: DriverEvent[] = []
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown>
  readonly #label: string
  #stderr = ''

  constructor({ command, args, env }: DriverCommand, verb: string, bootstrap: string, argument: unknown) {
    this.#label = verb
    this.#child = start(command, [...args, verb, bootstrap, JSON.stringify(argument)], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    })
    createInterface({ input: this.#child.stdout! }).on('line', line => this.#read(line))
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT)
    })
    this.#child.stdin!.on('error', () => {})
    this.#closed = once(this.#child, 'close')
    this.#closed.catch(() => {})
  }

  get ended(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  get records(): SeenRecord[] {
    return this.events.filter(event => event.event === 'record')
  }

  get acked(): Acked[] {
    return this.events.filter(event => event.event === 'acked')
  }

  /** What a member last said it holds. */
  get assigned(): readonly number[] {
    return this.events.findLast(event => event.event === 'assigned')?.partitions ?? []
  }

  /** The last that it had to say on standard error. */
  get said(): string {
    return this.#stderr.trim()
  }

  /** Closes the driver's standard input, which asks a member to leave. */
  askToStop(): void {
    this.#child.stdin!.end()
  }

  /** Resolves when the driver has ended well; else throws with what it said. */
  async finish(timeoutMs = 150_000): Promise<void> {
    const timer = setTimeout(() => {
      this.#stderr += `\nno end after ${timeoutMs} ms`
      this.#child.kill('SIGKILL')
    }, timeoutMs)
    try {
      await this.#closed
    } finally {
      clearTimeout(timer)
    }
    const well = this.#child.exitCode === 0 && this.events.at(-1)?.event === 'done'
    if (!well) throw this.failure()
  }

  failure(): Error {
    const code = this.#child.exitCode ?? this.#child.signalCode
    return new Error(`${this.#label} ended with ${code} after ${this.events.length} events:\n${this.#stderr.trim()}`)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #read(line: string): void {
    try {
      this.events.push(JSON.parse(line) as DriverEvent)
    } catch {
      this.#stderr += `${line}\n`
    }
  }
}

/** Runs a driver to its end and gives what it saw. */
export async function drive(
  command: DriverCommand,
  verb: string,
  bootstrap: string,
  argument: unknown,
): Promise<DriverProcess> {
  const driver = new DriverProcess(command, verb, bootstrap, argument)
  driver.askToStop()
  await driver.finish()
  return driver
}
