import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeOffsetCheckpoint } from '../../../src/core/log/checkpoint-text.ts'
import { type BrokerProcess, until } from '../../compatibility/broker-process.ts'
import { KafkaOracle } from '../../compatibility/kafka/kafka-oracle.ts'
import { MillraceProcess } from '../../compatibility/millrace-process.ts'

export type BrokerName = 'kafka' | 'millrace'

const common = {
  'offsets.topic.num.partitions': '1',
  'transaction.state.log.num.partitions': '1',
  'auto.create.topics.enable': 'false',
}
/** Batches of transactions are written without their coordinator. */
const withoutCoordinator = { 'transaction.partition.verification.enable': 'false' }
const cleaner = {
  'log.cleaner.enable': 'true',
  'log.cleaner.backoff.ms': '100',
  'log.initial.task.delay.ms': '0',
  'log.cleaner.threads': '1',
  // The smallest that Kafka takes: 39,321 keys.
  'log.cleaner.dedupe.buffer.size': '1048577',
}

export interface OpenOptions {
  /** Holds configuration and output. */
  readonly dir: string
  /** An existing log directory of node 1. */
  readonly logDir?: string | undefined
  readonly cleans: boolean
  readonly settings?: Readonly<Record<string, string>>
}

/** A broker with its cleaner running, or not. */
export async function openBroker(
  name: BrokerName,
  { dir, logDir, cleans, settings }: OpenOptions,
): Promise<BrokerProcess> {
  const chosen = { ...common, ...(cleans ? cleaner : { 'log.cleaner.enable': 'false' }), ...settings }
  if (name === 'kafka') {
    const properties = { ...chosen, ...withoutCoordinator }
    return await KafkaOracle.start({ dir, logDir, nodeId: 1, properties })
  }
  return await MillraceProcess.start({ dir, logDir, overrides: { ...chosen, 'node.id': '1' } })
}

/** Stopped cleanly when the use is over, killed when it fails. */
export async function withBroker<T>(
  name: BrokerName,
  options: OpenOptions,
  use: (broker: BrokerProcess) => Promise<T>,
): Promise<T> {
  await using broker = await openBroker(name, options)
  const result = await use(broker)
  await broker.stop('SIGTERM')
  return result
}

export function portOf(broker: BrokerProcess): number {
  return Number(broker.bootstrap.split(':')[1])
}

/** `topic-partition` to the first dirty offset, as the file of the directory says now. */
export function readCleanerCheckpoint(logDir: string): Map<string, number> {
  const file = join(logDir, 'cleaner-offset-checkpoint')
  const entries = existsSync(file) ? decodeOffsetCheckpoint(readFileSync(file)) : []
  if (entries === undefined) throw new Error(`${file} is not a whole checkpoint`)
  return new Map(entries.map(({ topic, partition, offset }) => [`${topic}-${partition}`, offset]))
}

/**
 * Waits until the cleaner has come as far as `expected` says, in every log, for as long as one log after the other gets there,
 * and says when it ran. The answer's `late` are the logs that did not get there.
 */
export async function untilClean(
  logDir: string,
  expected: ReadonlyMap<string, number>,
  { timeoutMs = 30_000 }: { readonly timeoutMs?: number } = {},
): Promise<{ readonly toMs: number; readonly late: readonly string[] }> {
  const behind = (): string[] => {
    const now = readCleanerCheckpoint(logDir)
    return [...expected].filter(([log, offset]) => now.get(log) !== offset).map(([log]) => log)
  }
  for (let left = behind().length; left > 0; left = behind().length) {
    try {
      await until('the cleaner', () => behind().length !== left, { timeoutMs })
    } catch {
      break // said below, by name
    }
  }
  const now = readCleanerCheckpoint(logDir)
  const late = behind().map(log => `${log} is clean up to ${now.get(log)} instead of ${expected.get(log)}`)
  return { toMs: Date.now(), late }
}
