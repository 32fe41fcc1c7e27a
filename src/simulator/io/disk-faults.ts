import { DiskError, type DiskErrorCode } from '../../io/disk.ts'
import type { SeededRandom } from './seeded-random.ts'

export type DiskOperation =
  | 'open'
  | 'list'
  | 'status'
  | 'makeDirectory'
  | 'rename'
  | 'read'
  | 'append'
  | 'write'
  | 'truncate'
  | 'sync'
  | 'remove'
  | 'syncDirectory'
  | 'lock'

const changing: ReadonlySet<DiskOperation> = new Set([
  'makeDirectory',
  'rename',
  'append',
  'write',
  'truncate',
  'remove',
])

interface OrderedFault {
  readonly operation: DiskOperation
  readonly code: DiskErrorCode
  readonly pathEnd: string
  timesLeft: number
}

/** What is wrong with a disk at present. All off at first; set from outside, in the middle of a run. */
export class DiskFaults {
  /** Chance of an `io` error, for each operation. */
  readonly rates: Partial<Record<DiskOperation, number>> = {}
  /** The file system at this path takes no changes; `/` is all of the disk. */
  readOnlyPath: string | undefined
  /** Bytes that may still be written; what is removed or cut is added again. */
  freeBytes = 2 ** 40
  maxOpenFiles = 100_000
  /** Nothing that was asked for completes before this time of the world. */
  stalledUntilUs = 0
  /** Told of each operation that fails, before its caller is. */
  failed: (error: DiskError) => void = () => undefined
  readonly #ordered: OrderedFault[] = []

  /** The next operations of this kind on paths that end so fail with the code. */
  failNext(operation: DiskOperation, code: DiskErrorCode, options: { pathEnd?: string; times?: number } = {}): void {
    this.#ordered.push({ operation, code, pathEnd: options.pathEnd ?? '', timesLeft: options.times ?? 1 })
  }

  /** What was ordered and has not happened yet does not happen any more. */
  forgetOrdered(): void {
    this.#ordered.length = 0
  }

  /** The error with which this operation is to fail, if any. */
  decide(operation: DiskOperation, path: string, random: SeededRandom): DiskError | undefined {
    const code = this.#orderedFault(operation, path) ?? this.#standingFault(operation, path, random)
    return code === undefined ? undefined : this.#tell(new DiskError(code, operation, path))
  }

  /** The error with which a file is not opened for writing, if any. */
  decideOpenToWrite(path: string): DiskError | undefined {
    return this.#isReadOnly(path) ? this.#tell(new DiskError('readOnly', 'open', path)) : undefined
  }

  #tell(error: DiskError): DiskError {
    this.failed(error)
    return error
  }

  #isReadOnly(path: string): boolean {
    const { readOnlyPath } = this
    if (readOnlyPath === undefined || readOnlyPath === '/') return readOnlyPath !== undefined
    return path === readOnlyPath || path.startsWith(`${readOnlyPath}/`)
  }

  #orderedFault(operation: DiskOperation, path: string): DiskErrorCode | undefined {
    const at = this.#ordered.findIndex(fault => fault.operation === operation && path.endsWith(fault.pathEnd))
    const fault = this.#ordered[at]
    if (fault === undefined) return undefined
    if (--fault.timesLeft === 0) this.#ordered.splice(at, 1)
    return fault.code
  }

  #standingFault(operation: DiskOperation, path: string, random: SeededRandom): DiskErrorCode | undefined {
    if (changing.has(operation) && this.#isReadOnly(path)) return 'readOnly'
    return random.chance(this.rates[operation] ?? 0) ? 'io' : undefined
  }
}
