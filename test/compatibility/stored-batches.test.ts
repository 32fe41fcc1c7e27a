import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { storedBatches } from './stored-batches.ts'

function batch(codecBits: number, producerId: bigint, bodyBytes: number): Buffer {
  const bytes = Buffer.alloc(61 + bodyBytes)
  bytes.writeInt32BE(bytes.length - 12, 8)
  bytes.writeInt8(2, 16)
  bytes.writeInt16BE(codecBits, 21)
  bytes.writeBigInt64BE(producerId, 43)
  return bytes
}

test('codec and producer id of every batch are found, and only in the partitions of the topic', () => {
  const logDir = mkdtempSync(join(tmpdir(), 'stored-batches-'))
  try {
    for (const folder of ['t-0', 't-1', 't-x-0']) mkdirSync(join(logDir, folder))
    writeFileSync(join(logDir, 't-0', '00.log'), Buffer.concat([batch(3, 7n, 10), batch(0x14, -1n, 0)]))
    writeFileSync(join(logDir, 't-1', '00.log'), Buffer.concat([batch(0, -1n, 5), Buffer.alloc(100)]))
    writeFileSync(join(logDir, 't-x-0', '00.log'), batch(1, 1n, 0))
    const found = storedBatches(logDir, 't').map(({ codec, producerId, magic }) => [codec, producerId, magic])
    assert.deepEqual(found, [
      ['lz4', 7n, 2],
      ['zstd', -1n, 2],
      ['none', -1n, 2],
    ])
  } finally {
    rmSync(logDir, { recursive: true })
  }
})
