import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { unpackGzip } from './gzip.ts'

test('junk after the last member is corrupt', () => {
  const bytes = Buffer.concat([gzipSync('content'), Buffer.from('junk')])
  assert.equal(unpackGzip(bytes, 100).type, 'corrupt')
})

test('a false length at the end is found, and gets nothing past the bound', () => {
  for (const lie of [0, 6, 8, 0xffff_ffff]) {
    const bytes = gzipSync('content')
    bytes.writeUInt32LE(lie, bytes.length - 4)
    assert.equal(unpackGzip(bytes, 100).type, 'corrupt')
    assert.notEqual(unpackGzip(bytes, 6).type, 'done')
  }
})

test('a wrong checksum is found', () => {
  const bytes = gzipSync('content')
  bytes[bytes.length - 8] ^= 1
  assert.equal(unpackGzip(bytes, 100).type, 'corrupt')
})
