import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import type * as Native from 'snappy'
import { hex } from '../hex.ts'
import { SeededRandom } from '../seeded-random.ts'
import { readAllBlocks } from './block-reader.ts'
import { packSnappy, SnappyReader } from './snappy.ts'
import { packSnappyLiterals, unpackSnappyBlockInScript } from './snappy-block.ts'

const native = createRequire(import.meta.url)('snappy') as typeof Native

function unpack(bytes: Buffer, maxBytes = 10_000_000) {
  return readAllBlocks(new SnappyReader(bytes), maxBytes)
}

test('a bare block is read like a framed one', () => {
  const bytes = Buffer.from('a record from librdkafka '.repeat(5000))
  assert.deepEqual(unpack(native.compressSync(bytes)), { type: 'done', output: bytes })
  assert.deepEqual(unpack(packSnappy(bytes)), { type: 'done', output: bytes })
  assert.deepEqual(unpack(native.compressSync(Buffer.from('x'))), { type: 'done', output: Buffer.from('x') })
})

test('a frame holds any number of blocks of any size', () => {
  const parts = [Buffer.alloc(0), Buffer.alloc(100_000, 1), Buffer.from('x')]
  const framed = parts.flatMap(part => {
    const packed = native.compressSync(part)
    const length = Buffer.alloc(4)
    length.writeInt32BE(packed.length)
    return [length, packed]
  })
  const bytes = Buffer.concat([hex('82534e4150505900 00000001 00000001'), ...framed])
  assert.deepEqual(unpack(bytes), { type: 'done', output: Buffer.concat(parts) })
})

test('wrong lengths are corrupt, whatever the version says', () => {
  const good = packSnappy(Buffer.alloc(100, 'x'))
  for (const [at, value] of [
    [16, 0x80],
    [19, 200],
    [20, 0],
  ]) {
    const bytes = Buffer.from(good)
    bytes[at] = value
    assert.equal(unpack(bytes).type, 'corrupt', `byte ${at}`)
  }
  assert.equal(unpack(Buffer.alloc(0)).type, 'corrupt')
  const newer = Buffer.from(good)
  newer.fill(0xff, 8, 16)
  assert.equal(unpack(newer).type, 'done')
})

test('an output length that the input cannot reach allocates nothing', () => {
  const lie = hex('ffffffff0f 00 61')
  const before = process.memoryUsage().rss
  assert.equal(unpack(lie, 2 ** 32).type, 'corrupt')
  assert.equal(unpackSnappyBlockInScript(lie, 0, lie.length), undefined)
  assert.ok(process.memoryUsage().rss - before < 2 ** 24)
})

test('the way in script unpacks exactly what the native one does', () => {
  const choice = new SeededRandom(21)
  for (let round = 0; round < 2000; round++) {
    const bytes = Buffer.alloc(choice.below(3000), choice.below(256))
    for (let changes = choice.below(200); changes > 0 && bytes.length > 0; changes--)
      bytes[choice.below(bytes.length)] = choice.below(4)
    const packed = native.compressSync(bytes)
    assert.deepEqual(unpackSnappyBlockInScript(packed, 0, packed.length), bytes)
  }
  for (const length of [0, 1, 60, 65_536, 65_537, 200_000]) {
    const bytes = choice.bytes(length)
    assert.deepEqual(native.uncompressSync(packSnappyLiterals(bytes)), bytes)
  }
})

test('both ways agree about corrupt blocks', () => {
  const choice = new SeededRandom(22)
  const good = native.compressSync(Buffer.from('abcabcabcabcabcdefg'.repeat(20)))
  for (let round = 0; round < 5000; round++) {
    const bytes = Buffer.from(good)
    bytes[2 + choice.below(bytes.length - 2)] = choice.below(256)
    let expected: Buffer | undefined
    try {
      expected = native.uncompressSync(bytes) as Buffer
    } catch {
      expected = undefined
    }
    assert.deepEqual(unpackSnappyBlockInScript(bytes, 0, bytes.length), expected)
  }
})
