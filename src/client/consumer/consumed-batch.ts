import type { Record } from '../../records/record.ts'
import type { AssignedPartition, Position } from './assigned-partition.ts'

/** Records of one partition, in order. Keys, values and header values are views of what was fetched: copy to keep few. */
export class ConsumedBatch {
  readonly topic: string
  readonly partition: number
  readonly records: readonly Record[]
  /** The offset to go on from once all records are worked on: gaps and transaction markers behind them are passed. */
  readonly nextOffset: number
  /** Exclusive end of what is replicated, as of the fetch. */
  readonly highWatermark: number
  readonly #assigned: AssignedPartition
  readonly #version: number
  readonly #end: Position

  constructor(assigned: AssignedPartition, records: readonly Record[], end: Position) {
    this.topic = assigned.topic
    this.partition = assigned.partition
    this.records = records
    this.nextOffset = end.offset
    this.highWatermark = assigned.highWatermark
    this.#assigned = assigned
    this.#version = assigned.version
    this.#end = end
  }

  /** How many offsets the reader is behind the end of the partition once this batch is worked on. Never negative. */
  get lag(): number {
    return Math.max(0, this.highWatermark - this.nextOffset)
  }

  /**
   * The partition belongs to somebody else by now, or was moved to another offset. Work that goes on is done twice, and is
   * not committed.
   */
  get isStale(): boolean {
    return this.#assigned.isLost || this.#assigned.version !== this.#version
  }

  [Symbol.iterator](): Iterator<Record> {
    return this.records[Symbol.iterator]()
  }

  /** The application is done with all of it. Called by the consumer. */
  confirm(): void {
    this.#assigned.confirm(this.#end, this.#version)
  }
}
