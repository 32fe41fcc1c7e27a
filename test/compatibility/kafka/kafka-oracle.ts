import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BrokerProcess, endChild, openLog, tail, until } from '../broker-process.ts'
import { run, start } from '../child-process.ts'
import { freePorts } from '../free-port.ts'
import { findJdk } from './java.ts'
import { KAFKA_VERSION, kafkaJars, toolClass } from './kafka-jars.ts'

/** The flags with which Kafka's own start script runs a server, heap apart. */
const SERVER_FLAGS = [
  '-server',
  '-XX:+UseG1GC',
  '-XX:MaxGCPauseMillis=20',
  '-XX:InitiatingHeapOccupancyPercent=35',
  '-XX:+ExplicitGCInvokesConcurrent',
]

const LOGGING = `Configuration:
  Appenders:
    Console: { name: out, PatternLayout: { pattern: "[%d] %p %m (%c)%n" } }
  Loggers:
    Root: { level: INFO, AppenderRef: [{ ref: out }] }
`

export interface KafkaOptions {
  /** Holds configuration, output and, unless `logDir` says otherwise, the data. */
  readonly dir: string
  readonly nodes?: 1 | 3
  /** A node's heap; the default is small, for tests. */
  readonly heap?: readonly string[]
  /** Lines of server.properties that are added to each node's, or replace ours. */
  readonly properties?: Readonly<Record<string, string>>
  /** One node only: a directory that is already formatted, by Kafka or by another. `nodeId` must be the one written in it. */
  readonly logDir?: string
  readonly nodeId?: number
  /** How the voters are known: by records of the metadata log (the default), or by the configuration, which is kraft.version 0. */
  readonly quorum?: Quorum | undefined
}

export type Quorum = 'dynamic' | 'static'

interface Node {
  readonly id: number
  readonly address: string
  readonly configFile: string
  readonly outputFile: string
  readonly logDir: string
}

/** Apache Kafka itself, one or three combined nodes on loopback, with a dynamic quorum, as its own defaults make it, unless told otherwise. */
export class KafkaOracle implements BrokerProcess {
  readonly name = 'kafka'
  readonly version = KAFKA_VERSION
  readonly #nodes: readonly Node[]
  readonly #command: readonly string[]
  #running: ChildProcess[] = []

  private constructor(nodes: readonly Node[], command: readonly string[]) {
    this.#nodes = nodes
    this.#command = command
  }

  static async start(options: KafkaOptions): Promise<KafkaOracle> {
    const oracle = await KafkaOracle.format(options)
    await oracle.restart()
    return oracle
  }

  /** Everything but the start: configuration is written and the directories are formatted. */
  static async format(options: KafkaOptions): Promise<KafkaOracle> {
    const jars = await kafkaJars()
    mkdirSync(options.dir, { recursive: true })
    const logging = join(options.dir, 'log4j2.yaml')
    writeFileSync(logging, LOGGING)
    const nodes = await writeConfigs(options)
    const java = [findJdk().java, `-Dlog4j2.configurationFile=${logging}`, '-cp', join(jars, '*')]
    if (options.logDir === undefined) await formatDirectories(java, options, nodes)
    const [command, ...flags] = java
    const heap = options.heap ?? ['-Xmx512m']
    return new KafkaOracle(nodes, [command!, ...heap, ...SERVER_FLAGS, ...flags, 'kafka.Kafka'])
  }

  get bootstrap(): string {
    return this.#nodes.map(node => node.address).join(',')
  }

  get pids(): number[] {
    return this.#running.flatMap(child => child.pid ?? [])
  }

  get logDirs(): string[] {
    return this.#nodes.map(node => node.logDir)
  }

  /** What node `index` printed since it was last started. */
  output(index = 0): string {
    return readFileSync(this.#nodes[index]!.outputFile, 'utf8')
  }

  async restart({ ready = true }: { readonly ready?: boolean } = {}): Promise<void> {
    const [command, ...flags] = this.#command
    this.#running = this.#nodes.map(node => {
      const output = openLog(node.outputFile)
      const child = start(command!, [...flags, node.configFile], { stdio: ['ignore', output, output] })
      closeSync(output)
      return child
    })
    if (!ready) return
    try {
      await Promise.all(this.#nodes.map((node, index) => this.#started(node, this.#running[index]!)))
    } catch (error) {
      await this.stop('SIGKILL')
      throw error
    }
  }

  async #started(node: Node, child: ChildProcess): Promise<void> {
    await until(`Kafka node ${node.id} to start`, () => {
      if (child.exitCode !== null)
        throw new Error(`Kafka ended at its start:\n${tail(readFileSync(node.outputFile, 'utf8'))}`)
      return readFileSync(node.outputFile, 'utf8').includes('Kafka Server started')
    })
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const running = this.#running
    this.#running = []
    await Promise.all(running.map(child => endChild(child, signal)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL')
  }
}

async function writeConfigs(options: KafkaOptions): Promise<Node[]> {
  const count = options.nodes ?? 1
  const ports = await freePorts(count * 2)
  const controllers = ports.slice(count).map(port => `127.0.0.1:${port}`)
  const idOf = (index: number) => options.nodeId ?? index + 1
  const voters = controllers.map((address, index) => `${idOf(index)}@${address}`).join(',')
  return ports.slice(0, count).map((port, index) => {
    const id = idOf(index)
    const logDir = options.logDir ?? join(options.dir, `data-${id}`)
    const replicas = String(count)
    const minIsr = count === 3 ? '2' : '1'
    const properties: Record<string, string> = {
      'process.roles': 'broker,controller',
      'node.id': String(id),
      ...(options.quorum === 'static'
        ? { 'controller.quorum.voters': voters }
        : { 'controller.quorum.bootstrap.servers': controllers.join(',') }),
      'controller.listener.names': 'CONTROLLER',
      listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://${controllers[index]}`,
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
      'log.dirs': logDir,
      'broker.rack': `rack-${id}`,
      'default.replication.factor': replicas,
      'min.insync.replicas': minIsr,
      'offsets.topic.replication.factor': replicas,
      'transaction.state.log.replication.factor': replicas,
      'transaction.state.log.min.isr': minIsr,
      'share.coordinator.state.topic.replication.factor': replicas,
      'share.coordinator.state.topic.min.isr': minIsr,
      'group.initial.rebalance.delay.ms': '0',
      ...options.properties,
    }
    const configFile = join(options.dir, `server-${id}.properties`)
    const lines = Object.entries(properties).map(([key, value]) => `${key}=${value}\n`)
    writeFileSync(configFile, lines.join(''))
    const outputFile = join(options.dir, `node-${id}.log`)
    return { id, address: `127.0.0.1:${port}`, configFile, outputFile, logDir }
  })
}

/** Where records name the voters, one node votes alone; three are each other's initial controllers and so need their directory ids beforehand. */
async function formatDirectories(
  java: readonly string[],
  options: KafkaOptions,
  nodes: readonly Node[],
): Promise<void> {
  const clusterFile = join(options.dir, 'cluster.id')
  if (!existsSync(clusterFile)) writeFileSync(clusterFile, uuid())
  const clusterId = readFileSync(clusterFile, 'utf8')
  const voters = nodes.map(node => {
    const controller = /CONTROLLER:\/\/(127\.0\.0\.1:\d+)/.exec(readFileSync(node.configFile, 'utf8'))![1]
    return `${node.id}@${controller}:${uuid()}`
  })
  const dynamic = nodes.length === 1 ? ['--standalone'] : ['--initial-controllers', voters.join(',')]
  const quorum = options.quorum === 'static' ? [] : dynamic
  const [command, ...flags] = java
  for (const node of nodes) {
    const format = ['format', '--ignore-formatted', '--cluster-id', clusterId, '--config', node.configFile, ...quorum]
    const finished = await run(command!, [...flags, '-Xmx256m', await toolClass('StorageTool'), ...format])
    if (finished.code !== 0)
      throw new Error(`Kafka did not format ${node.logDir}:\n${finished.stdout}${finished.stderr}`)
  }
}

/** Kafka's form of an id. One that begins with a dash would read as an option. */
function uuid(): string {
  const id = randomBytes(16).toString('base64url')
  return id.startsWith('-') ? uuid() : id
}
