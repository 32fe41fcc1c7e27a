import type * as Native from '@node-rs/crc32'
import { loadNative } from './native.ts'

const native = loadNative<typeof Native>('@node-rs/crc32')

/** A call into native code costs as much as this many bytes in JavaScript (measured). */
const nativeFromBytes = 200

/**
 * CRC-32C (Castagnoli) of bytes[start, end) as an unsigned number. `initial` is the CRC of what came before: the CRC of a
 * whole can be taken piece by piece.
 */
export function crc32c(bytes: Buffer, start = 0, end = bytes.length, initial = 0): number {
  if (native === undefined || end - start < nativeFromBytes) return crc32cInScript(bytes, start, end, initial)
  return native.crc32c(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), initial)
}

const tables = makeTables()
const [table0, table1, table2, table3, table4, table5, table6, table7] = tables

/** Eight bytes a step, a table for each ("slicing by 8"). For short inputs, and where no native code loads. */
export function crc32cInScript(bytes: Buffer, start: number, end: number, initial: number): number {
  let crc = ~initial
  let at = start
  for (const last = end - 8; at <= last; at += 8) {
    crc =
      table7[(crc ^ bytes[at]) & 0xff] ^
      table6[((crc >>> 8) ^ bytes[at + 1]) & 0xff] ^
      table5[((crc >>> 16) ^ bytes[at + 2]) & 0xff] ^
      table4[(crc >>> 24) ^ bytes[at + 3]] ^
      table3[bytes[at + 4]] ^
      table2[bytes[at + 5]] ^
      table1[bytes[at + 6]] ^
      table0[bytes[at + 7]]
  }
  for (; at < end; at++) crc = table0[(crc ^ bytes[at]) & 0xff] ^ (crc >>> 8)
  return ~crc >>> 0
}

/** tables[k][b]: the CRC of byte b followed by k zero bytes. */
function makeTables(): Int32Array[] {
  const reversedPolynomial = 0x82f63b78
  const made = [new Int32Array(256)]
  for (let value = 0; value < 256; value++) {
    let crc = value
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ reversedPolynomial : crc >>> 1
    made[0][value] = crc
  }
  for (let k = 1; k < 8; k++) {
    made.push(made[k - 1].map(crc => (crc >>> 8) ^ made[0][crc & 0xff]))
  }
  return made
}
