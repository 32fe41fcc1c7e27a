import type { Command } from 'commander'
import { type Client, createClient, MillraceError } from '../client/index.ts'
import { CommandFailure, ExitCode } from './output.ts'

export interface ConnectFlags {
  readonly bootstrap?: string
  readonly timeout: string
  readonly json?: true
}

/** The flags of every command that talks to a cluster. */
export function addConnectFlags(command: Command): Command {
  return command
    .option(
      '-b, --bootstrap <host:port>',
      'brokers to ask first (default: $MILLRACE_BOOTSTRAP, $KAFKA_BOOTSTRAP_SERVERS, or localhost:9092)',
    )
    .option('--timeout <seconds>', 'how long to go on trying', '10')
    .option('--json', 'print JSON')
}

function bootstrapOf({ bootstrap }: ConnectFlags): string {
  const { MILLRACE_BOOTSTRAP, KAFKA_BOOTSTRAP_SERVERS, BOOTSTRAP_SERVERS } = process.env
  const given = bootstrap ?? MILLRACE_BOOTSTRAP ?? KAFKA_BOOTSTRAP_SERVERS ?? BOOTSTRAP_SERVERS ?? 'localhost:9092'
  // Some tools hand out addresses with a protocol in front.
  return given.replaceAll(/\bPLAINTEXT:\/\//g, '')
}

/** Runs `work` with a client that is closed at the end, and turns its errors into one line. */
export async function withClient<T>(flags: ConnectFlags, work: (client: Client) => Promise<T>): Promise<T> {
  const seconds = Number(flags.timeout)
  if (!(seconds > 0))
    throw new CommandFailure(`--timeout ${flags.timeout}: a number of seconds is needed`, ExitCode.usage)
  const bootstrapServers = bootstrapOf(flags)
  try {
    const client = createClient({
      bootstrapServers,
      clientId: 'millrace-cli',
      apiTimeoutMs: seconds * 1000,
      connectTimeoutMs: Math.min(seconds, 5) * 1000,
    })
    try {
      await reach(client, bootstrapServers, Math.min(seconds, 5) * 1000)
      return await work(client)
    } finally {
      await client.close()
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
    const reason = /E[A-Z]{4,}|getaddrinfo.*/.exec(error.message)?.[0] ?? error.message
    throw new CommandFailure(
      `no broker answers at ${bootstrapServers}: ${reason}. Is it running? --bootstrap names another`,
    )
  }
}

export function asFailure(error: unknown): unknown {
  if (!(error instanceof MillraceError)) return error
  return new CommandFailure(error.message, error.code === 'INVALID_ARGUMENT' ? ExitCode.usage : ExitCode.failed)
}

/** The value of the first result; its error ends the command. */
export function only<T extends { readonly error?: MillraceError | undefined }>(results: readonly T[]): T {
  const [result] = results
  if (result.error !== undefined) throw result.error
  return result
}

/** KEY=VALUE flags as a record. */
export function keyValues(pairs: readonly string[], flag: string): Record<string, string> {
  const entries = pairs.map(pair => {
    const at = pair.indexOf('=')
    if (at <= 0) throw new CommandFailure(`${flag} ${pair}: KEY=VALUE is needed`, ExitCode.usage)
    return [pair.slice(0, at), pair.slice(at + 1)] as const
  })
  return Object.fromEntries(entries)
}

/** A whole number of at least `min`. */
export function wholeNumber(text: string, flag: string, min = 0): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || !Number.isSafeInteger(value)) {
    throw new CommandFailure(`${flag} ${text}: a whole number of at least ${min} is needed`, ExitCode.usage)
  }
  return value
}

/** For flags that may be given several times. */
export function collect(value: string, before: string[]): string[] {
  return [...before, value]
}
