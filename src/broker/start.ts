import { readFileSync } from 'node:fs'
import { hostname, totalmem } from 'node:os'
import { join } from 'node:path'
import type { LoadedConfig } from '../config/load-config.ts'
import type { LogSink } from '../io/log-sink.ts'
import { checkedOutRevision } from '../io/node/checked-out-revision.ts'
import type { NativeCalls } from '../io/node/native-calls.ts'
import { nodeIo } from '../io/node/node-io.ts'
import { AdminServer } from './admin/admin-server.ts'
import { BrokerMetricsSource } from './admin/broker-metrics-source.ts'
import type { BuildInfo } from './admin/metrics-source.ts'
import { Broker } from './broker.ts'
import { StartError } from './start-error.ts'

export interface StartOptions {
  readonly loaded: LoadedConfig
  readonly log: LogSink
  /** The broker has stopped itself. */
  readonly failed: (reason: Error) => void
  readonly formatsEmptyDirectories: boolean
  readonly poisonsMemory?: boolean
  /** Calls of the C library; null for none. Loaded where there are any, when not given. */
  readonly native?: NativeCalls | null
}

/** A thousand records or so, of the kind that make room. */
const reserveBytes = 1024 * 1024

const lockWarning =
  'Kafka does not see that this broker uses its directories: there is neither node:ffi (Node 26 on Linux) nor koffi to lock them with as it does. Start none on them'

/** A broker in the real world, with its admin port. */
export interface RunningBroker {
  readonly broker: Broker
  /** Undefined when there is none. */
  readonly adminPort: number | undefined
  /** Answers whether all could be put in order. */
  close(): Promise<boolean>
}

/** Rejects with `StartError` when the broker cannot start. */
export async function startBroker(options: StartOptions): Promise<RunningBroker> {
  const { loaded, log, failed, formatsEmptyDirectories, poisonsMemory, native } = options
  const { config } = loaded
  let started: Broker | undefined
  const early = Promise.withResolvers<never>()
  const uncaught = (error: unknown) => {
    const reason = error instanceof Error ? error : new Error(String(error))
    if (started === undefined) early.reject(reason)
    else started.fail(reason)
  }
  const io = nodeIo({ log, sendfile: config.millraceSendfile, uncaught, native })
  if (io.nativeCalls === undefined) log.write('warn', lockWarning)
  const { adminListener } = config
  const admin = adminListener && new AdminServer(adminListener)
  try {
    const starting = Broker.start({
      io,
      loaded,
      hostName: hostname(),
      formatsEmptyDirectories,
      openAdmin: admin && (() => listen(admin)),
      bootId: bootId(),
      warmBytes: warmBytes(),
      reserveBytes,
      poisonsMemory,
      failed,
    })
    const broker = await Promise.race([starting, early.promise])
    started = broker
    const build = buildInfo()
    const source = new BrokerMetricsSource({ broker, disk: io.disk, clock: io.clock, build })
    admin?.serve(source, io.clock, () => broker.isReady)
    return {
      broker,
      adminPort: admin?.port,
      // The admin port is the last to close: whoever balances load learns from it that the broker stops.
      close: async () => {
        try {
          return await broker.close()
        } finally {
          await admin?.close()
        }
      },
    }
  } catch (error) {
    await admin?.close()
    throw error
  }
}

/** Rejects with `StartError`. */
async function listen(admin: AdminServer): Promise<void> {
  try {
    await admin.listen()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const what = code === 'EADDRINUSE' ? 'another program listens there' : message
    throw new StartError(
      `millrace.admin.listener: cannot listen on ${admin.host}:${admin.port}: ${what}; set another, or an empty value for none`,
    )
  }
}

/** Of the package that this is run from: the checkout's or the built one's. */
/** A package says of which commit it was made. */
function buildInfo(): BuildInfo {
  const root = join(import.meta.dirname, '../..')
  const { version, gitHead } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const revision: string | undefined = gitHead ?? checkedOutRevision(root)
  return { version, ...(revision !== undefined && { revision }), node: process.versions.node }
}

/** Linux names each run of the machine. */
function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return undefined
  }
}

/** Half of the memory that this process may use: the kernel keeps files in what programs leave. */
function warmBytes(): number {
  const limit = process.constrainedMemory()
  return Math.floor((limit > 0 ? Math.min(limit, totalmem()) : totalmem()) / 2)
}
