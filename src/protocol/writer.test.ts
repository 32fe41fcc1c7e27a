import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AssertionFailure } from '../base/assert.ts'
import { EncodeError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

const small = Buffer.from('small')
const large = Buffer.alloc(5000, 7)

test('long bytes become parts of their own, in order and uncopied; short ones are copied', () => {
  const writer = new Writer()
  const file = { length: 100_000, name: 'a range of a file' }
  writer.beginFrame()
  writer.int16(1)
  writer.raw(small)
  writer.raw(large)
  writer.raw({ byteLength: large.length + file.length + small.length, parts: [large, file, small] })
  writer.int16(2)
  const { parts, byteLength } = writer.finish()
  assert.equal(byteLength, 4 + 2 + 5 + 5000 + 5000 + 100_000 + 5 + 2)
  assert.equal(
    parts.reduce((sum, part) => sum + part.length, 0),
    byteLength,
  )
  assert.deepEqual(parts.slice(1, 4), [large, large, file])
  assert.ok(parts[1] === large && parts[3] === file)
  assert.equal((parts[0] as Buffer).readInt32BE(), byteLength - 4)
  assert.equal((parts[0] as Buffer).subarray(4).toString('latin1'), '\x00\x01small')
  assert.equal((parts[4] as Buffer).toString('latin1'), 'small\x00\x02')
})

test('an uncopied part may come first or last, or be the whole', () => {
  const writer = new Writer()
  writer.raw(large)
  assert.deepEqual(writer.finish(), { parts: [large], byteLength: 5000 })
  writer.raw({ byteLength: 0, parts: [] })
  assert.equal(writer.finish().byteLength, 0)
})

test('parts that do not add up to their byteLength are a bug', () => {
  const writer = new Writer()
  assert.throws(() => writer.raw({ byteLength: 6, parts: [small] }), AssertionFailure)
})

test('a message keeps its bytes and its cuts when it moves to a new chunk', () => {
  const writer = new Writer({ chunkBytes: 64 })
  const expected: Buffer[] = []
  for (let i = 0; i < 50; i++) {
    const text = Buffer.alloc(i, i)
    writer.raw(text)
    expected.push(text)
    if (i % 10 === 3) {
      writer.raw(large)
      expected.push(large)
    }
  }
  const { parts } = writer.finish()
  assert.deepEqual(Buffer.concat(parts as Buffer[]), Buffer.concat(expected))
})

test('finished messages keep their bytes while the writer goes on', () => {
  const writer = new Writer({ chunkBytes: 32 })
  const written = Array.from({ length: 40 }, (_, i) => {
    writer.beginFrame()
    writer.int32(i)
    return writer.finish().parts[0] as Buffer
  })
  for (const [i, bytes] of written.entries()) assert.deepEqual([bytes.readInt32BE(), bytes.readInt32BE(4)], [4, i])
})

test('an abandoned message leaves no trace', () => {
  const writer = new Writer()
  writer.beginFrame()
  writer.raw(large)
  writer.int32(1)
  writer.beginTag()
  writer.abandon()
  writer.raw(large)
  writer.int8(1)
  const { parts, byteLength } = writer.finish()
  assert.deepEqual(parts, [large, Buffer.from([1])])
  assert.equal(byteLength, 5001)
})

test('the size of a tagged field is put in front of it, however many bytes the size takes', () => {
  for (const size of [0, 1, 127, 128, 129, 16383, 16384, 2097151, 2097152]) {
    const writer = new Writer({ chunkBytes: 128 })
    writer.int16(5)
    const outer = writer.beginTag()
    const inner = writer.beginTag()
    writer.raw(Buffer.alloc(size, 9))
    writer.endTag(inner)
    writer.endTag(outer)
    writer.int16(6)
    const { parts } = writer.finish()
    assert.equal(parts.length, 1, 'bytes in a tagged field are copied')
    const reader = new Reader(parts[0] as Buffer)
    assert.equal(reader.int16(), 5)
    const outerSize = reader.uvarint()
    const outerEnd = reader.position + outerSize
    const innerSize = reader.uvarint()
    assert.equal(innerSize, size)
    assert.ok(reader.bytes(size).every(byte => byte === 9))
    assert.equal(reader.position, outerEnd)
    assert.equal(reader.int16(), 6)
    assert.equal(reader.left, 0)
  }
})

test('strings of every length and script are written as they are read', () => {
  for (const compact of [false, true]) {
    for (const unit of ['a', 'é', '漢', '😀', '\u0000']) {
      for (let count = 0; count < 200; count++) {
        const text = unit.repeat(count)
        const writer = new Writer({ chunkBytes: 16, copiesAll: true })
        if (compact) writer.compactString(text)
        else writer.string(text)
        const reader = new Reader(writer.finishBuffer())
        assert.equal(reader.text(compact ? reader.uvarint() - 1 : reader.int16()), text)
        assert.equal(reader.left, 0)
      }
    }
  }
})

test('int64 takes safe integers and both infinities', () => {
  const cases: [number, string][] = [
    [0, '0000000000000000'],
    [-1, 'ffffffffffffffff'],
    [4294967296, '0000000100000000'],
    [-4294967297, 'fffffffeffffffff'],
    [Number.MAX_SAFE_INTEGER, '001fffffffffffff'],
    [Number.MIN_SAFE_INTEGER, 'ffe0000000000001'],
    [Number.POSITIVE_INFINITY, '7fffffffffffffff'],
    [Number.NEGATIVE_INFINITY, '8000000000000000'],
  ]
  for (const [value, expected] of cases) {
    const writer = new Writer({ copiesAll: true, chunkBytes: 8 })
    writer.int64(value)
    const bytes = writer.finishBuffer()
    assert.equal(bytes.toString('hex'), expected)
    assert.equal(new Reader(bytes).int64(), value)
  }
})

test('values that a type cannot hold are refused', () => {
  const writer = new Writer()
  const wrong: [keyof Writer, unknown[]][] = [
    ['int8', [128, -129, 1.5, Number.NaN, undefined]],
    ['int16', [32768, -32769, 0.1, Number.NaN]],
    ['uint16', [-1, 65536]],
    ['int32', [2 ** 31, -(2 ** 31) - 1, Number.POSITIVE_INFINITY]],
    ['uint32', [-1, 2 ** 32]],
    ['int64', [2 ** 53, -(2 ** 53), 1.5, Number.NaN]],
    ['bigint64', [2n ** 63n, -(2n ** 63n) - 1n, 5]],
    ['uuid', ['', 'AAAAAAAAAAAAAAAAAAAAA', '!AAAAAAAAAAAAAAAAAAAAA', 'AAAAAAAAAAAAAAAAAAAAAAA']],
    ['uvarint', [-1, 2 ** 32]],
    ['string', ['a'.repeat(32768), '漢'.repeat(10923)]],
  ]
  for (const [method, values] of wrong) {
    for (const value of values) {
      assert.throws(
        () => (writer[method] as (value: unknown) => void)(value),
        EncodeError,
        `${method} ${String(value).slice(0, 30)}`,
      )
      writer.abandon()
    }
  }
})

test('bytes outside of memory cannot stand in a buffer', () => {
  const writer = new Writer({ copiesAll: true })
  assert.throws(() => writer.raw({ byteLength: 9, parts: [{ length: 9 }] }), AssertionFailure)
  assert.throws(() => new Writer().finishBuffer(), AssertionFailure)
})
