import { assert } from '../../base/assert.ts'
import { malformed } from '../record-walk.ts'

/** How many records are looked at together. Their columns stay in the processor's nearest cache. */
export const columnsLength = 512

const maxVarlongBytes = 10

/**
 * Where in some bytes the parts of the next records lie that compaction looks at, a column for each part. A record's length is
 * believed, its headers are not looked at: the batch has a CRC, and was checked when it was appended.
 *
 * `RecordWalk` goes over the same bytes, and is a function of its own on purpose. One walk that writes these columns and checks
 * them afterwards was tried: for records of 100 bytes the check of a produce took 16 ns a record in place of 9, and reading
 * columns 13 (with a header 19) in place of 10.5. `bench/records.ts` has both.
 */
export class RecordColumns {
  /** Where each record begins; one more than there are records: the end of the last one. */
  readonly starts = new Int32Array(columnsLength + 1)
  readonly offsetDeltas = new Int32Array(columnsLength)
  readonly keyStarts = new Int32Array(columnsLength)
  /** Below `keyStarts` when the key is null. */
  readonly keyEnds = new Int32Array(columnsLength)
  /** 1 when the value is null. */
  readonly hasNoValue = new Uint8Array(columnsLength)
  /** Where the value of a varint that was read by `#long` ends. */
  #after = 0

  /**
   * Reads `count` records, at most `columnsLength`, from the position `start` on. None may reach beyond `end`, which is within
   * the bytes. The answer is the position after them, or `malformed`.
   *
   * As in `RecordWalk`, each short varint is spelt out: the next read need not wait for this one.
   */
  read(bytes: Buffer, start: number, end: number, count: number): number {
    assert(count <= columnsLength, 'the columns are long enough')
    const { starts, offsetDeltas, keyStarts, keyEnds, hasNoValue } = this
    let recordStart = start
    for (let index = 0; index < count; index++) {
      if (recordStart >= end) return malformed
      starts[index] = recordStart
      let at = recordStart
      let length = bytes[at]
      if (length < 0x80) at += 1
      else {
        const second = bytes[at + 1]
        if (second < 0x80) {
          length = (length & 0x7f) | (second << 7)
          at += 2
        } else {
          length = this.#long(bytes, at)
          at = this.#after
        }
      }
      const recordEnd = at + (length >>> 1)
      if ((length & 1) !== 0 || recordEnd > end) return malformed

      at += 1 // attributes, of which none are defined
      const timestampEnd = at + maxVarlongBytes
      while (bytes[at] >= 0x80) at += 1
      at += 1
      if (at > timestampEnd) return malformed

      let offset = bytes[at]
      if (offset < 0x80) at += 1
      else {
        const second = bytes[at + 1]
        if (second < 0x80) {
          offset = (offset & 0x7f) | (second << 7)
          at += 2
        } else {
          offset = this.#long(bytes, at)
          at = this.#after
        }
      }
      offsetDeltas[index] = (offset >>> 1) ^ -(offset & 1)

      let keyBytes = bytes[at]
      if (keyBytes < 0x80) at += 1
      else {
        keyBytes = this.#long(bytes, at)
        at = this.#after
      }
      keyStarts[index] = at
      if ((keyBytes & 1) === 0) {
        at += keyBytes >>> 1
        keyEnds[index] = at
      } else keyEnds[index] = -1
      if (at >= recordEnd) return malformed

      let valueBytes = bytes[at]
      if (valueBytes < 0x80) at += 1
      else {
        const second = bytes[at + 1]
        if (second < 0x80) {
          valueBytes = (valueBytes & 0x7f) | (second << 7)
          at += 2
        } else {
          valueBytes = this.#long(bytes, at)
          at = this.#after
        }
      }
      hasNoValue[index] = valueBytes & 1
      if ((valueBytes & 1) === 0) at += valueBytes >>> 1
      // The number of headers takes a byte.
      if (at >= recordEnd) return malformed
      recordStart = recordEnd
    }
    starts[count] = recordStart
    return recordStart
  }

  /** A varint of any length, raw. One that is too long, or beyond the bytes, is of odd value: no length. */
  #long(bytes: Buffer, start: number): number {
    let raw = 0
    for (let index = 0; index < 5; index++) {
      const byte = bytes[start + index]
      raw |= (byte & 0x7f) << (index * 7)
      if (byte < 0x80) {
        this.#after = start + index + 1
        return raw
      }
    }
    this.#after = bytes.length
    return 1
  }
}
