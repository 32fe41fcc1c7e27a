import type { ChildProcess } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { accepts, type BrokerProcess, endChild, openLog, tail, until } from './broker-process.ts'
import { start } from './child-process.ts'
import { freePorts } from './free-port.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const MAIN = join(ROOT, 'src', 'cli', 'main.ts')
/** What `npm start` goes through. */
const RUN = join(ROOT, 'scripts', 'run.cjs')

export interface MillraceOptions {
  /** Holds its output and, unless `logDir` says otherwise, its data. */
  readonly dir: string
  readonly name?: string
  /** Settings as on the command line, `--override key=value`. */
  readonly overrides?: Readonly<Record<string, string>>
  readonly logDir?: string
  /** For clients; a free one if absent. */
  readonly port?: number
  /** The Node to run it on; this process's own if absent. */
  readonly node?: string
}

export function millraceExists(): boolean {
  return existsSync(MAIN)
}

/** One Millrace broker in a process of its own, from this checkout, with the development profile's defaults. */
export class MillraceProcess implements BrokerProcess {
  readonly name: string
  readonly bootstrap: string
  readonly logDirs: readonly string[]
  readonly #node: string
  readonly #args: readonly string[]
  readonly #outputFile: string
  #child: ChildProcess | undefined

  private constructor(options: MillraceOptions, ports: { client: number; admin: number }) {
    const logDir = options.logDir ?? join(options.dir, 'data')
    const settings = {
      listeners: `PLAINTEXT://127.0.0.1:${ports.client}`,
      'log.dirs': logDir,
      'millrace.admin.listener': `127.0.0.1:${ports.admin}`,
      ...options.overrides,
    }
    this.name = options.name ?? 'millrace'
    this.bootstrap = `127.0.0.1:${ports.client}`
    this.logDirs = [logDir]
    this.#node = options.node ?? process.execPath
    this.#args = [
      // An older Node would be run as a child of its own, whose memory and CPU nobody would count.
      ...(options.node === undefined ? [RUN, MAIN] : [MAIN]),
      'start',
      ...Object.entries(settings).flatMap(([key, value]) => ['--override', `${key}=${value}`]),
    ]
    this.#outputFile = join(options.dir, 'millrace.log')
  }

  static async start(options: MillraceOptions): Promise<MillraceProcess> {
    if (!millraceExists()) throw new Error('this checkout has no broker yet')
    mkdirSync(options.dir, { recursive: true })
    const [client, admin] = await freePorts(2)
    const broker = new MillraceProcess(options, { client: options.port ?? client!, admin: admin! })
    await broker.restart()
    return broker
  }

  get pids(): number[] {
    return this.#child?.pid === undefined ? [] : [this.#child.pid]
  }

  /** What it printed since it was last started. */
  output(): string {
    return readFileSync(this.#outputFile, 'utf8')
  }

  async restart({ ready = true }: { readonly ready?: boolean } = {}): Promise<void> {
    const output = openLog(this.#outputFile)
    const child = start(this.#node, this.#args, { stdio: ['ignore', output, output], cwd: ROOT, env: ownEnvironment() })
    closeSync(output)
    this.#child = child
    if (!ready) return
    try {
      await until('Millrace to accept a connection', async () => {
        if (child.exitCode !== null) throw new Error(`Millrace ended with ${child.exitCode}`)
        return await accepts(this.bootstrap)
      })
    } catch (error) {
      await this.stop('SIGKILL')
      throw new Error(`${(error as Error).message}; it said:\n${tail(this.output())}`)
    }
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child !== undefined) await endChild(child, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL')
  }
}

/** Without the variables that a broker reads as its settings. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^(MILLRACE|KAFKA)_/.test(key)))
}
