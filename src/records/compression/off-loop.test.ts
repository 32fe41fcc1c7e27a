import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../seeded-random.ts'
import { Codec } from './codec.ts'
import { compressSync } from './compress.ts'
import { decompressSync } from './decompress.ts'
import { compressOffLoop, decompressOffLoop } from './off-loop.ts'

const codecs = [Codec.none, Codec.gzip, Codec.snappy, Codec.lz4, Codec.zstd]
const bytes = Buffer.from('{"a":"record among many"}'.repeat(400_000))

async function unpack(codec: number, packed: Buffer, maxBytes: number) {
  let turns = 0
  const result = await decompressOffLoop(codec, packed, maxBytes, async () => void turns++)
  return { result, turns }
}

test('both ways unpack the same, for every codec', async () => {
  for (const codec of codecs) {
    const { result } = await unpack(codec, compressSync(codec, bytes), bytes.length)
    assert.deepEqual(result, { type: 'done', output: bytes })
  }
})

test('what cannot be packed is unpacked too, and the input stays as it was', async () => {
  const noise = new SeededRandom(1).bytes(3_000_000)
  for (const codec of codecs) {
    const packed = compressSync(codec, noise)
    const copy = Buffer.from(packed)
    const { result } = await unpack(codec, packed, noise.length)
    assert.deepEqual(result, { type: 'done', output: noise })
    assert.deepEqual(packed, copy)
  }
})

test('the bound and corruption are answered as on the loop', async () => {
  for (const codec of codecs) {
    const packed = Buffer.from(compressSync(codec, bytes))
    assert.deepEqual((await unpack(codec, packed, bytes.length - 1)).result, { type: 'tooLarge' })
    if (codec === Codec.none) continue
    packed.fill(0x55, packed.length >> 1, (packed.length >> 1) + 50)
    const expected = decompressSync(codec, packed, bytes.length)
    assert.deepEqual((await unpack(codec, packed, bytes.length)).result.type, expected.type)
    assert.equal((await unpack(codec, packed.subarray(0, 30), bytes.length)).result.type, 'corrupt')
  }
  assert.equal((await unpack(6, bytes, bytes.length)).result.type, 'corrupt')
})

test('codecs of blocks give the loop a turn now and then', async () => {
  for (const codec of [Codec.snappy, Codec.lz4]) {
    const { turns } = await unpack(codec, compressSync(codec, bytes), bytes.length)
    assert.ok(turns >= 4 && turns <= 5, `${turns} turns`)
  }
})

test('what is packed off the loop is as good as what is packed on it', async () => {
  for (const codec of codecs) {
    for (const level of [undefined, 1]) {
      const packed = await compressOffLoop(codec, bytes, level)
      assert.deepEqual(decompressSync(codec, packed, bytes.length), { type: 'done', output: bytes })
      assert.ok(Math.abs(packed.length - compressSync(codec, bytes, level).length) < 10)
    }
  }
})
