import { availableParallelism } from 'node:os'
import type { Io } from '../io.ts'
import type { LogSink } from '../log-sink.ts'
import { CopySlabs } from './append-batch.ts'
import { AppendPace } from './append-pace.ts'
import { ChunkPool } from './chunk-pool.ts'
import { consoleLogSink } from './console-log-sink.ts'
import { loadNativeCalls, type NativeCalls } from './native-calls.ts'
import { NodeClock } from './node-clock.ts'
import { NodeCompute } from './node-compute.ts'
import { NodeDisk } from './node-disk.ts'
import { NodeNetwork } from './node-network.ts'
import { NodeRandom } from './node-random.ts'
import { poolLimits, Slots } from './slots.ts'
import { TurnQueue } from './turn-queue.ts'

/** Connections at rest read into one buffer of this size; larger brings no more (tried: 64 KiB 0.41, 256 KiB 0.35, 1 MiB 0.37 CPU-s/GB). */
const SCRATCH_BYTES = 256 * 1024
const MAX_CHUNK_BYTES = 32 * 1024 * 1024

export interface NodeIoOptions {
  /** Where log lines go. Text on stderr when not given. */
  readonly log?: LogSink
  /** Whether file ranges are sent by sendfile where that is possible. Yes when not given. */
  readonly sendfile?: boolean
  /** Calls of the C library; null for none. Loaded through node:ffi or koffi, where there is one, when not given. */
  readonly native?: NativeCalls | null
  /** Whether sockets read into buffers of ours. Yes when not given. */
  readonly readIntoBuffers?: boolean
  /**
   * What a callback of whoever uses this world throws: a broken invariant of theirs, since failures of the world are values.
   * When not given it is an uncaught exception of the process.
   */
  readonly uncaught?: (error: unknown) => void
}

/** Where the running process differs from the best case, for the start-up log. */
export interface NodeIo extends Io {
  readonly nativeCalls: NativeCalls['through'] | undefined
  readonly usesSendfile: boolean
}

/**
 * The real world of one broker or client. The thread pool should have 16 threads: set UV_THREADPOOL_SIZE before the
 * process starts. With Node's 4 there is one at a time of cold reads, syncs and computing each.
 */
export function nodeIo(options: NodeIoOptions = {}): NodeIo {
  const log = options.log ?? consoleLogSink()
  const native = options.native === undefined ? loadNativeCalls() : (options.native ?? undefined)
  const turns = new TurnQueue(options.uncaught)
  const limits = poolLimits(Number(process.env.UV_THREADPOOL_SIZE ?? 4), availableParallelism())
  const pace = new AppendPace(({ count, lastMs }) => {
    const message = `the disk holds writers back (${Math.round(lastMs)} ms for one write): writes go to the thread pool`
    log.write('warn', message, { stalls: count })
  })
  const disk = new NodeDisk(
    {
      turns,
      pace,
      copies: new CopySlabs(),
      reads: new Slots(limits.reads),
      syncs: new Slots(limits.syncs),
      appends: new Slots(limits.appends),
    },
    native,
  )
  const usesSendfile = native !== undefined && options.sendfile !== false
  const network = new NodeNetwork(
    {
      turns,
      native,
      useSendfile: usesSendfile,
      chunks: new ChunkPool(MAX_CHUNK_BYTES),
      scratch: Buffer.allocUnsafeSlow(SCRATCH_BYTES),
      readIntoBuffers: options.readIntoBuffers !== false,
    },
    log,
  )
  const compute = new NodeCompute(new Slots(limits.computing), turns)
  const clock = new NodeClock(turns)
  return { clock, random: new NodeRandom(), disk, network, compute, log, nativeCalls: native?.through, usesSendfile }
}
