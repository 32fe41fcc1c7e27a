import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import type * as Native from 'lz4-napi'
import { hex } from '../hex.ts'
import { SeededRandom } from '../seeded-random.ts'
import { readAllBlocks } from './block-reader.ts'
import { Lz4FrameReader, packLz4 } from './lz4.ts'
import { packLz4Block, unpackLz4BlockInScript } from './lz4-block.ts'
import { xxh32 } from './xxh32.ts'

const native = createRequire(import.meta.url)('lz4-napi') as typeof Native

function unpack(bytes: Buffer, maxBytes = 10_000_000) {
  return readAllBlocks(new Lz4FrameReader(bytes), maxBytes)
}

/** A frame with given flags and block size code around blocks that are stored or packed by the caller. */
function frame(flags: number, code: number, blocks: Buffer[], content: Buffer): Buffer {
  const contentSize = Buffer.alloc(flags & 0x08 ? 8 : 0)
  if (flags & 0x08) contentSize.writeBigUInt64LE(BigInt(content.length))
  const descriptor = Buffer.concat([Buffer.from([flags, code << 4]), contentSize])
  const checksum = Buffer.alloc(flags & 0x04 ? 4 : 0)
  if (flags & 0x04) checksum.writeUInt32LE(xxh32(content))
  const framed = blocks.flatMap(block => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(block.length + 0x8000_0000)
    const blockChecksum = Buffer.alloc(flags & 0x10 ? 4 : 0)
    if (flags & 0x10) blockChecksum.writeUInt32LE(xxh32(block))
    return [length, block, blockChecksum]
  })
  const headerChecksum = Buffer.from([(xxh32(descriptor) >>> 8) & 0xff])
  return Buffer.concat([hex('04224d18'), descriptor, headerChecksum, ...framed, Buffer.alloc(4), checksum])
}

test('xxh32 has its published values', () => {
  assert.equal(xxh32(Buffer.alloc(0)), 0x02cc5d05)
  assert.equal(xxh32(Buffer.from('a')), 0x550d7456)
  assert.equal(xxh32(Buffer.from('abc')), 0x32d153ff)
  assert.equal(xxh32(Buffer.from('Nobody inspects the spammish repetition')), 0xe2293b2f)
})

test('frames go both ways between us and another implementation', () => {
  const bytes = Buffer.from('millrace '.repeat(50_000))
  assert.deepEqual(native.decompressFrameSync(packLz4(bytes)), bytes)
  for (const options of [
    {},
    { contentChecksum: true },
    { blockChecksums: true },
    { contentChecksum: true, blockChecksums: true },
  ]) {
    assert.deepEqual(unpack(native.compressFrameSync(bytes, options)), { type: 'done', output: bytes })
  }
})

test('content size, checksums and all block sizes are understood', () => {
  const content = new SeededRandom(4).bytes(1000)
  for (const flags of [0x60, 0x64, 0x68, 0x70, 0x7c]) {
    for (const code of [4, 5, 6, 7]) {
      const bytes = frame(flags, code, [content.subarray(0, 600), content.subarray(600)], content)
      assert.deepEqual(unpack(bytes), { type: 'done', output: content })
    }
  }
})

test('every broken part of a frame is found', () => {
  const content = Buffer.alloc(200, 'x')
  const good = frame(0x7c, 4, [content], content)
  const broken: [name: string, bytes: Buffer][] = [
    ['the content checksum cut off', good.subarray(0, -1)],
    ['the block checksum', flipped(good, 15 + 4 + 200)],
    ['the content', flipped(good, 15 + 4 + 7)],
    ['the header checksum', flipped(good, 14)],
    ['the content size', flipped(good, 7)],
    ['dependent blocks', frame(0x40, 4, [content], content)],
    ['an unknown version', frame(0xa0, 4, [content], content)],
    ['a dictionary', frame(0x61, 4, [content], content)],
    ['a block size below the smallest', frame(0x60, 3, [content], content)],
    ['a block above the block size', frame(0x60, 4, [Buffer.alloc(65_537)], content)],
  ]
  assert.deepEqual(unpack(good), { type: 'done', output: content })
  for (const [name, bytes] of broken) assert.equal(unpack(bytes).type, 'corrupt', name)
})

test("the checksum over the whole content is not checked, as in Kafka's reader", () => {
  const content = Buffer.alloc(200, 'x')
  const good = frame(0x64, 4, [content], content)
  assert.deepEqual(unpack(flipped(good, good.length - 1)), { type: 'done', output: content })
})

test('a block that unpacks to very much more than its length is unpacked whole', () => {
  const content = Buffer.alloc(1 << 20)
  const [header, packed] = [frame(0x60, 7, [], content).subarray(0, 7), packLz4Block(content)!]
  const length = Buffer.alloc(4)
  length.writeUInt32LE(packed.length)
  const bytes = Buffer.concat([header, length, packed, Buffer.alloc(4)])
  assert.ok(packed.length * 100 < content.length)
  assert.deepEqual(unpack(bytes), { type: 'done', output: content })
})

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] ^= 1
  return copy
}

test('bytes after the end of the frame are ignored, as in Kafka', () => {
  const bytes = Buffer.from('some content')
  assert.deepEqual(unpack(Buffer.concat([packLz4(bytes), Buffer.from('junk')])), { type: 'done', output: bytes })
})

test('the header checksum of a magic 0 message covers the magic, and is then not checked', () => {
  const bytes = packLz4(Buffer.from('old'))
  bytes[6] = (xxh32(bytes, 0, 6) >>> 8) & 0xff
  assert.equal(unpack(bytes).type, 'corrupt')
  const reader = new Lz4FrameReader(bytes, { hashesMagic: true })
  assert.deepEqual(readAllBlocks(reader, 100), { type: 'done', output: Buffer.from('old') })
})

test('a block that does not fit is too large, and a corrupt one is corrupt', () => {
  const packed = packLz4(Buffer.alloc(60_000))
  assert.deepEqual(unpack(packed, 59_999), { type: 'tooLarge' })
  assert.equal(unpack(packed, 60_000).type, 'done')
  const corrupt = Buffer.from(packed)
  corrupt.fill(0xff, 11, 16)
  assert.equal(unpack(corrupt, 59_999).type, 'corrupt')
})

test('the way in script unpacks exactly what the native one does', () => {
  const choice = new SeededRandom(8)
  for (let round = 0; round < 2000; round++) {
    const bytes = Buffer.alloc(choice.below(400), choice.below(256))
    for (let changes = choice.below(60); changes > 0 && bytes.length > 0; changes--)
      bytes[choice.below(bytes.length)] = choice.below(4)
    const packed = Buffer.from(packLz4Block(bytes)!)
    assert.deepEqual(unpackLz4BlockInScript(packed, 0, packed.length, bytes.length), bytes)
    if (bytes.length > 0) assert.equal(unpackLz4BlockInScript(packed, 0, packed.length, bytes.length - 1), undefined)
  }
})

test('the way in script refuses what is corrupt and stays within its room', () => {
  const choice = new SeededRandom(12)
  for (let round = 0; round < 5000; round++) {
    const bytes = choice.bytes(choice.below(60))
    const output = unpackLz4BlockInScript(bytes, 0, bytes.length, 500)
    assert.ok(output === undefined || output.length <= 500)
  }
})
