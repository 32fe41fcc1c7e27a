import type { BrokerProcess } from '../test/compatibility/broker-process.ts'
import type { LoadGenerator } from './load-generator.ts'
import type { System } from './system.ts'

export interface Metric {
  readonly name: string
  readonly unit: string
  readonly better: 'less' | 'more'
  /** What the ratio to Kafka must not exceed (or, where more is better, fall below). */
  readonly bar?: number
}

/** One figure for each metric of the workload. */
export type Figures = Readonly<Record<string, number>>

export interface Tools {
  readonly load: LoadGenerator
  /** 1, or less for a quick look. */
  readonly scale: number
}

/** What a row of the table says of it. */
export interface Described {
  readonly name: string
  readonly title: string
  readonly metrics: readonly Metric[]
}

/** Load on a broker that stays up from round to round. */
export interface LoadWorkload extends Described {
  readonly kind: 'load'
  run(broker: BrokerProcess, tools: Tools): Promise<Figures>
}

/** Something about starting and stopping: each round has a broker of its own. */
export interface LifeWorkload extends Described {
  readonly kind: 'life'
  run(system: System, tools: Tools): Promise<Figures>
}

export type Workload = LoadWorkload | LifeWorkload
