import type { Random } from '../base/random.ts'
import type { Clock } from './clock.ts'
import type { Compute } from './compute.ts'
import type { Disk } from './disk.ts'
import type { LogSink } from './log-sink.ts'
import type { Network } from './network.ts'

/** The whole outside world of one node. Nothing in Millrace reaches time, chance, disk or network in another way. */
export interface Io {
  readonly clock: Clock
  readonly random: Random
  readonly disk: Disk
  readonly network: Network
  readonly compute: Compute
  readonly log: LogSink
}
