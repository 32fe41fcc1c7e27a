import { assert } from '../../base/assert.ts'
import type { Now } from '../../base/time.ts'
import { Broker } from '../../broker/broker.ts'
import { type LoadedConfig, loadConfig } from '../../config/load-config.ts'
import { problemText } from '../../config/problem.ts'
import type { Endpoint } from '../../io/network.ts'
import { cleanShutdownFileName } from '../../storage/directory-files.ts'
import type { LogDirectories } from '../../storage/log-directories.ts'
import type { History } from '../history/history.ts'
import type { Target } from '../history/operations.ts'
import type { CrashKind } from '../io/simulated-disk.ts'
import type { SimulatedNode } from '../io/simulated-node.ts'
import type { World } from '../io/world.ts'
import type { Plan } from '../plan.ts'
import type { Violations } from '../violations.ts'
import { BrokerWatch } from './broker-watch.ts'
import { DirectoryWatch } from './directory-watch.ts'
import { GroupWatch } from './group-watch.ts'
import { Ledger } from './ledger.ts'

const port = 9092
/** What a start may take of simulated time, recovery and slow disks included. */
const maxStartMs = 120_000

export type BrokerState = 'down' | 'starting' | 'running' | 'closing'

/** The real broker on a simulated host: started, killed and started again over what its disk has kept. */
export class SimulatedBroker {
  readonly node: SimulatedNode
  readonly ledger: Ledger
  readonly #world: World
  readonly #history: History
  readonly #violations: Violations
  readonly #loaded: LoadedConfig
  #broker: Broker | undefined
  #state: BrokerState = 'down'
  #life = 0
  #boot = 1
  readonly #endings = new Set<() => void>()
  readonly #watch: BrokerWatch
  readonly #groupWatch: GroupWatch
  readonly #directoryWatch: DirectoryWatch
  /** Of this life: log directories that have failed. */
  readonly #offline = new Set<string>()
  /** Whether the disk is in such a state that a broker may give up. */
  excuse: () => boolean = () => false
  /** The next time that the broker gives up is no surprise. */
  expectsFailure = false
  /** What goes wrong at a start is told when all that had begun is put away, which may be seconds later. */
  #beginsInTrouble = false

  constructor(world: World, plan: Plan, history: History, violations: Violations) {
    this.#world = world
    this.#history = history
    this.#violations = violations
    this.node = world.addNode('broker')
    this.ledger = new Ledger(history, violations)
    this.#watch = new BrokerWatch({ plan, history, violations, wallMs: () => this.now.wallMs })
    this.#groupWatch = new GroupWatch(history)
    this.#directoryWatch = new DirectoryWatch(plan.logDirs, violations)
    this.node.disk.faults.failed = error => {
      const directory = this.#directoryWatch.directoryOf(error.path)
      if (error.operation === 'sync' && directory !== undefined) this.#watch.syncFailed(directory)
      this.#directoryWatch.failed(error, world.nowMs)
    }
    world.log.watcher = line => {
      this.#groupWatch.logged(line)
      if (line.node === this.node.name) this.#directoryWatch.logged(line)
    }
    this.#loaded = load(plan, this.endpoint)
  }

  get endpoint(): Endpoint {
    return { host: this.node.name, port }
  }

  /** By the host's clock. */
  get now(): Now {
    return this.node.clock.read(this.#world.scheduler.timeUs)
  }

  get state(): BrokerState {
    return this.#state
  }

  get life(): number {
    return this.#life
  }

  /** Only while it runs. */
  get broker(): Broker | undefined {
    return this.#state === 'running' ? this.#broker : undefined
  }

  /** Resolves when clients can connect, or when this process has ended before. Answers whether it runs. */
  async start(): Promise<boolean> {
    assert(this.#state === 'down', 'one process of a broker runs at a time')
    this.#state = 'starting'
    const life = ++this.#life
    this.#offline.clear()
    this.#watch.processBegins()
    this.#directoryWatch.processBegins()
    this.#beginsInTrouble = this.excuse()
    const isThis = () => this.#life === life && this.#state !== 'down'
    this.#history.mark('started', { node: this.node.name, life })
    const timeout = this.#world.after(maxStartMs, () => {
      if (isThis()) this.#violations.add('I66', `a start has not ended after ${maxStartMs} ms`)
    })
    try {
      const starting = Broker.start({
        io: this.node.start(),
        loaded: this.#loaded,
        hostName: this.node.name,
        formatsEmptyDirectories: true,
        bootId: `boot ${this.#boot}`,
        poisonsMemory: true,
        failed: reason => this.#failed(life, reason),
      })
      const broker = await Promise.race([starting, this.#untilEnded(life)])
      if (broker === undefined || !isThis()) return false
      this.#broker = broker
      this.#state = 'running'
      this.#lookForOffline()
      this.#beginsInTrouble = false
      this.expectsFailure = false
      this.#watch.begin(broker)
      this.#groupWatch.begin(broker)
      this.ledger.started(broker)
      return true
    } catch (error) {
      if (isThis()) this.#startFailed(life, error)
      return false
    } finally {
      timeout.cancel()
    }
  }

  /** Ends the process as `kill -9` or a cut of the power does. Harmless when none runs. */
  crash(kind: CrashKind): void {
    if (kind === 'power') {
      this.#boot++
      this.#observe()
      this.ledger.powerCut()
    } else this.#observe()
    if (this.#state === 'down' && kind === 'kill') return
    const wasUp = this.#state !== 'down'
    const inUse = this.broker?.logs.directories.filter(directory => !directory.isOffline) ?? []
    this.node.crash(kind)
    for (const { path } of inUse) this.#expectNoMark(path)
    this.#ended(kind === 'kill' ? 'kill' : 'power', wasUp)
  }

  /** Stops in good order. Answers whether it came to that. */
  async close(): Promise<boolean> {
    const broker = this.broker
    if (broker === undefined) return false
    const life = this.#life
    this.#state = 'closing'
    this.#history.mark('closing', { node: this.node.name, life })
    this.#observe()
    this.#broker = broker
    await Promise.race([broker.close(), this.#untilEnded(life)])
    if (this.#life !== life || (this.#state as BrokerState) !== 'closing') return false
    this.#observe()
    this.node.crash('kill')
    this.#ended('closed', true)
    return true
  }

  /** After each event of the world: what the broker holds now keeps the rules that hold at every moment. */
  look(): void {
    if (this.#state !== 'running') return
    this.#watch.look()
    if (this.#broker !== undefined) this.#groupWatch.look(this.#broker)
    this.#lookForOffline()
  }

  /** Whether it works with what is left of its log directories, which lasts until it is started again. */
  get hasOfflineDirectory(): boolean {
    const logs = this.broker?.logs
    return logs !== undefined && (logs.unread.length > 0 || logs.directories.some(directory => directory.isOffline))
  }

  /** A directory is given up only when its disk has failed (I49), and the operator is told (I53). */
  #lookForOffline(): void {
    const logs = this.broker?.logs
    if (logs === undefined) return
    const { isPaused, disk } = this.node
    const stalledUntilMs = disk.faults.stalledUntilUs / 1000
    this.#directoryWatch.look(logs.directories, { nowMs: this.#world.nowMs, isPaused, stalledUntilMs })
    for (const { path, isOffline } of logs.directories) {
      if (!isOffline || this.#offline.has(path)) continue
      this.#offline.add(path)
      this.#directoryWatch.wentOffline(path)
      this.#history.mark('offline', { directory: path, partitions: partitionsIn(path, logs) })
      if (!this.#mayFail()) this.#violations.add('I49', `${path} is offline, and its disk has not failed`)
    }
  }

  #untilEnded(life: number): Promise<undefined> {
    return new Promise(resolve => {
      const ended = () => {
        if (this.#life !== life || this.#state === 'down') resolve(undefined)
      }
      this.#endings.add(ended)
    })
  }

  /** A directory was shut down cleanly only if the last process in it was closed, and says so in no other case (I51). */
  #expectNoMark(directory: string): void {
    if (this.node.disk.tree.find(`${directory}/${cleanShutdownFileName}`) === undefined) return
    this.#violations.add('I51', `after a crash ${directory} is marked as shut down cleanly`)
  }

  #observe(): void {
    if (this.#broker !== undefined && (this.#state === 'running' || this.#state === 'closing'))
      this.ledger.observe(this.#broker)
  }

  #ended(how: 'kill' | 'power' | 'closed' | 'failed', wasUp: boolean): void {
    this.#state = 'down'
    this.#broker = undefined
    this.node.disk.faults.forgetOrdered()
    if (wasUp) this.#history.mark('ended', { node: this.node.name, life: this.#life, how })
    for (const ending of [...this.#endings]) ending()
    this.#endings.clear()
  }

  #failed(life: number, reason: Error): void {
    if (this.#life !== life || this.#state === 'down') return
    const directories = this.#broker?.logs.directories
    const mayGoOn = directories !== undefined && this.#directoryWatch.mayGoOn(directories)
    if (!this.#mayFail() || mayGoOn)
      this.#violations.add(mayGoOn ? 'I53' : 'I49', `the broker has stopped itself: ${reason.stack ?? reason.message}`)
    this.crash('kill')
  }

  #mayFail(): boolean {
    return this.expectsFailure || this.excuse() || this.#beginsInTrouble
  }

  #startFailed(life: number, error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    if (!this.#mayFail()) this.#violations.add('I51', `life ${life} cannot start: ${text}`)
    this.node.crash('kill')
    this.#ended('failed', true)
  }
}

function partitionsIn(path: string, logs: LogDirectories): Target[] {
  const inside = [...logs.logs].filter(log => log.path.startsWith(`${path}/`))
  return inside.map(({ topic, topicId, partition }) => ({ topic, topicId, partition }))
}

function load(plan: Plan, { host, port: publicPort }: Endpoint): LoadedConfig {
  const loaded = loadConfig({
    overrides: [
      `listeners=PLAINTEXT://:${publicPort}`,
      `advertised.listeners=PLAINTEXT://${host}:${publicPort}`,
      `log.dirs=${plan.logDirs.join(',')}`,
      `millrace.flush=${plan.flush}`,
      'millrace.admin.listener=',
      ...plan.overrides,
    ],
    environment: {},
  })
  assert(loaded.type === 'loaded', loaded.type === 'loaded' ? '' : loaded.problems.map(problemText).join('; '))
  return loaded
}
