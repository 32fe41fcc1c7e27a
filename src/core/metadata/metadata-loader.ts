import { assert } from '../../base/assert.ts'
import { readLastOffset } from '../../records/batch.ts'
import { recordBatchCodec } from '../state-machine/record-batch-codec.ts'
import { type AppliedRecord, applyRecord } from './apply-record.ts'
import { MetadataDelta } from './metadata-delta.ts'
import type { MetadataImage } from './metadata-image.ts'
import { MetadataStore } from './metadata-store.ts'
import { type MetadataRecord, metadataRecords } from './records.ts'
import { differences } from './snapshot-difference.ts'

const batches = recordBatchCodec(metadataRecords)

/**
 * Feeds one node's image from the committed part of the metadata log. The shell calls `replayBatch` for each committed
 * batch, in order, yielding between calls as it likes, and `publish` when it is done for now: the delta is shown first
 * (partitions are opened, changed and closed by it) and the image moves after it, in the same turn.
 *
 * A snapshot is read in the same way, between `startSnapshot` and `finishSnapshot`, and may come when there is an image
 * already: what it does not hold is gone.
 *
 * The records of a metadata transaction are held back until it ends, and so is everything behind them.
 */
export class MetadataLoader {
  readonly #store = new MetadataStore()
  #endOffset = 0
  #delta: MetadataDelta | undefined
  #deltaEndOffset = 0
  /** Records of the open metadata transaction. */
  #transaction: AppliedRecord[] | undefined
  #snapshot: { readonly store: MetadataStore; readonly endOffset: number } | undefined

  get image(): MetadataImage {
    return this.#store
  }

  /** Everything below it is in the image. */
  get endOffset(): number {
    return this.#endOffset
  }

  /** What the next `publish` will show, unless more comes before it; undefined when that is nothing. */
  get pending(): MetadataDelta | undefined {
    return this.#delta
  }

  /** A controller that takes over aborts it: whoever began it is gone. */
  get hasOpenTransaction(): boolean {
    return this.#transaction !== undefined
  }

  /** The state of a controller that runs ahead of this image, at this moment. */
  copyForController(): MetadataStore {
    assert(this.#delta === undefined, 'a controller begins where everything is published')
    return MetadataStore.copyOf(this.#store)
  }

  /** For whoever compares two nodes, or a node with its controller. */
  inspect(): unknown {
    return this.#store.inspect()
  }

  /** `batch` is one whole committed batch of the log or of a snapshot. Its bytes are not kept. */
  replayBatch(batch: Buffer): void {
    const decoded = batches.decode(batch)
    if (decoded.type === 'data') for (const { offset, record } of decoded.records) this.replay(record, offset)
    if (!this.#snapshot && !this.#transaction) this.#deltaEndOffset = readLastOffset(batch, 0) + 1
  }

  /** `offset` is without meaning in a snapshot. */
  replay(record: MetadataRecord, offset: number): void {
    if (this.#snapshot) {
      assert(isApplied(record), 'a snapshot has no transaction in it')
      applyRecord(this.#snapshot.store, record)
      return
    }
    assert(offset >= this.#deltaEndOffset, 'batches are replayed once, in the order of the log')
    if (record.type === 'beginTransaction') {
      assert(this.#transaction === undefined, 'a metadata transaction has ended before another begins')
      this.#transaction = []
    } else if (record.type === 'endTransaction') {
      for (const held of this.#takeTransaction()) applyRecord(this.#open(), held)
    } else if (record.type === 'abortTransaction') {
      this.#takeTransaction()
    } else if (this.#transaction) {
      this.#transaction.push(record)
      return
    } else {
      applyRecord(this.#open(), record)
    }
    if (!this.#transaction) this.#deltaEndOffset = offset + 1
  }

  startSnapshot(endOffset: number): void {
    assert(this.#snapshot === undefined, 'one snapshot is read at a time')
    assert(endOffset >= this.#endOffset, 'a snapshot is not older than the image')
    this.#delta = undefined
    this.#transaction = undefined
    this.#snapshot = { store: new MetadataStore(), endOffset }
  }

  finishSnapshot(): void {
    const snapshot = this.#snapshot
    assert(snapshot !== undefined, 'a snapshot that is finished was begun')
    this.#snapshot = undefined
    this.#delta = differences(this.#store, snapshot.store)
    this.#deltaEndOffset = snapshot.endOffset
  }

  /** Shows what is different, then moves the image. `before` must not wait for anything: the image moves when it returns. */
  publish(before: (delta: MetadataDelta) => void): void {
    assert(this.#snapshot === undefined, 'half a snapshot is not published')
    const delta = this.#delta
    this.#delta = undefined
    if (delta) {
      before(delta)
      delta.applyTo(this.#store)
    }
    this.#endOffset = this.#deltaEndOffset
  }

  #open(): MetadataDelta {
    this.#delta ??= new MetadataDelta(this.#store, { isOfRecords: true })
    return this.#delta
  }

  #takeTransaction(): readonly AppliedRecord[] {
    const records = this.#transaction
    assert(records !== undefined, 'a metadata transaction that ends has begun')
    this.#transaction = undefined
    return records
  }
}

function isApplied(record: MetadataRecord): record is AppliedRecord {
  return !['beginTransaction', 'endTransaction', 'abortTransaction'].includes(record.type)
}
