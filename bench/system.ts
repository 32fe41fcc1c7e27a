import type { BrokerProcess } from '../test/compatibility/broker-process.ts'
import { KafkaOracle } from '../test/compatibility/kafka/kafka-oracle.ts'
import { MillraceProcess } from '../test/compatibility/millrace-process.ts'

export interface SystemOptions {
  /** Heap of a JVM, as the workload states it. Millrace has no such setting. */
  readonly heap: readonly string[]
}

/** A broker that is measured, and how to get one in a fresh directory. */
export interface System {
  readonly name: string
  /** Formatted, with a client able to connect. */
  start(dir: string, options: SystemOptions): Promise<BrokerProcess>
  /** Formatted and not running: `restart` starts it. */
  prepare(dir: string, options: SystemOptions): Promise<BrokerProcess>
}

export const KAFKA: System = {
  name: 'kafka',
  start: (dir, options) => KafkaOracle.start({ dir, ...options }),
  prepare: (dir, options) => KafkaOracle.format({ dir, ...options }),
}

/** A Millrace of this checkout with some settings, on some Node. */
export function millrace(name: string, overrides: Readonly<Record<string, string>> = {}, node?: string): System {
  const start = (dir: string): Promise<MillraceProcess> => MillraceProcess.start({ dir, name, overrides, node })
  return {
    name,
    start,
    // It formats an empty directory when it first starts, so that is done beforehand.
    prepare: async dir => {
      const broker = await start(dir)
      await broker.stop()
      return broker
    },
  }
}

/** `NAME:key=value,key=value`; the key `node` is the Node to run it on, any other is a setting. */
export function parseVariant(text: string): System {
  const colon = text.indexOf(':')
  const pairs = text
    .slice(colon + 1)
    .split(',')
    .map(pair => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)])
  if (colon <= 0 || pairs.some(([key]) => key === '')) throw new Error(`not a variant: ${text}; write NAME:key=value`)
  const { node, ...overrides } = Object.fromEntries(pairs) as Record<string, string>
  return millrace(text.slice(0, colon), overrides, node)
}
