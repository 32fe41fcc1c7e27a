import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ErrorCode, errorName } from '../base/error-code.ts'
import { unknownOption } from '../base/unknown-option.ts'
import { type RunningBroker, startBroker as startRunning } from '../broker/start.ts'
import { StartError } from '../broker/start-error.ts'
import { brokerSetting } from '../config/broker-settings.ts'
import { type LoadedConfig, loadConfig } from '../config/load-config.ts'
import { problemText } from '../config/problem.ts'
import { unknownSettingText } from '../config/unknown-setting.ts'
import type { LogLevel, LogSink } from '../io/log-sink.ts'
import { consoleLogSink } from '../io/node/console-log-sink.ts'
import { TestBroker } from './test-broker.ts'

export interface StartBrokerOptions {
  /** Topics that are there when the broker is handed over, with their numbers of partitions. */
  readonly topics?: Readonly<Record<string, number>>
  /**
   * Settings as in server.properties. With `log.dirs` the data lies there, and stays when the broker is closed. A name that is no
   * setting is ignored, as everywhere, with a warning of the process (code `MILLRACE_UNKNOWN_SETTING`).
   */
  readonly overrides?: Readonly<Record<string, string>>
  /** Lines from this level on go to stderr; or where all lines go. `error` when not given. */
  readonly log?: LogLevel | LogSink
}

const createTimeoutMs = 30_000

/**
 * Starts a broker in this process, with a port and a temporary directory of its own, and resolves when a client can
 * connect. It has the settings of the development profile and reads no environment. Rejects with `TypeError` when an option
 * is unknown or of the wrong kind, and with `StartError` when it cannot start or a topic cannot be created; nothing is left then.
 */
export async function startBroker(options: StartBrokerOptions = {}): Promise<TestBroker> {
  checkOptions(options)
  const { topics = {}, overrides = {}, log = 'error' } = options
  warnOfUnknown(overrides)
  const temporaryDirectory = 'log.dirs' in overrides ? undefined : await mkdtemp(join(tmpdir(), 'millrace-'))
  const removeData = async () => {
    if (temporaryDirectory !== undefined) await rm(temporaryDirectory, { recursive: true, force: true })
  }
  let running: RunningBroker | undefined
  let failed = (_reason: Error) => {}
  try {
    const settings = { ...(await embeddedSettings(temporaryDirectory)), ...overrides }
    const sink = logSinkOf(log)
    const loaded = load(settings)
    for (const warning of loaded.warnings) sink.write('warn', warning)
    running = await startRunning({
      loaded,
      log: sink,
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

const optionNames: readonly (keyof StartBrokerOptions)[] = ['topics', 'overrides', 'log']
const levels: readonly unknown[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[]

/** Types say so already, to those who have them. */
function checkOptions(options: StartBrokerOptions): void {
  const wrong = unknownOption(options, optionNames)
  if (wrong !== undefined) throw new TypeError(`startBroker: ${wrong}`)
  const { topics = {}, overrides = {}, log = 'error' } = options
  for (const [name, count] of Object.entries(topics)) {
    if (!Number.isSafeInteger(count))
      throw new TypeError(`startBroker: topics: ${name}: ${shown(count)} is no number of partitions`)
  }
  for (const [name, value] of Object.entries(overrides)) {
    if (typeof value !== 'string') throw new TypeError(`startBroker: overrides: ${name}: ${shown(value)} is no text`)
  }
  const isSink = typeof log === 'object' && typeof log?.write === 'function'
  if (!isSink && !levels.includes(log)) {
    throw new TypeError(`startBroker: log: ${shown(log)} is none of ${levels.join(', ')}, and has no write()`)
  }
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value)
}

/** Whatever the level of the log: the broker of this test is not what its author takes it for. */
function warnOfUnknown(overrides: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(overrides)) {
    if (brokerSetting(name) !== undefined) continue
    process.emitWarning(`startBroker: overrides: ${unknownSettingText(name)}`, { code: 'MILLRACE_UNKNOWN_SETTING' })
  }
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
