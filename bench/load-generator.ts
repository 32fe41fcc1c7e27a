import { join } from 'node:path'
import { runOrThrow } from '../test/compatibility/child-process.ts'
import { goProgram } from '../test/compatibility/install.ts'

export type Flags = Readonly<Record<string, string | number>>

interface Quantiles {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** What `bench/load` prints; which fields are there depends on the mode. */
export interface LoadResult {
  readonly records: number
  readonly seconds: number
  readonly records_per_s: number
  readonly mb_per_s: number
  readonly broker_cpu_s: number
  readonly broker_cpu_s_per_gb: number
  readonly broker_rss_mib: number
  readonly end_to_end_ms: Quantiles
  readonly acknowledged_ms: Quantiles
  readonly late_ms: Quantiles
  readonly at_unix_ms: number
}

/** The load generator, built once for its sources. */
export class LoadGenerator {
  readonly #program: string

  private constructor(program: string) {
    this.#program = program
  }

  static async build(): Promise<LoadGenerator> {
    return new LoadGenerator(await goProgram('bench-load', join(import.meta.dirname, 'load')))
  }

  async run(mode: string, flags: Flags): Promise<LoadResult> {
    const args = Object.entries(flags).flatMap(([name, value]) => [`-${name}`, String(value)])
    return JSON.parse(await runOrThrow(this.#program, [mode, ...args])) as LoadResult
  }
}
