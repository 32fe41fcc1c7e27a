import { assert } from '../../base/assert.ts'
import type { Now } from '../../base/time.ts'
import { decodeBatchHeader } from '../../records/batch-header.ts'
import { BatchBuilder } from '../../records/builder.ts'
import type { Record } from '../../records/record.ts'
import type { BatchCodec, DecodedBatch } from './batch-codec.ts'

/** How one machine's records look as keys and values. */
export interface KeyValueCodec<Rec> {
  encode(record: Rec): { readonly key: Buffer | null; readonly value: Buffer | null }
  /** `key` and `value` are valid until it returns. A record of a type that is not known is not decoded but named. */
  decode(key: Buffer | null, value: Buffer | null): Rec | UnknownRecord
}

export class UnknownRecord {
  readonly type: string

  constructor(type: string) {
    this.type = type
  }
}
