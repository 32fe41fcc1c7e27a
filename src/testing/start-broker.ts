import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ErrorCode, errorName } from '../base/error-code.ts'
import { type RunningBroker, startBroker as startRunning } from '../broker/start.ts'
import { StartError } from '../broker/start-error.ts'
import { type LoadedConfig, loadConfig } from '../config/load-config.ts'
import { problemText } from '../config/problem.ts'
import type { LogLevel, LogSink } from '../io/log-sink.ts'
import { consoleLogSink } from '../io/node/console-log-sink.ts'
import { TestBroker } from './test-broker.ts'

export interface StartBrokerOptions {
  /** Topics that are there when the broker is handed over, with their numbers of partitions. */
  readonly topics?: Readonly<Record<string, number>>
  /** Settings as in server.properties. With `log.dirs` the data lies there, and stays when the broker is closed. */
  readonly overrides?: Readonly<Record<string, string>>
  /** Lines from this level on go to stderr; or where all lines go. `error` when not given. */
  readonly log?: LogLevel | LogSink
}

const createTimeoutMs = 30_000

/**
 * Starts a broker in this process, with a port and a temporary directory of its own, and resolves when a client can
 * connect. It has the settings of the development profile and reads no environment. Rejects with `StartError` when it
 * cannot start or a topic cannot be created; nothing is left then.
 */
export async function startBroker(options: StartBrokerOptions = {}): Promise<TestBroker> {
  const { topics = {}, overrides = {} } = options
  const temporaryDirectory = 'log.dirs' in overrides ? undefined : await mkdtemp(join(tmpdir(), 'millrace-'))
  const removeData = async () => {
    if (temporaryDirectory !== undefined) await rm(temporaryDirectory, { recursive: true, force: true })
  }
  let running: RunningBroker | undefined
  let failed = (_reason: Error) => {}
  try {
    const settings = { ...(await embeddedSettings(temporaryDirectory)), ...overrides }
    running = await startRunning({
      loaded: load(settings),
      log: logSinkOf(options.log ?? 'error'),
      failed: reason => failed(reason),
      formatsEmptyDirectories: true,
      // A use of memory after it was given back shows.
      poisonsMemory: true,
    })
    await createTopics(running, topics)
  } catch (error) {
    await running?.close()
    await removeData()
    throw error
  }
  const broker = new TestBroker(running, removeData)
  failed = reason => broker.fail(reason)
  return broker
}

async function embeddedSettings(directory: string | undefined): Promise<Record<string, string>> {
  const controllerPort = await freePort()
  return {
    ...(directory === undefined ? {} : { 'log.dirs': directory }),
    listeners: `PLAINTEXT://localhost:0,CONTROLLER://127.0.0.1:${controllerPort}`,
    'controller.quorum.bootstrap.servers': `127.0.0.1:${controllerPort}`,
    'millrace.admin.listener': '',
  }
}

/** The controller's port stands in the metadata of the cluster, so it must be a number, and one that nobody else uses. */
async function freePort(): Promise<number> {
  const server = createServer()
  return await new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

function load(settings: Readonly<Record<string, string>>): LoadedConfig {
  const overrides = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  const loaded = loadConfig({ overrides, environment: {} })
  if (loaded.type === 'invalid') throw new StartError(loaded.problems.map(problemText).join('\n'))
  return loaded
}

function logSinkOf(log: LogLevel | LogSink): LogSink {
  return typeof log === 'string' ? consoleLogSink({ level: log }) : log
}

async function createTopics(running: RunningBroker, topics: Readonly<Record<string, number>>): Promise<void> {
  const wanted = Object.entries(topics).map(([name, numPartitions]) => {
    return { name, numPartitions, replicationFactor: -1, assignments: [], configs: [] }
  })
  if (wanted.length === 0) return
  const request = { topics: wanted, timeoutMs: createTimeoutMs, validateOnly: false }
  const reply = await running.broker.metadata.submit({ type: 'createTopics', request })
  if (reply.type !== 'createTopics') throw new StartError('topics could not be created')
  for (const { name, errorCode, errorMessage } of reply.response.topics) {
    // In a directory that was given they may be there from an earlier time.
    if (errorCode === ErrorCode.none || errorCode === ErrorCode.topicAlreadyExists) continue
    throw new StartError(`topic ${name} could not be created: ${errorMessage ?? errorName(errorCode)}`)
  }
}
