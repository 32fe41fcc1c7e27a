import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { hex } from '../hex.ts'
import { SeededRandom } from '../seeded-random.ts'
import { Codec } from './codec.ts'
import { compressSync } from './compress.ts'
import { decompressSync } from './decompress.ts'
import type { Decompressed } from './decompressed.ts'

const codecs = [Codec.gzip, Codec.snappy, Codec.lz4, Codec.zstd]
const MiB = 2 ** 20

/** 300 times 'a' as Kafka's own producer packs it. */
const packedByKafka = new Map([
  [Codec.gzip, hex('1f8b08000000000000ff4b4c1c05c40200091997892c010000')],
  [Codec.snappy, hex('82534e4150505900 00000001 00000001 00000013 ac020061fe0100fe0100fe0100fe0100aa0100')],
  [Codec.lz4, hex('04224d18604082 0c000000 1f610100ff1450616161616100000000')],
  [Codec.zstd, hex('28b52ffd00584c00001061610100272ac002010000')],
])

function outputOf(result: Decompressed): Buffer {
  assert.equal(result.type, 'done')
  return result.type === 'done' ? result.output : Buffer.alloc(0)
}

/** Bytes that pack well in some places and not at all in others. */
function mixedBytes(seed: number, length: number): Buffer {
  const choice = new SeededRandom(seed)
  const parts: Buffer[] = []
  for (let made = 0; made < length; ) {
    const part =
      choice.below(2) === 0
        ? choice.bytes(1 + choice.below(200))
        : Buffer.alloc(1 + choice.below(3000), choice.below(256))
    parts.push(part)
    made += part.length
  }
  return Buffer.concat(parts).subarray(0, length)
}

test("unpacks what Kafka's producer packed", () => {
  for (const [codec, bytes] of packedByKafka) {
    assert.deepEqual(outputOf(decompressSync(codec, bytes, 300)), Buffer.alloc(300, 'a'))
  }
})

test('one byte of room too few is too large, and not corrupt', () => {
  for (const [codec, bytes] of packedByKafka) {
    assert.deepEqual(decompressSync(codec, bytes, 299), { type: 'tooLarge' })
    assert.deepEqual(decompressSync(codec, bytes, 0), { type: 'tooLarge' })
  }
})

test('any bytes come back as they were packed, around every block size', () => {
  for (const codec of codecs) {
    for (const length of [0, 1, 15, 63, 64, 65, 300, 32_767, 32_768, 32_769, 65_535, 65_536, 65_537, 200_000]) {
      const bytes = mixedBytes(length, length)
      const result = decompressSync(codec, compressSync(codec, bytes), length)
      assert.deepEqual(outputOf(result), bytes, `codec ${codec}, ${length} bytes`)
    }
  }
})

test('levels reach gzip and zstd', () => {
  const bytes = mixedBytes(3, 100_000)
  for (const [codec, level] of [
    [Codec.gzip, 1],
    [Codec.gzip, 9],
    [Codec.zstd, 1],
    [Codec.zstd, 19],
    [Codec.zstd, -5],
  ]) {
    assert.deepEqual(outputOf(decompressSync(codec, compressSync(codec, bytes, level), MiB)), bytes)
  }
  assert.ok(compressSync(Codec.zstd, bytes, 19).length < compressSync(Codec.zstd, bytes, -50).length)
  assert.ok(compressSync(Codec.gzip, bytes, 9).length < compressSync(Codec.gzip, bytes, 1).length)
})

test('data that is cut off is never taken for whole', () => {
  const bytes = mixedBytes(9, 70_000)
  for (const codec of codecs) {
    const packed = compressSync(codec, bytes)
    for (let cut = 0; cut < packed.length; cut += 1 + Math.floor(packed.length / 400)) {
      const result = decompressSync(codec, packed.subarray(0, cut), MiB)
      // Snappy's framing has no end mark: a cut between two blocks is found by the missing records.
      if (codec === Codec.snappy && result.type === 'done') assert.equal(result.output.length % 32_768, 0)
      else assert.equal(result.type, 'corrupt', `codec ${codec} cut at ${cut}`)
    }
    const oneShort = decompressSync(codec, packed.subarray(0, -1), MiB)
    assert.equal(oneShort.type, 'corrupt')
  }
})

test('a bomb of every codec is stopped at the bound', () => {
  const zeros = Buffer.alloc(8 * MiB)
  for (const codec of codecs) {
    // 160 MiB and more from little input: frames, members or blocks of zeros, one after the other.
    const bomb = bombOf(codec, zeros)
    assert.ok(bomb.length < 12 * MiB)
    const before = process.memoryUsage().rss
    assert.deepEqual(decompressSync(codec, bomb, 4 * MiB), { type: 'tooLarge' }, `codec ${codec}`)
    assert.ok(process.memoryUsage().rss - before < 64 * MiB)
  }
})

function bombOf(codec: number, zeros: Buffer): Buffer {
  const times = 20
  if (codec === Codec.gzip) return Buffer.concat(Array(times).fill(gzipSync(zeros)))
  if (codec === Codec.zstd) return Buffer.concat(Array(times).fill(zstdCompressSync(zeros)))
  const packed = compressSync(codec, zeros)
  const [headerBytes, endBytes] = codec === Codec.lz4 ? [7, 4] : [16, 0]
  const blocks = packed.subarray(headerBytes, packed.length - endBytes)
  const end = packed.subarray(packed.length - endBytes)
  return Buffer.concat([packed.subarray(0, headerBytes), ...Array(times).fill(blocks), end])
}

test('several members or frames are one stream', () => {
  const [one, two] = [Buffer.from('one'), mixedBytes(5, 100_000)]
  const gzip = Buffer.concat([gzipSync(one), gzipSync(two)])
  assert.deepEqual(outputOf(decompressSync(Codec.gzip, gzip, MiB)), Buffer.concat([one, two]))
  const zstd = Buffer.concat([zstdCompressSync(one), zstdCompressSync(two)])
  assert.deepEqual(outputOf(decompressSync(Codec.zstd, zstd, MiB)), Buffer.concat([one, two]))
  assert.equal(decompressSync(Codec.zstd, zstd.subarray(0, -1), MiB).type, 'corrupt')
})

test('thousands of tiny blocks, members or frames do not take long', () => {
  const tiny = [
    [Codec.lz4, Buffer.concat([hex('04224d18604082'), ...Array(50_000).fill(hex('02000000 1041')), Buffer.alloc(4)])],
    [
      Codec.snappy,
      Buffer.concat([hex('82534e4150505900 00000001 00000001'), ...Array(50_000).fill(hex('00000003 010041'))]),
    ],
    [Codec.zstd, Buffer.concat(Array(10_000).fill(zstdCompressSync(Buffer.from('A'))))],
    [Codec.gzip, Buffer.concat(Array(10_000).fill(gzipSync(Buffer.from('A'))))],
  ] as const
  for (const [codec, bytes] of tiny) {
    const start = process.cpuUsage()
    const result = decompressSync(codec, bytes, MiB)
    const used = process.cpuUsage(start)
    if (codec !== Codec.zstd || result.type === 'done') assert.match(outputOf(result).toString(), /^A+$/)
    assert.ok(used.user + used.system < 1_000_000, `codec ${codec} took ${used.user + used.system} microseconds`)
  }
})

test('random and mutated bytes are unpacked or refused, and never throw', () => {
  const choice = new SeededRandom(11)
  for (const codec of [...codecs, 5, 7]) {
    const good = codec > Codec.zstd ? choice.bytes(100) : compressSync(codec, mixedBytes(codec, 3000))
    for (let round = 0; round < 1500; round++) {
      const bytes = round % 3 === 0 ? choice.bytes(choice.below(200)) : Buffer.from(good)
      for (let flips = choice.below(4); flips > 0 && bytes.length > 0; flips--)
        bytes[choice.below(bytes.length)] = choice.below(256)
      const result = decompressSync(codec, bytes, 10_000)
      assert.ok(result.type !== 'done' || result.output.length <= 10_000)
    }
  }
})
