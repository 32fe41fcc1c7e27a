import type { Command } from 'commander'
import { parseServers } from '../client/client-options.ts'
import { type Client, createClient, MillraceError } from '../client/index.ts'
import { Needed, seconds, valued } from './option-values.ts'
import { CommandFailure, ExitCode } from './output.ts'

export interface ConnectFlags {
  readonly bootstrap?: string
  /** Seconds. */
  readonly timeout: number
  readonly json?: true
}

/** The flags of every command that talks to a cluster. */
export function addConnectFlags(command: Command): Command {
  return command
    .addOption(
      valued(
        '-b, --bootstrap <host:port>',
        'brokers to ask first (default: $MILLRACE_BOOTSTRAP, $KAFKA_BOOTSTRAP_SERVERS, $BOOTSTRAP_SERVERS, or localhost:9092)',
        servers,
      ),
    )
    .addOption(valued('--timeout <seconds>', 'how long to go on trying', seconds).default(10))
    .option('--json', 'print JSON')
}

function servers(text: string): string | Needed {
  try {
    parseServers(text)
    return text
  } catch {
    return new Needed('HOST:PORT, or several with commas between,')
  }
}

/** An empty variable is as good as none. */
function bootstrapOf({ bootstrap }: ConnectFlags): string {
  if (bootstrap !== undefined) return bootstrap
  for (const name of ['MILLRACE_BOOTSTRAP', 'KAFKA_BOOTSTRAP_SERVERS', 'BOOTSTRAP_SERVERS']) {
    const text = process.env[name]
    if (text === undefined || text === '') continue
    const given = servers(text)
    if (given instanceof Needed) throw new CommandFailure(`${name}=${text}: ${given.what} is needed`, ExitCode.usage)
    return given
  }
  return 'localhost:9092'
}

/** Runs `work` with a client that is closed at the end, and turns its errors into one line. */
export async function withClient<T>(flags: ConnectFlags, work: (client: Client) => Promise<T>): Promise<T> {
  const timeoutMs = Math.ceil(flags.timeout * 1000)
  const reachTimeoutMs = Math.min(timeoutMs, 5000)
  const bootstrapServers = bootstrapOf(flags)
  try {
    const client = createClient({
      bootstrapServers,
      clientId: 'millrace-cli',
      apiTimeoutMs: timeoutMs,
      connectTimeoutMs: reachTimeoutMs,
    })
    try {
      await reach(client, bootstrapServers, reachTimeoutMs)
      return await work(client)
    } finally {
      await client.close({ timeoutMs: 5000 })
    }
  } catch (error) {
    throw asFailure(error)
  }
}

/** A broker that is not there is told within seconds, and not after all the time that the work may take. */
async function reach(client: Client, bootstrapServers: string, timeoutMs: number): Promise<void> {
  try {
    await client.admin().describeVersions({ timeoutMs })
  } catch (error) {
    if (!(error instanceof MillraceError) || !/^(CONNECTION_FAILED|TIMED_OUT)$/.test(error.code)) throw error
    const reason =
      /E[A-Z]{4,}|getaddrinfo.*/.exec(error.message)?.[0] ?? error.message.replace(/^asking for [^:]*: /, '')
    // Some end with a question of their own.
    const question = reason.endsWith('?') ? '' : '. Is it running?'
    throw new CommandFailure(`no broker answers at ${bootstrapServers}: ${reason}${question} --bootstrap names another`)
  }
}

/** What is asked for has been checked by then, so that this is no wrong call, and something may have been done. */
export function asFailure(error: unknown): unknown {
  return error instanceof MillraceError ? new CommandFailure(error.message) : error
}

/** Ends the command with every error, a line each; what went well has been told by then. */
export function failIfAny(results: readonly { readonly error?: { readonly message: string } | undefined }[]): void {
  const messages = results.flatMap(({ error }) => (error === undefined ? [] : [error.message]))
  if (messages.length > 0) throw new CommandFailure(messages.join('\n'))
}

/** The value of the first result; its error ends the command. */
export function only<T extends { readonly error?: MillraceError | undefined }>(results: readonly T[]): T {
  const [result] = results
  if (result.error !== undefined) throw result.error
  return result
}
