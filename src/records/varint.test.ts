import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cursor, varintSize, writeBigVarlong, writeVarint, writeVarlong } from './varint.ts'

const int32s = [0, -1, 1, 63, -64, 64, -65, 8191, -8192, 8192, 1_048_575, 134_217_728, 2_147_483_647, -2_147_483_648]
const safeLongs = [...int32s, 2 ** 31, -(2 ** 31) - 1, 2 ** 40 + 3, -(2 ** 48), 2 ** 48, 2 ** 52 - 1, -(2 ** 52) + 1]

test('an int32 is read as it was written, in as many bytes as announced', () => {
  for (const value of int32s) {
    const bytes = Buffer.alloc(8, 0xff)
    const end = writeVarint(bytes, 1, value)
    assert.equal(end - 1, varintSize(value))
    const cursor = new Cursor(bytes, 1, end)
    assert.equal(cursor.varint(), value)
    assert.equal(cursor.position, end)
    assert.equal(cursor.failed, false)
  }
})

test('an int64 is read as it was written, by number and by bigint', () => {
  for (const value of safeLongs) {
    const bytes = Buffer.alloc(12)
    const end = writeVarlong(bytes, 0, value)
    const big = Buffer.alloc(12)
    assert.equal(writeBigVarlong(big, 0, BigInt(value)), end)
    assert.deepEqual(big, bytes)
    assert.equal(new Cursor(bytes, 0, end).varlong(), BigInt(value))
    assert.equal(new Cursor(bytes, 0, end).shortVarlong(), end <= 7 ? value : undefined)
  }
})

test('the ends of the int64 range take ten bytes', () => {
  for (const value of [2n ** 63n - 1n, -(2n ** 63n)]) {
    const bytes = Buffer.alloc(10)
    assert.equal(writeBigVarlong(bytes, 0, value), 10)
    assert.equal(new Cursor(bytes).varlong(), value)
  }
})

test('a long int64 leaves the position to be read again as a bigint', () => {
  const bytes = Buffer.alloc(10)
  writeBigVarlong(bytes, 0, 2n ** 60n)
  const cursor = new Cursor(bytes)
  assert.equal(cursor.shortVarlong(), undefined)
  assert.equal(cursor.failed, false)
  assert.equal(cursor.varlong(), 2n ** 60n)
})

test('a value that is cut off or too long fails, whatever lies behind it', () => {
  for (let length = 0; length < 5; length++) {
    const cursor = new Cursor(Buffer.alloc(20, 0x80), 0, length)
    assert.equal(cursor.varint(), 0)
    assert.equal(cursor.failed, true)
  }
  const tooLong = new Cursor(Buffer.from('8080808080010000', 'hex'))
  tooLong.varint()
  assert.equal(tooLong.failed, true)
  const tooLongLong = new Cursor(Buffer.alloc(20, 0x80))
  tooLongLong.varlong()
  assert.equal(tooLongLong.failed, true)
  const cut = new Cursor(Buffer.from('8001', 'hex'), 0, 1)
  cut.shortVarlong()
  assert.equal(cut.failed, true)
})

test('bits that do not fit into the fifth byte are dropped, as Kafka drops them', () => {
  assert.equal(new Cursor(Buffer.from('ffffffff7f', 'hex')).varint(), -2_147_483_648)
  assert.equal(new Cursor(Buffer.from('ffffffff0f', 'hex')).varint(), -2_147_483_648)
})
