import type { Now } from '../../base/time.ts'

/** Turns the records of one machine into a batch as it lies in the log, and back. */
export interface BatchCodec<Rec> {
  /**
   * One uncompressed batch without a producer; offset and leader epoch are the log's to fill in.
   * `records` has at least one record. Throws an EncodeError when one has something that its format cannot carry (a string
   * of a client's that is longer than the format's longest).
   */
  encode(records: readonly Rec[], now: Now): Buffer
  /** `batch` is one whole batch whose CRC the log has checked. Throws a ProtocolError when it cannot be read all the same. */
  decode(batch: Buffer): DecodedBatch<Rec>
}

export type DecodedBatch<Rec> = DataBatch<Rec> | MarkerBatch | OtherControlBatch

export interface DataBatch<Rec> {
  readonly type: 'data'
  /** -1 unless the batch belongs to a producer: then its records are pending until the marker comes. */
  readonly producerId: number
  readonly producerEpoch: number
  /** Ascending by offset; a compacted batch has gaps. Records of unknown types are not among them. */
  readonly records: readonly { readonly offset: number; readonly record: Rec }[]
  /** What records of unknown types call themselves; they stay in the log as they are. */
  readonly unknownTypes: readonly string[]
}

/** A control batch that ends a producer's transaction. */
export interface MarkerBatch {
  readonly type: 'marker'
  readonly producerId: number
  readonly producerEpoch: number
  readonly committed: boolean
}

/** A control batch that is not the machine's business (a leader change). */
export interface OtherControlBatch {
  readonly type: 'otherControl'
}
