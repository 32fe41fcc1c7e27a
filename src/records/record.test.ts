import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateCrc } from './batch.ts'
import { BatchBuilder } from './builder.ts'
import { RecordReader } from './record.ts'

function builtBatch(): Buffer {
  const builder = new BatchBuilder()
  builder.append(5, Buffer.from('key'), Buffer.from('value'), [{ key: 'h', value: null }])
  builder.append(6, null, Buffer.from('second'))
  return Buffer.from(builder.finish())
}

function countRead(bytes: Buffer, sizeBytes = bytes.length): { count: number; isCorrupt: boolean } {
  const reader = new RecordReader(bytes, 0, sizeBytes)
  let count = 0
  while (reader.next() !== undefined) count++
  return { count, isCorrupt: reader.isCorrupt }
}

test('a batch cut anywhere is corrupt, not shorter', () => {
  const bytes = builtBatch()
  assert.deepEqual(countRead(bytes), { count: 2, isCorrupt: false })
  for (let size = 61; size < bytes.length; size++) assert.equal(countRead(bytes, size).isCorrupt, true)
})

test('bytes after the last record are corruption', () => {
  const bytes = Buffer.concat([builtBatch(), Buffer.alloc(1)])
  assert.deepEqual(countRead(bytes), { count: 2, isCorrupt: true })
})

test('a count of records that is not true is corruption', () => {
  for (const count of [1, 3, -1, 2_147_483_647]) {
    const bytes = builtBatch()
    bytes.writeInt32BE(count, 57)
    updateCrc(bytes, 0)
    assert.equal(countRead(bytes).isCorrupt, true)
  }
})

test('any one changed byte of the records reads as something or as corrupt, and never throws', () => {
  const good = builtBatch()
  for (let at = 61; at < good.length; at++) {
    for (let value = 0; value < 256; value++) {
      const bytes = Buffer.from(good)
      bytes[at] = value
      assert.ok(countRead(bytes).count <= 2)
    }
  }
})
